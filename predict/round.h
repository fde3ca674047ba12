/* predict/round.h - private to predict/: what is known so far, and the next question. */
#ifndef PREDICT_ROUND_H
#define PREDICT_ROUND_H

#include "predict/base.h"
#include "run/findings.h"

struct predict {
	struct predict_options o;
	VEC(char *) recordings; /* that can be used */
	VEC(struct predict_skipped) skipped;
	struct target target;
	char *binary;
	char build_id[41];
	char *arguments;
	struct session *session; /* NULL with no_run */
	struct sym_program *program;
	char *dir; /* for the recordings of our own runs */
	uint64_t saved;
	VEC(struct base) bases;
	struct map paths; /* of all threads -> 1 */
	struct map taken; /* node and outcome -> 1 */
	struct map asked; /* base, condition -> 1 */
	struct findings findings;
	struct hunt_options hunt; /* what findings needs to know */
	struct predict_result *result;
	double deadline;
	bool stop; /* a failure was found, and one is enough */
};

/* A recording becomes a base, unless its path is known or cannot be followed. flips: that lead from
 * the user's recording to it; copied. */
struct err *round_add(struct predict *p, const char *plait, const char *recording,
		      const struct predict_flips *flips);
/* Ask and run until nothing is left or the budget is used up. */
struct err *round_run(struct predict *p);

#endif
