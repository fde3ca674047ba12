/* synth/study.h - private: what the files of synth/ share while one dump is studied. */
#ifndef SYNTH_STUDY_H
#define SYNTH_STUDY_H

#include "debug/dump.h"
#include "debug/globals.h"
#include "debug/stack.h"
#include "run/script.h"
#include "sym/sym.h"
#include "synth/synth.h"

/* How far a run of the unplait build agrees with the dump. */
enum agreement {
	NOT_SAME,
	MAYBE_SAME, /* only the shipped binary can tell */
	SAME,
};

/* A lock that a thread of the deadlock waits for: its n-th event of locking or unlocking. */
struct steered {
	uint32_t thread, number;
};

struct study {
	const struct synth_options *o;
	struct synth_result *r;
	struct dump dump;
	struct stacks *stacks;
	struct synth_inputs known; /* what the dump says about the inputs */
	char *loader; /* "LD_LIBRARY_PATH=..." of the dump, for the shipped binary; NULL */
	struct globals globals;	       /* of the shipped binary */
	VEC(struct sym_stored) stored; /* those that differ from what they were at first */
	struct names uncalled;	       /* library functions that the program never called */
	const char *folder;	       /* all_causes: for their plaits */
	double deadline;	       /* of clock_seconds() */
	double longest; /* seconds of a run of the unplait build, without preemption */
	struct sym_program
		*program; /* where inputs are searched: the front end's bitcode, if there is some */
	struct sym_program
		*built; /* the bitcode that was built, where schedules are; maybe the same */
	VEC(struct steered)
	steered; /* steer.c: who waits for what, in the order in which they came there */
};

/* goal.c: what failed, and where each thread stood. An error when nothing did. */
struct err *goal_read(struct study *s);
void goal_deinit(struct synth_goal *g);
/* It faulted on an address of the first page. */
bool dump_near_null(const struct dump *d);

void synth_stack_deinit(struct synth_stack *k);

/* crumbs.c: do the crumbs fit the dump? An error for those of another program or build. */
struct err *crumbs_check(struct study *s);
/* What happened before the failure, in order: events of the search's goal. Needs the program. */
struct happened {
	VEC(struct sym_event) events;
};
struct err *happened_read(struct study *s, struct happened *ret);
void happened_deinit(struct happened *h);
/* Where the thread with stack g of the goal took the locks that it held, the outermost first. */
struct held {
	VEC(struct synth_stack) stacks;
};
void held_read(const struct study *s, size_t g, struct held *ret);
void held_deinit(struct held *h);

/* message.c: the assertion's text or libc's complaint, in a form that two builds share; NULL = none known. Owned. */
char *message_normal(const char *text);
char *message_of_dump(const struct dump *d, struct stacks *stacks);
/* Both are known, and are not the same. */
bool message_differs(const char *want, const char *have);
/* Did the run of the unplait build say it? MAYBE_SAME: nobody knows what it said. */
enum agreement message_of_run(const char *want, const struct run_result *r);

/* facts.c: arguments, environment, standard input, as far as the options let us look. */
void facts_read(struct study *s);

/* globals.c: variables of the program that were stored to. */
void globals_read(struct study *s);
/* `core` is of a run of the shipped binary that fails as the dump says: do its variables hold the same? */
void globals_compare(struct study *s, const char *core);

/* attempt.c: run both binaries with these inputs and compare. *same: the unplait build fails as the
 * dump says; then the result has the run, and the plait is written. */
struct err *attempt(struct study *s, const struct synth_inputs *in, bool *same);

/* Runs of a program with these inputs: the unplait build, or the shipped one with the runtime preloaded. The target borrows them. */
struct own_run {
	struct target target;
	struct session *session;
	VEC(char *) argv, env;
};
/* Without a session. */
void own_run_fill(struct study *s, const struct synth_inputs *in, const char *program,
		  struct own_run *ret);
struct err *own_run_open(struct study *s, const struct synth_inputs *in, const char *program,
			 struct own_run *ret);
/* Seconds for a run of the shipped binary in an order of ours. Nobody interrupts a thread that waits in a loop for a
 * variable, where that order does not: the run never ends, and tells nothing. How long one takes is known from the
 * unplait build. */
