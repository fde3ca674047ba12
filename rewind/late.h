/* rewind/late.h - reads whose address was not known when their step was made.
 *
 * As soon as an earlier step tells the address, what was read must be what the memory held at that moment. Without this a
 * list that was walked once less than it really was would never contradict the dump. */
#ifndef REWIND_LATE_H
#define REWIND_LATE_H

#include "rewind/step.h"

struct late_read {
	const struct late_read *next; /* older in the walk, so later in the run */
	expr_id address, value;
	uint8_t w;
	const struct past *before;     /* its step */
	const struct access *accesses; /* of its step that come before it */
	uint32_t naccesses;
};

/* The step's own reads that nothing tells the address of yet. p: its beginning. */
void late_keep(struct history *h, struct past *p, const struct step *s);
/* Compare all reads whose address has become known. False: one of them contradicts. maybe: see past_readable(). *agreed
 * grows by the bits that agreed. */
bool late_equate(struct history *h, struct past *p, bool maybe, uint32_t *agreed);
/* A past with an address for each read that still has none, such that the memory there holds what was read. Any such
 * address will do to run the suffix natively; where none is found, the read stays as it is. */
const struct past *late_choose(struct history *h, const struct past *p);

#endif
