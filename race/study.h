/* race/study.h - private to race/: one program, its inputs, the races found so far. */
#ifndef RACE_STUDY_H
#define RACE_STUDY_H

#include "race/detect.h"
#include "race/race.h"

#include "base/map.h"

/* A way to start the program. */
struct study_input {
	struct target target;	 /* what it points to is owned where `made` says so */
	struct session *session; /* opened when first needed */
	char **made;	  /* arguments of our own making, NULL-terminated; NULL = the user's */
	uint64_t longest; /* points of the longest run that ended by itself */
	/* numbers of lines that two runs of one schedule print differently */
	struct map volatile_out, volatile_errors;
};

/* A run that was recorded, and in which races were seen. */
struct study_run {
	uint32_t input;
	struct schedule schedule;
	uint64_t points;
};

/* Where a program stood before a race. */
struct instance_context {
	uint64_t read;	   /* what the two threads had read from others */
	uint64_t progress; /* how far every thread had come */
};

/* One execution of a race. */
struct instance {
	uint32_t run;
	struct race_access first, second;
	uint64_t address; /* of the first byte that both touch */
	bool turned;	  /* first is side[1] of the race */
	struct instance_context context;
	int like;	/* not 0: an earlier instance had read the same */
	bool predicted; /* the run does not have it; another order of its events may */
};

/* What was seen of one race. */
struct tally {
	unsigned impossible, flags, unknown, met, same, unstable;
	unsigned reordered;	/* pairs whose prints came in another order, and nothing else */
	unsigned pairs, both;	/* pairs that could be compared; in which both runs failed */
	uint64_t inputs;	/* bit mask */
	enum race_states first; /* of the first instance, as the first round has found it */
};

struct group {
	struct race race;
	VEC(struct instance) instances;
	struct tally tally;
	uint64_t seen;	 /* executions; 0: it was only predicted, or reported */
	unsigned rounds; /* of judging that it has had */
	/* the pair of runs that is shown: clock of the earlier access, who made the access of side 0
	 * and of side 1 */
	uint64_t shown_step;
	uint32_t shown_thread[2], shown_input;
	bool suppressed;
	bool left_out; /* --from: the report does not have it */
	bool unmet;    /* predicted, and never met */
};

struct study {
	struct races_options *o;
	struct races_result *result;
	VEC(struct study_input *) inputs; /* sessions borrow their targets: they must stay */
	VEC(struct study_run) runs;
	VEC(struct group) groups;
	VEC(char *) texts;   /* that targets point to */
	struct map by_key;   /* hash of a bucket -> group */
	struct map by_sites; /* pair of site numbers -> group; sites keep their numbers */
	char *dir;	     /* for recordings */
	double begin;
	double turn_ends; /* of the race that is being judged; 0 = no limit */
	uint64_t budget;  /* points of a run */
};

/* ---- study.c ---- */

/* The session of an input, started when it is needed first. */
struct err *study_session(struct study *s, uint32_t input, struct session **ret);
/* One run of an input; counts it. */
struct err *study_run(struct study *s, uint32_t input, const struct run_request *req,
		      struct run_result *ret);
/* The same, recorded: *ret_trace is open until trace_close, and must be closed before the next. */
struct err *study_record(struct study *s, uint32_t input, const struct run_request *req,
			 struct run_result *ret, struct trace **ret_trace);
bool study_out_of_time(const struct study *s);
/* A target with other arguments or input. Takes made. */
void study_add_input(struct study *s, char **made, const char *input_file);
/* The last one is not needed after all. */
void study_drop_input(struct study *s);

/* ---- find.c ---- */

/* Run an input under several schedules and add the races to s->groups. */
struct err *find_races(struct study *s, uint32_t input);
/* Half of the time is for the verdicts, if there is something to judge. */
bool study_is_time_to_judge(const struct study *s);

/* ---- group.c ---- */

struct symbols;
/* The group of this pair of accesses; made when it is new. *turned: `first` is side[1]. */
struct group *group_of(struct study *s, struct symbols *symbols, const struct race_access *first,
		       const struct race_access *second, bool *turned);

