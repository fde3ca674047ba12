/* run/wishes.h - private to run/: which write-to-read pairs the next run should try to make.
 *
 * The runs of a session count, for each pair of sites that touch the same address, in how many
 * runs the read saw that write. A run with wishes asks for a few pairs that were seen rarely or
 * never. Sets of wishes that led to a pair never seen before are kept and varied. A wish is given
 * up when no other thread can run. */
#ifndef RUN_WISHES_H
#define RUN_WISHES_H

#include "run/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WISHES_MAX = 4, WISHES_KEPT = 64 };
enum { WISHES_NEAR = 12 }; /* sites so close to each other are code of one thing */

struct wish {
	uint32_t write_site, read_site, nth;
};

struct wishes {
	struct wish w[WISHES_MAX];
	size_t n;
};

struct wisher {
	uint64_t random;
	struct wishes kept[WISHES_KEPT];
	size_t nkept;
	struct wishes last;
	struct plait_constraint constraints[PLAIT_MAX_CONSTRAINTS];
	size_t nconstraints;
	/* how often each pair was wished for; by its place, which it keeps */
	uint16_t wished[PLAIT_CONTROL_PAIRS_MAX];
	/* during wisher_next */
	const struct knowledge *known;
	const struct wishes *related; /* only pairs that have to do with these; NULL: any */
	bool all;
};

/* Decide on the next run's wishes, from the pairs counted so far. all: the run takes every access
 * as a point; else a wish for an access that is no point would hold nobody back. False: nothing to
 * wish for yet. */
bool wisher_next(struct wisher *g, const struct knowledge *k, bool all);
/* How the run with these wishes went. */
void wisher_learn(struct wisher *g, const struct wishes *wishes, uint32_t new_pairs);

#endif
