/* cc/analyse/intervals.h - bytes of a node's objects, seen through another node. */
#ifndef CC_ANALYSE_INTERVALS_H
#define CC_ANALYSE_INTERVALS_H

#include "cc/analyse/pointsto.h"

#define EVERYTHING    (INT32_MAX / 4)
#define MAX_INTERVALS 128 /* per node; beyond, bytes are no longer told apart */

/* All bytes, where the node does not tell these apart, or has `n` intervals and that is enough. */
static inline void interval_widen(const struct node *node, size_t n, int32_t *off, int32_t *size)
{
	if (node->collapsed || *size >= EVERYTHING ||
	    (node->stride && *off + *size > (int32_t)node->stride) || n > MAX_INTERVALS) {
		*off = -EVERYTHING;
		*size = 2 * EVERYTHING;
	}
}

/* Bytes of `have` as bytes of `want`, whose objects are the same, `delta` bytes further on. */
static inline void interval_shift(const struct node *have, const struct node *want, int32_t delta,
				  int32_t *off, int32_t *size)
{
	if (have->collapsed || *size >= EVERYTHING ||
	    (have->stride && have->stride != want->stride)) {
		*off = -EVERYTHING;
		*size = 2 * EVERYTHING;
		return;
	}
	*off += delta;
	if (want->stride)
		*off = (*off % (int32_t)want->stride + (int32_t)want->stride) %
		       (int32_t)want->stride;
}

#endif
