/* run/dfs.h - private to run/: systematic search over all schedules.
 *
 * The path of the current run is a stack of choices. After each run the deepest choice with an
 * alternative that was not tried is changed, and the next run follows the path up to there and then
 * stays with the running thread. When there is none left, everything was explored: all schedules,
 * or with a bound all that preempt at most so many times. */
#ifndef RUN_DFS_H
#define RUN_DFS_H

#include "run/run.h"

#include <stdbool.h>
#include <stdint.h>

struct dfs_ops VEC_FIELDS(struct plait_choice);

struct dfs_option {
	struct plait_choice op;
	struct dfs_ops after; /* tried before: what its thread did along with it */
	bool tried;
};

struct dfs_node {
	VEC(struct dfs_option) options;
	struct dfs_ops asleep; /* steps that were explored before, operation by operation */
	struct dfs_ops after;  /* executed after the choice, without another */
	size_t chosen;
	size_t ndecisions; /* decisions before this choice */
	uint32_t preemptions;
	bool redundant; /* a sleeping thread was chosen above: nothing new here */
};

struct dfs {
	VEC(struct dfs_node) path;
	struct decisions decisions; /* of the next run */
	uint32_t bound;		    /* PLAIT_ANY: none, and sleep sets are used */
	uint64_t longest;
};

void dfs_deinit(struct dfs *d);
/* The request of the next run. */
void dfs_request(const struct dfs *d, struct run_request *req);
/* Take the run in and move on. *more = false: everything was explored. An error when the run does
 * not follow the path: then the target is not deterministic. */
struct err *dfs_advance(struct dfs *d, const struct run_result *r, bool *more);

#endif
