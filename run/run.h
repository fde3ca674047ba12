/* run/run.h - controlled runs: start the target under the control engine, steer it, judge it.
 *
 *	struct session *s;
 *	struct run_request req = { .strategy = PLAIT_STRATEGY_POS, .seed = 7 };
 *	struct run_result res = { 0 };
 *
 *	err = session_open(&target, &s);          // starts the fork server
 *	err = session_run(s, &req, &res);         // one run: 0.05 ms and up
 *	if (run_failed(&target, &res))
 *		...                               // res.schedule replays it
 *	run_result_deinit(&res);
 *	session_close(s);
 *
 * hunt_run, replay_run, minimize_run and confirm are built on this; so is explain. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "run/claim.h"
#include "run/inputs.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "sched/decisions.h"
#include "unplait/control.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct json;
struct trace;

/* ---- what to run, and what counts as failing ---- */

#define OUTCOME_BIT(kind) (1u << (kind))

struct target {
	char **argv;		/* NULL-terminated; borrowed */
	const char *input;	/* file for standard input; NULL = input_data, or /dev/null */
	const char *input_data; /* standard input itself; NULL = none. Kept in the plait */
	size_t input_len;
	struct inputs inputs; /* files that a plait brings; owned */
	char *const *env;     /* NAME=value, set for its runs and kept in the plait; NULL = none */
	char *log; /* of mode sync (unplait/log.h): what the run gets; owned; NULL = none */
	size_t log_len;
	const char *folder;    /* to start in; NULL = ours */
	double timeout;	       /* real seconds per run, watchdog; 0 = 10 */
	bool fail_on_exit;     /* a non-zero exit status is a failure, also in the first run */
	uint32_t ignored;      /* kinds that do not count as failing: OUTCOME_BIT(kind) each */
	const char *oracle;    /* shell command run after each run; NULL = none */
	const char *expect;    /* file that standard output must equal; NULL = none */
	const char *predicate; /* C expression that must hold (debug/predicate.h); NULL = none */
	uint64_t point_budget; /* scheduling points of a run; 0 = what the hunt finds enough */
	uint64_t event_budget; /* events of a run; 0 = EVENTS_PER_POINT for each point */
	uint32_t timeouts;     /* enum plait_timeouts */
	bool spurious;	       /* waits for condition variables may end without a signal */
	bool exec_each;	       /* start the program anew for each run, no fork server */
	bool fresh;	       /* fork for each run, whatever its request says */
	bool live;	       /* what a run prints is copied to our standard error meanwhile */
	uint32_t gate;	       /* 0 best, 1 futex, 2 fiber */
	/* kept in every run, besides what its request asks for; borrowed, and in no plait */
	const struct plait_constraint *rules;
	size_t nrules;
	/* what the fields above point to, when a plait or standard input is where they come from */
	char *stored, *stored_input, *stored_folder, *stored_path;
	char *spool; /* a folder for standard input that is too large for memory; NULL = none */
	char **stored_argv;
	VEC(char *) stored_env; /* NULL-terminated when not empty */
};

/* What a plait says about how its program is run: arguments, input, what counts as failing. What t
 * already says stays; command: the program and arguments to use instead, NULL or empty = the
 * plait's. */
struct err *target_from_plait(struct target *t, const char *plait, char *const *command);
/* Everything that an open plait says about it, and nothing else. */
struct err *target_stored(struct trace *trace, struct target *ret);
void target_deinit(struct target *t);
/* The same settings, of which the copy owns nothing: what they point to stays t's. */
struct target target_borrow(const struct target *t);
/* What was given to us as standard input goes to every run: from a file, or from a pipe that says
 * something soon. A terminal, a device or a silent pipe gives the target nothing. What is too large for a
 * plait stays a file. */
struct err *target_read_stdin(struct target *t);
/* The file that is to be standard input becomes part of the target, unless it is large: then its path must
 * do. */
struct err *target_read_input(struct target *t);
/* "late", "never", "any": enum plait_timeouts; false: none of them. */
const char *timeouts_name(uint32_t timeouts);
bool timeouts_parse(const char *name, uint32_t *ret);
/* The section "target" of a plait. */
void target_write(const struct target *t, struct strbuf *out);

/* ---- schedules ---- */

struct decisions VEC_FIELDS(struct decision);

