/* sym/ir/ahead.h - which of some operations can still come?
 *
 * A counter that must reach a number is counted up by operations in the program. A state that has
 * passed one of them by may be unable to reach the number at all, long before anybody looks at it. */
#ifndef SYM_IR_AHEAD_H
#define SYM_IR_AHEAD_H

#include "sym/ir/reach.h"

struct ahead {
	uint64_t **
		sets; /* per function: NULL, or `words` words per operation: what can come from there */
	uint32_t nfunctions, words;
	bool loops; /* one of the operations can come again after itself */
};
void ahead_init(struct ahead *a, const struct reach *r, const struct reach_place *places, size_t n);
void ahead_deinit(struct ahead *a);
/* How many can come, from a stack of frames. */
uint32_t ahead_count(const struct ahead *a, const struct reach_frame *frames, uint32_t n);

#endif