double patience_with_shipped(const struct study *s);
void own_run_close(struct own_run *o);
/* The run that has just failed, saved at `plait`: as the dump says? */
struct err *run_agrees(struct study *s, const struct run_result *r, const char *plait,
		       enum agreement *ret);
/* The best that a run of the unplait build can be: without lines only the shipped binary can tell. */
enum agreement best_agreement(const struct study *s);
/* The run that has just ended: if it agrees better than *ret, it becomes the result's run, saved at `plait`; else
 * both stay as they were. Takes `run`. */
struct err *keep_if_better(struct study *s, struct own_run *own, struct run_result *run,
			   const char *plait, enum agreement *ret);

/* schedule.c: the schedules of these inputs, by the symbolic machine; the run that agrees is left in
 * `run`, saved at `plait`. */
struct err *try_schedules(struct study *s, const struct synth_inputs *in, struct own_run *own,
			  const char *plait, enum agreement *ret);
/* steer.c: a passing run with these inputs is in the result; bring its threads into the dump's deadlock. The
 * run that agrees is left in the result, saved at `plait`. */
struct err *steer(struct study *s, struct own_run *own, const char *plait, enum agreement *ret);
/* The same for the shipped binary with the runtime preloaded, after steer() has led the unplait build there; else
 * nothing happens. */
struct err *steer_shipped(struct study *s, struct own_run *own, const char *plait,
			  enum agreement *ret);
/* The shipped binary, steered, or hunted, with the runtime preloaded: does it come to the same? Then it is saved at
 * `plait`. */
struct err *steer_preloaded(struct study *s, const struct synth_inputs *in, const char *plait,
			    bool *same);
/* Number `round` of the hunts: each has other seeds. */
struct err *hunt_preloaded(struct study *s, const struct synth_inputs *in, const char *folder,
			   const char *plait, unsigned round, bool *same);
/* A run of it, saved at `plait`: does each thread stand at the same instruction, called from the same ones? */
struct err *shipped_agrees_whole(struct study *s, const struct run_result *r, const char *plait,
				 enum agreement *ret);
/* Open them when they are needed. */
struct err *study_program(struct study *s);
struct err *study_built(struct study *s);

/* search.c: look for inputs whose path leads to the goal, and attempt each. */
struct err *search(struct study *s);

/* direct.c: the shipped binary with switches at plain accesses. own_plait: the run of the unplait build that agrees
 * with the dump. What direct_open() is given is borrowed; close also what could not be opened. */
struct directing;
struct err *direct_open(struct study *s, const struct synth_inputs *in, const char *folder,
			const char *own_plait, struct directing **ret);
void direct_close(struct directing *d);
/* Go on for so many runs, or seconds: with the switches of the unplait build, or with switches anywhere. *same: it
 * ends in the dump. Then direct_save() writes a copy of own_plait with a script (run/script.h). */
struct err *direct_mapped(struct directing *d, unsigned runs, double seconds, bool *same);
struct err *direct_random(struct directing *d, unsigned runs, double seconds, bool *same);
struct err *direct_save(struct directing *d, const char *plait);
/* causes.c: one execution is found; what else leads to the same failure? */
struct err *causes_find(struct study *s);
void synth_causes_deinit(struct synth_result *r);

/* compare.c */
struct places;
/* Do the frames of a run agree with a stack of the goal? lost: how many of its frames the dump does
 * not have, because a compiler made jumps of calls in front of a return. */
enum agreement stack_agrees(const struct synth_stack *want, const struct places *have,
			    size_t *lost);
/* A run of the shipped binary with the runtime preloaded: may it be the same? Each thread stands at the same
 * instruction; who called it is in a dump only. */
struct err *shipped_agrees(struct study *s, const struct run_result *r, const char *plait,
			   enum agreement *ret);
/* The dump at `path` is of another build of the same program. */
struct err *crash_agrees(struct study *s, const char *path, const char *program,
			 enum agreement *ret);
/* Is the dump at `path`, of the same binary, the same failure? */
/* The goal's end, for scripts; add to an empty one, whose frames the caller frees. */
void end_of_goal(const struct synth_goal *g, struct script_end *ret);
struct err *dump_agrees(struct study *s, const char *path, bool *ret);

#endif