/* What a plait's "schedule" section holds. */
struct schedule {
	struct decisions decisions;
	uint64_t steps;	  /* of the whole run; 0 = unknown */
	uint64_t hash;	  /* of all steps, 0 = unknown */
	uint32_t flags;	  /* PLAIT_CONTROL_* that change the meaning: NO_POISON, EARLY, SPURIOUS */
	uint32_t outcome; /* enum plait_outcome_kind */
	char strategy[16];
	uint64_t seed;
};

void schedule_deinit(struct schedule *s);
/* As bytes of the section, and back. */
void schedule_write(const struct schedule *s, struct strbuf *out);
struct err *schedule_parse(const void *data, size_t len, struct schedule *ret);
/* From a plait's section, or from a file of its own. */
struct err *schedule_load(const char *path, struct schedule *ret);
size_t schedule_switches(const struct schedule *s);
void schedule_copy(const struct schedule *s, struct schedule *ret);
/* How many decisions to follow such that the step with this clock is not decided yet. */
size_t schedule_prefix(const struct schedule *s, uint64_t clock);
/* How many steps this thread has executed when the run has executed so many. */
uint64_t schedule_events(const struct schedule *s, uint32_t thread, uint64_t steps);

/* A schedule as turns, for PLAIT_STRATEGY_FOLLOW: who executes how many events, in which order. */
struct turns VEC_FIELDS(struct plait_turn);
void schedule_turns(const struct schedule *s, struct turns *ret);
/* Adjacent turns of one thread become one, `next` is filled in; afterwards FOLLOW can follow them.
 * Until then `upto` may be out of order: a turn that is not above the thread's earlier ones is
 * dropped. */
void turns_link(struct turns *t);
/* A few small changes, before linking: a turn left out, or its end put behind the next turn. */
void turns_disturb(struct turns *t, uint64_t seed);

/* ---- one run ---- */

/* Scheduling points that a run may have, when nothing else is said: RUN_POINTS, and HANG_FACTOR times
 * as many as any run of the session that ended. */
enum { RUN_POINTS = 200000, HANG_FACTOR = 20 };

struct run_request {
	uint32_t strategy; /* enum plait_strategy */
	uint64_t seed;
	uint32_t depth;	 /* PCT d */
	uint64_t length; /* PCT k: expected points */
	uint32_t points; /* enum plait_points; default is SYNC */
	uint32_t flags;	 /* enum plait_control_flags */
	/* REPLAY: the whole run; with PLAIT_CONTROL_PREFIX: until they end */
	const struct decision *decisions;
	size_t ndecisions;
	uint64_t prefix_steps;
	const struct plait_turn *turns; /* FOLLOW: linked; they begin with the run */
	size_t nturns;
	const struct plait_constraint *constraints;
	size_t nconstraints;
	struct plait_aim aim; /* HANDOVERS */
	uint32_t noise;	      /* TIMED */
	/* SURW: sites (none: all points), and how many points each thread has there, with those
	 * of the threads it makes */
	const uint32_t *focus, *weights;
	size_t nfocus, nweights;
	uint64_t point_budget; /* 0 = the target's, else the session's */
	uint64_t event_budget; /* 0 = the target's */
	/* access vectors to obey: struct plait_vectors_request and its arrays; NULL = none */
	const void *vectors;
	size_t vectors_len;
	const char *record_dir; /* record all events into this run folder; NULL = no */
};

/* The request that replays a schedule. It borrows the decisions. A hang is over where it was
 * declared one: the request's budget of events ends there. */
struct run_request schedule_request(const struct schedule *s);
struct run_result;
/* The first half of a run that had not ended, the rest under a fair schedule of so many points: a
 * hang under an unfair schedule is the scheduler's fault. *hung must live as long as the request. */
struct run_request fair_request(const struct run_result *hung, uint64_t point_budget);

struct blocked VEC_FIELDS(struct plait_blocked);

