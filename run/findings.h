/* run/findings.h - for hunts of every kind: what has been found.
 *
 * A failure is replayed before it is reported. Failures with one signature are one finding.
 *
 * A run that used up its budget is a hang only if a fair schedule does not end either, and if there
 * is evidence: it was shown that nothing changes any more, or the run had HANG_FACTOR times as many
 * scheduling points as the longest run that ended. Any other such run is unfinished, and later runs
 * get a larger budget: healthy programs may be long.
 *
 * A failure that its own schedule does not repeat is set aside, and the hunt goes on. At the end it
 * is reported, as not confirmed, only when there is nothing better. */
#ifndef RUN_FINDINGS_H
#define RUN_FINDINGS_H

#include "base/map.h"
#include "run/run.h"

struct findings {
	const struct hunt_options *o; /* borrowed */
	struct hunt_result *result;   /* borrowed; failures are added there */
	struct map seen;	      /* signature -> index into its failures */
	uint64_t longest;	      /* scheduling points of the longest run that ended */
	uint64_t point_budget;	      /* of the next run */
	struct map doubtful;	      /* signature -> how often it did not repeat */
	struct hunt_failure aside;    /* the first that did not */
	bool has_aside;
};

void findings_deinit(struct findings *f);
/* Any run: how long it was says how long others may be. */
void findings_measure(struct findings *f, const struct run_result *r);
/* A run that failed, the `run`-th of the hunt; r's contents are taken when it is a new finding. */
struct err *findings_consider(struct findings *f, struct session *s, struct run_result *r,
			      uint64_t run, const char *strategy);

/* The hunt is over. */
struct err *findings_end(struct findings *f, struct session *s);

#endif
