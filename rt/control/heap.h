/* rt/control/heap.h - what the target does with memory that is not its own: freed, or behind a block.
 *
 * Under control every block of libc's heap is followed by a few bytes that belong to nobody, and
 * freed memory stays marked until it is given out again. An access to either ends the run as a
 * failure, at the access and not at the crash it may lead to later. */
#ifndef RT_CONTROL_HEAP_H
#define RT_CONTROL_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct control_thread;

enum { HEAP_GRANULE = 16, HEAP_RED = 16 }; /* bytes: of a mark; behind each block */

/* Marks for each granule of libc's main heap, one bit each. size 0: nothing is checked. */
struct heap {
	uint64_t base, size;
	uint64_t *bad;	  /* freed, or behind a block */
	uint64_t *starts; /* a block begins here */
	/* while there were several threads: the one that freed a block which others may be given,
	 * and the one that allocated (thread + 1, UINT32_MAX: several) */
	uint32_t freed_by, allocated_by;
	uint64_t mark; /* what libc writes into a small block that was freed; 0: nothing */
};
extern struct heap heap;

/* The first block that libc has given out in this process: the heap begins there. */
void heap_first_block(const void *p);
/* Before the first run of this process: checks begin. */
void heap_begin(void);
/* libc has given out `size` bytes at p, and HEAP_RED more. */
void heap_allocated(void *p, size_t size);
/* p is to be freed, at this site (0: not known). Ends the run if it was freed before or is no block. */
void heap_check_free(const void *p, uint32_t site);
/* p is about to be freed; checked as above. me may be NULL: not under control, and not checked. */
void heap_freeing(struct control_thread *me, void *p);
/* ... and has been. */
void heap_freed(void *p);
/* What is known of the block that bad memory belongs to, in words: who freed it. */
void heap_describe(const void *p, char *text, size_t room);
/* How much of the block may be used; 0 if no block begins at p. */
size_t heap_usable(void *p);
/* An access to bad memory, at this site (0: not known): ends the run. */
void heap_misused(const void *p, size_t size, bool writes, uint32_t site);

static inline bool heap_is_bad(const void *p)
{
	uint64_t at = (uint64_t)p - heap.base;

	return at < heap.size && heap.bad[at / (64 * HEAP_GRANULE)] >> at / HEAP_GRANULE % 64 & 1;
}

/* Does an access of this size touch bad memory? */
static inline bool heap_touches_bad(const void *p, size_t size)
{
	const char *at = p, *last = at + (size ? size - 1 : 0);

	if ((uint64_t)p - heap.base >= heap.size)
		return false;
	for (; at < last; at += HEAP_GRANULE)
		if (heap_is_bad(at))
			return true;
	return heap_is_bad(last);
}

#endif