struct run_result {
	enum plait_outcome_kind outcome; /* PASS, or the failure; UNKNOWN: could not be judged */
	enum plait_control_end end;
	int exit_code, signal; /* -1 / 0 when not applicable */
	bool timed_out;	       /* the watchdog ended it */
	bool moving;	       /* ... while it was still making steps */
	bool stopped;	       /* it was shown that nothing changes any more: a hang */
	bool diverged;	       /* the decisions did not fit */
	uint64_t diverged_step;
	uint32_t left_thread, left_from, left_to, marks_met; /* as in struct plait_control */
	uint64_t left_step, log_done, log_clock;
	uint64_t steps, points, switches, preemptions, hash;
	uint32_t nthreads, max_alive, uncontrolled;
	uint32_t limits; /* enum plait_limit */
	uint32_t new_pairs, new_points, reads_met, vectors_dropped, gate;
	uint8_t constraint_fate
		[PLAIT_MAX_CONSTRAINTS]; /* enum plait_fate, by constraint of the request */
	uint64_t
		meet_step; /* PLAIT_CONSTRAINT_MEET: the clock of the access that came first; 0 = not met */
	uint32_t meet_thread[2]; /* ... who made access a, and who b */
	struct plait_failure failure;
	char *text; /* in words: the assertion, who waits for what, why it diverged; owned */
	/* The end of what it printed, when it failed or exited with another status than 0; NULL
	 * otherwise. Owned. */
	char *out, *errors;
	struct schedule schedule;	    /* what was decided */
	struct blocked blocked;		    /* deadlock, hang: who waits where */
	const struct plait_choice *choices; /* PLAIT_CONTROL_LOG: valid until the next run */
	size_t nchoices;
	const struct plait_race *races; /* PLAIT_CONTROL_RACES: valid until the next run */
	size_t nraces;
};
void run_result_deinit(struct run_result *r);
/* Failure, as the target's settings define it. */
bool run_failed(const struct run_result *r);
/* This run, which passed so far, has failed by its exit status. */
void run_fail_by_exit(struct run_result *r);
/* The same kind of failure at the same place: what --all and confirmation compare. */
uint64_t run_signature(const struct run_result *r);

/* ---- a session keeps the fork server alive ---- */

struct session;

/* target is borrowed until session_close. */
struct err *session_open(const struct target *target, struct session **ret);
void session_close(struct session *s); /* NULL is fine */
/* ret must be zeroed or hold an earlier result, which is freed. */
struct err *session_run(struct session *s, const struct run_request *req, struct run_result *ret);
/* The same in two halves, to have several sessions run at once. What req points to must stay until
 * session_finish. */
struct err *session_start(struct session *s, const struct run_request *req);
struct err *session_finish(struct session *s, struct run_result *ret);
/* A run that goes on at this time (clock_seconds(); 0 = never) is cut off: it has no result, session_finish
 * returns an error, and session_was_cut_off says why. The session can be used for further runs. */
void session_set_deadline(struct session *s, double when);
bool session_was_cut_off(const struct session *s);
/* Facts about the target's process: modules (for symbols). Valid after the first run. */
const struct plait_run *session_process(const struct session *s);
/* Learned points and pairs: shared by all runs of the session. */
/* What PLAIT_CONSTRAINT_STACK asked for in the last run, by constraint; valid until the next. */
/* The files that its runs have named so far. */
const struct plait_inputs *session_inputs(const struct session *s);
const struct plait_stack *session_stacks(const struct session *s);
/* PLAIT_CONTROL_RACES: the races of the last run; valid until the next. */
const struct plait_races *session_races(const struct session *s);
/* PLAIT_CONTROL_PRINTS: who printed what in the last run; valid until the next. */
const struct plait_prints *session_prints(const struct session *s);
/* What the runs have found out about the program; borrowed, changes with every run. */
struct knowledge {
	const struct plait_pairs *pairs;
	const uint8_t *points, *sync; /* bitmaps over site numbers */
	const struct plait_count *counts;
	const uint32_t *parents;
};
bool knowledge_is_point(const struct knowledge *k, uint32_t site);
bool knowledge_is_sync(const struct knowledge *k, uint32_t site);
struct knowledge session_knowledge(const struct session *s);
/* Returns how many pairs are new to s. */
uint32_t session_learn_all(struct session *s, const struct session *from);
uint64_t session_npoints(const struct session *s);
const char *session_note(const struct session *s); /* what is not as usual with it; NULL */
bool session_sees_memory(const struct session *s); /* accesses, not only synchronisation */
char *const *session_argv(const struct session *s);
/* Files with what the last run printed; they change with the next run. */
const char *session_stdout(const struct session *s);
const char *session_stderr(const struct session *s);
const struct target *session_target(const struct session *s);

/* A gdb session in which every run of the target is this replay. extra: more arguments for gdb,
 * NULL = none. *status: gdb's. */
struct err *session_debug(struct session *s, const struct run_request *req, char *const *extra,
			  int *status);

/* One such run, and a core dump of its failure at `core`: all threads as they were. *dumped: it was written. */
struct err *session_dump(struct session *s, const struct run_request *req, const char *core,
			 bool *dumped);

/* What could not be controlled, in words, comma-separated. */
void uncontrolled_describe(uint32_t uncontrolled, struct strbuf *out);

/* ---- built on it ---- */

