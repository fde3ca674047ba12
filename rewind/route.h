/* rewind/route.h - the way that branch records tell (crumbs/): which branches were taken last.
 *
 * A record says from where to where control jumped; between two of them it went straight on. Walking back, a node of the
 * tree counts the records that lie behind it (`passed`). While there are more of them, they say where control came from:
 * also through pointers that are gone, and how often a loop ran. Before the oldest record everything is possible again. */
#ifndef REWIND_ROUTE_H
#define REWIND_ROUTE_H

#include "rewind/step.h"

struct crumb_branch;
struct origins;

struct route {
	struct code *code;
	const struct crumb_branch *branches; /* the newest first; borrowed */
	uint32_t n;
	uint32_t first; /* how many lie behind the moment at which the walk begins */
};

/* Records that lead to the instruction at `pc`. at_call: it is a call that has not returned, and the newest records are
 * of what it called. False: they lead elsewhere. */
bool route_init(struct route *r, struct code *code, const struct crumb_branch *branches, size_t n,
		uint64_t pc, bool at_call);

/* Do records tell how control came to a moment? NULL has none. */
bool route_goes_on(const struct route *r, uint32_t passed);
/* Control came to `at` by the piece: do the records say so, too? Then *ret says how many lie behind the piece's first
 * instruction. */
bool route_allows(const struct route *r, uint32_t passed, uint64_t at, const struct piece *p,
		  uint32_t *ret);
/* Keep the ways to `at` that the records allow. They may know one that the code does not tell: through a pointer. */
void route_filter(const struct route *r, uint32_t passed, uint64_t at, struct origins *c);

/* The instructions of a block up to the one at `from`, which went to `to`; false when no code is known there. */
bool piece_between(struct code *c, uint64_t from, uint64_t to, struct piece *ret);

#endif
