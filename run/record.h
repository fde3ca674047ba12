/* run/record.h - run a program once or many times in a recording mode, and keep a plait of each. */
#ifndef RUN_RECORD_H
#define RUN_RECORD_H

#include "base/vec.h"
#include "run/judge.h"
#include "trace/trace.h"

struct target;

struct record_options {
	char *const *command;
	const char *mode;
	const char
		*output; /* a file, or for several runs a folder; NULL = named after the program */
	unsigned runs, jobs;
	double last; /* a flight recorder of so many seconds; 0 = everything is kept */
	double timeout;
	struct judge_options judge;
	bool follow;	       /* children get plaits of their own */
	bool output_to_stderr; /* the target's standard output, where it is not kept */
	const char *options;   /* more $UNPLAIT_OPTIONS; NULL */
	/* the input of all runs, and what the plaits say about how they were run; NULL = nothing */
	const struct target *target;
};

struct record_run {
	char *plait;
	enum plait_outcome_kind outcome;
	char *message; /* NULL = none */
	int signal;    /* 0 = none */
	size_t nthreads;
	uint64_t nevents, lost;
	bool has_graph; /* mode graph */
	uint64_t nedges;
	double seconds;
	bool sync_only; /* the program was not built with unplait */
};
struct record_runs VEC_FIELDS(struct record_run);

/* One entry per plait, in order of the runs. */
struct err *record_run_all(const struct record_options *o, struct record_runs *ret);
void record_runs_deinit(struct record_runs *r);

#endif