/* Replay a schedule *n times; counts the runs that end the same way with the same steps. *n becomes less where a
 * replay differs and waits for nothing until its time is over: the others would, too. */
struct err *confirm(struct session *s, const struct run_result *expected, unsigned *n,
		    unsigned *same);

/* Another engine, which searches schedules without running them: it proposes, a native run
 * disposes. */
struct carry_op; /* of the proposer (solve/carry.h) */
struct proposal {
	struct carry_op *ops;
	size_t n;
};
struct proposals {
	VEC(struct proposal) failing;
	bool complete;	  /* there are no other failures */
	bool reads_clock; /* of a program with threads: other values of it were not tried */
	uint64_t states;  /* it has looked at */
	char why[256];	  /* not complete: why; "" = a failure ended the search */
};
void proposals_deinit(struct proposals *p);
struct proposer {
	/* Stop at the first failure (as the target defines it now) unless `all`, and after that
	 * much work (about nanoseconds) or time. */
	struct err *(*propose)(void *arg, const struct target *target, uint64_t work,
			       double seconds, bool all, struct proposals *ret);
	/* A native run that does what was proposed, or the nearest to it. */
	struct err *(*carry_out)(struct session *s, const struct proposal *p,
				 struct run_result *ret);
	void *arg;
};

/* A third engine: from a run that passed to one that fails (predict/). */
struct predicted {
	VEC(struct schedule) failing; /* each has failed in a native run */
	uint64_t runs;		      /* native runs that it took */
};
void predicted_deinit(struct predicted *p);
struct predict_limits {
	uint64_t runs, questions;
	uint64_t decisions; /* of the solver, for one question; 0 = no limit */
	double seconds;
};
struct predictor {
	/* plait: of the run that passed. */
	struct err *(*predict)(void *arg, const struct target *target, const char *plait,
			       const struct predict_limits *limits, struct predicted *ret);
	void *arg;
};

struct hunt_options {
	struct target target;
	const char *strategy; /* auto, random, pct[:d], pos, dfs[:bound], ... */
	uint64_t runs;	      /* 0 = no limit */
	double seconds;	      /* 0 = no limit */
	uint64_t seed;
	unsigned jobs;
	unsigned replays;   /* confirming replays per failure */
	bool all;	    /* go on after the first failure */
	uint32_t points;    /* enum plait_points, or PLAIT_ANY: learned with a share of all */
	const char *output; /* plait to write; NULL = none. With `all`: a folder */
	const struct proposer *proposer;   /* for "states" and auto; NULL = none */
	const struct predictor *predictor; /* for auto; NULL = none */
	/* opens the hunt's sessions; NULL = session_open: for tests that start no program */
	struct err *(*open)(void *context, const struct target *target, struct session **ret);
	void *open_context;
};

struct hunt_failure {
	struct run_result result;
	uint64_t run;	/* number of the run that found it, from 1 */
	uint64_t times; /* how often this failure was seen */
	char strategy[24];
	unsigned tried, same; /* confirming replays */
	char *plait;	      /* where it was saved; NULL */
};
struct hunt_failures VEC_FIELDS(struct hunt_failure);

struct hunt_result {
	struct hunt_failures failures;
	uint64_t runs, steps, events;
	double seconds;
	uint64_t pairs, points; /* coverage */
	uint64_t races;		/* pairs of lines that race, in any run */
	uint32_t threads;	/* of the run that had most; 1: none was started */
	uint32_t uncontrolled;
	int odd_exit;	      /* every run ended with a status other than 0, the first with this */
	bool interrupted;     /* by Ctrl-C */
	struct claim claim;   /* what dfs or states has covered */
	uint64_t states;      /* that states has looked at */
	char states_why[256]; /* the strategy was states, and it gave up: why; "" = it did not */
	uint64_t hangs_dismissed;
	uint64_t set_aside;		   /* runs that failed and did not repeat */
	uint64_t unconfirmed;		   /* failures that are reported all the same: 0 or 1 */
	uint64_t unfinished, point_budget; /* runs that had not ended, and what they were given */
	char *note;
};
struct err *hunt_run(const struct hunt_options *o, struct hunt_result *ret);
void hunt_result_deinit(struct hunt_result *r);

/* Run once more with all events recorded and write a plait with its schedule. */
struct err *save_plait(struct session *s, const struct run_result *r, const char *path);

/* Fewer switches, same failure: *ret is the smallest found within the budget of runs. */
struct err *minimize_run(struct session *s, const struct run_result *failing, uint64_t max_runs,
			 struct run_result *ret, uint64_t *runs);

#endif
