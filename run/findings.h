/* run/findings.h - private to run/: what a hunt has found.
 *
 * A failure is replayed before it is reported. A hang (the budget was used up) is believed only
 * when the program hangs under a fair schedule, too. Failures with one signature are one
 * finding. */
#ifndef RUN_FINDINGS_H
#define RUN_FINDINGS_H

#include "base/map.h"
#include "run/run.h"

struct findings {
	const struct hunt_options *o; /* borrowed */
	struct hunt_result *result;   /* borrowed; failures are added there */
	struct map seen;	      /* signature -> index into its failures */
};

void findings_deinit(struct findings *f);
/* A run that failed, the `run`-th of the hunt; r's contents are taken when it is a new finding. */
struct err *findings_consider(struct findings *f, struct session *s, struct run_result *r,
			      uint64_t run, const char *strategy);

#endif