/* ---- meet.c ---- */

/* The racing state of an instance, left in both orders. */
struct meeting {
	enum plait_fate fate; /* MET, IMPOSSIBLE, or anything else: not known */
	/* decisions up to and with the two accesses: [0] first then second, [1] the other way */
	struct decisions way[2];
	uint64_t step; /* clock of the access that is made first; the other one's is the next */
	uint32_t thread[2]; /* who makes the first and the second access */
};
void meeting_deinit(struct meeting *m);
/* nth: the second access is made so many times, less one, before they meet. */
struct err *race_meet(struct study *s, const struct instance *in, uint32_t nth,
		      struct meeting *ret);
/* The writing access is held back as long as anybody else makes progress. *ret: until then, the
 * other side came back to its read again and again, and did nothing else. */
struct err *race_is_flag(struct study *s, const struct instance *in, bool *ret);

/* ---- pair.c ---- */

/* How a run ended, as far as the outside can tell. */
struct ending {
	struct run_result run;
	bool failed;
	uint64_t signature;
	char *out, *errors; /* what it printed, without what is ignored */
};
void ending_deinit(struct ending *e);
enum difference {
	DIFFERENCE_NONE,
	DIFFERENCE_OUTPUT,  /* or exit status; both pass */
	DIFFERENCE_FAILURE, /* the one fails, the other does not */
	DIFFERENCE_UNKNOWN, /* one of them cannot be judged */
	DIFFERENCE_BOTH,    /* both fail */
};
enum difference ending_compare(const struct ending *a, const struct ending *b);
/* The run behind a racing state: `way` is followed, then the strategy decides. */
struct err *pair_run(struct study *s, uint32_t input, const struct decisions *way,
		     const struct run_request *behind, struct ending *ret);
/* Replay it n times. *same: runs that ended the same; *stable: all printed the same, but for lines
 * that change by themselves, which are left out from now on, of e as well. */
struct err *ending_confirm(struct study *s, uint32_t input, struct ending *e, unsigned n,
			   unsigned *same, bool *stable);

/* Leave out the lines that --ignore names. */
void text_leave_out(const struct strings *ignored, struct strbuf *text);
/* Leave out the lines that are known to change by themselves. */
void ending_mask(struct study *s, uint32_t input, struct ending *e);

/* ---- prints.c ---- */

/* *ret: every thread prints the same in both runs, though not in the same order. */
struct err *race_prints_alike(struct study *s, uint32_t input, const struct ending *a,
			      const struct ending *b, bool *ret);

/* ---- turn.c ---- */

/* Run `kept` once more, into *other, with the two accesses the other way round, all else as it was. */
struct err *race_turn_round(struct study *s, uint32_t input, const struct decisions *way,
			    const struct ending *kept, struct ending *other);

/* ---- states.c ---- */

/* What the two accesses leave behind, by the values they read and wrote. */
struct err *race_states(struct study *s, uint32_t input, const struct meeting *m,
			enum race_states *ret);

/* ---- verdict.c ---- */

/* The first round looks at one continuation of the first instance, the second at everything else. */
struct err *race_glance(struct study *s, struct group *g);
struct err *race_judge(struct study *s, struct group *g);

/* ---- show.c ---- */

/* Save the runs that are shown, and find the stacks and steps of the race in them. */
struct err *race_save(struct study *s, struct group *g);

/* ---- directed.c ---- */

/* Find the races of s->o->reports among the groups, or meet them; what becomes no race of ours is
 * added as it was reported. */
struct err *directed_find(struct study *s);

/* Meet the races that were predicted, and that no run has had. */
struct err *directed_predictions(struct study *s);

/* ---- prove.c ---- */

/* The harmless races are proved harmless for the given input, if the symbolic machine can. */
struct err *races_prove(struct study *s);

/* ---- paths.c ---- */

/* Inputs besides the given one: the user's, then the symbolic machine's. */
struct err *paths_given(struct study *s);
struct err *paths_made(struct study *s);
/* A program of OpenMP's once more, with many threads. */
struct err *paths_team(struct study *s);

#endif
