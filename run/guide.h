/* run/guide.h - private to run/: which write-to-read pairs to push for next.
 *
 * The runs of a session count, for each pair of sites that touch the same address, in how many
 * runs the read saw that write. A guided run wishes for a few pairs that were seen rarely or
 * never. Sets of wishes that led to a pair never seen before are kept and varied. */
#ifndef RUN_GUIDE_H
#define RUN_GUIDE_H

#include "unplait/control.h"

#include <stdbool.h>

#include <stddef.h>
#include <stdint.h>

enum { GUIDE_WISHES = 3, GUIDE_KEPT = 64 };

struct wish {
	uint32_t write_site, read_site, nth;
};

struct wishes {
	struct wish w[GUIDE_WISHES];
	size_t n;
};

struct guide {
	uint64_t random;
	struct wishes kept[GUIDE_KEPT];
	size_t nkept;
	struct wishes last;
	struct plait_constraint constraints[PLAIT_MAX_CONSTRAINTS];
	size_t nconstraints;
};

/* Decide on the next run's wishes, from the pairs counted so far. False: nothing to wish for yet.
 */
bool guide_next(struct guide *g, const struct plait_pairs *pairs);
/* How the run with these wishes went. */
void guide_learn(struct guide *g, const struct wishes *wishes, uint32_t new_pairs);

#endif
