/* explain/cure/finder.h - private to explain/: what those who look for cures share. */
#ifndef EXPLAIN_CURE_FINDER_H
#define EXPLAIN_CURE_FINDER_H

#include "explain/cure/cure.h"

enum { CURE_NEAR = 60 }; /* steps of a thread that are still nearby */

struct finder {
	const struct steps *f, *g; /* failing, passing */
	const struct projection *p;
	struct cures *out;
	size_t most; /* cures to find */
};

/* Wherever any thread comes to the place of a step. */
struct plait_pattern finder_place(const struct step *e);
/* From one place to another, nobody in between. */
struct plait_constraint finder_block(const struct step *from, const struct step *to);
/* What the threads of a deadlock wait for (waits.c). */
void finder_add_waits(struct finder *fd);
/* y before x; or, if only one thread does x, x after everything else (orders.c). */
void finder_add_orders(struct finder *fd, uint32_t x, uint32_t y);
/* x should have waited for y, which the failing run did not live to see. */
void finder_add_missed(struct finder *fd, uint32_t x, uint32_t y);
/* Adds the block unless its two places are there already, or there are enough. */
void finder_add_block(struct finder *fd, uint32_t from, uint32_t to, bool to_in_passing,
		      uint32_t intruder, enum bug_kind kind);
/* Keep the other side out by a block of its own: other_from to other_to. */
void finder_other_block(const struct finder *fd, struct cure *c);
/* Two accesses of one thread with another's in between, all on one object: is there no order one
 * after the other with the same effect? (Reads around a read, a write before two reads ... are
 * harmless.) Acquisitions stand for whatever they guard. */
bool finder_unserializable(const struct step *first, const struct step *between,
			   const struct step *last);
/* A short block says more than a long one, one variable more than several, one block more than two
 * of them, and what the failing run shows broken more than what it did not live to end. */
uint32_t finder_cost(const struct finder *fd, const struct cure *c);

#endif
