/* run/judge.h - was that run a failure? The one judge of free and controlled runs. */
#ifndef RUN_JUDGE_H
#define RUN_JUDGE_H

#include "unplait/abi.h"
#include "unplait/control.h"

#include <stdbool.h>

struct err;

/* What counts as failing, besides crashes, deadlocks and hangs. Strings are borrowed. */
struct judge_options {
	bool fail_on_exit;  /* a non-zero exit status */
	uint32_t ignored;   /* kinds that pass all the same: 1 << kind each */
	const char *oracle; /* shell command that looks at the output; NULL = none */
	const char *expect; /* file that standard output must equal; NULL = none */
};

/* How a run ended. */
struct run_end {
	enum plait_control_end control; /* what the control engine noted; RUNNING = nothing */
	bool not_controlled;		/* the engine was to steer it and never began */
	bool timed_out;
	double seconds;		  /* timed out: after so many */
	int exit_code;		  /* -1 = did not exit */
	int signal;		  /* 0 = none */
	const char *out, *errors; /* files with what it printed; NULL = not kept */
	const char *said;	  /* the end of `errors` as text; NULL = not looked at */
};

/* ret is filled in. *message: why, in words, where the kind alone does not say it; owned by the
 * caller, NULL = none. An error means that the oracle or the file cannot be used. `out` must be
 * there when expect is. */
struct err *judge(const struct judge_options *o, const struct run_end *end,
		  enum plait_outcome_kind *ret, char **message);

#endif
