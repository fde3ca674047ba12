/* preload/known.h - is the caller's stack one that this thread has met before?
 *
 * Kept apart since it needs SSE 4.2: crc32 is the cheapest instruction that mixes well, and finds
 * every difference in a single word. See stack.c for the whole, and lock.c for who may come here.
 */
#ifndef PRELOAD_KNOWN_H
#define PRELOAD_KNOWN_H

#include "preload/preload.h"

#include <nmmintrin.h>

#define SSE42 __attribute__((target("sse4.2,prfchw")))

SSE42 FAST uint64_t known_sum(const struct watch_known *k, const struct watch_stack *s,
			      const uint64_t *fp)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < 8; i++)
		sum = _mm_crc32_u64(sum, fp[k->place[i]]);
	if (unlikely(k->more))
		for (unsigned i = 0; i < 7; i++)
			sum = _mm_crc32_u64(sum, fp[s->place2[i]]);
	return sum;
}

/* May the words be read that hints for another frame name? */
FAST bool known_can(const struct watch_slot *t, const uint64_t *fp)
{
	return (uint64_t)fp - t->stack_lo < t->stack_span;
}

/* Where the number of the stack is kept, if it is known: by return address, sp, and the words that
 * were seen to tell apart the stacks with these. A hint is a place minus one: none is the return
 * address, which changes nothing. */
SSE42 FAST uint8_t *known_at(struct watch_slot *t, const uint64_t *fp, const uint8_t **ret)
{
	uint64_t sum = _mm_crc32_u64((uint32_t)(uint64_t)fp, fp[1]);
	const uint8_t *hint = t->hints[sum & (WATCH_HINTS - 1)];

	for (unsigned i = 0; i < 4; i++)
		sum = _mm_crc32_u64(sum, fp[1 + hint[i]]);
	*ret = hint;
	return &t->which[sum & (2 * WATCH_HINTS - 1)];
}

/* Every load of a word is independent of the others, which is why this is several times faster than
 * unwinding. Unused places repeat one that is used: the number of frames costs no mispredicted
 * branch. */
SSE42 FAST bool known_is(const struct watch_slot *t, unsigned i, const uint64_t *fp)
{
	const struct watch_known *k = &t->known[i];

	/* with another sp the places may not be there */
	return likely(k->sp == (uint64_t)(fp + 2)) &&
	       likely(known_sum(k, &t->stacks[i], fp) == k->sum);
}

#endif
