/* rt/core/record.h - the fast path of recording: how the bytes of a record are laid down.
 *
 *	uint8_t *p = record_begin(t, 0, exact), *q = p;
 *
 *	if (!p)
 *		return;
 *	q = put_site(t, p + 1, site); ...
 *	record_end(t, p, q, kind);
 *
 * The tag goes in last, after everything else of the record: a reader that meets a zero tag
 * stops, so a kill between two stores loses one record and spoils none. x86 keeps stores in order;
 * only the compiler must be told.
 *
 * Between begin and end the thread is RT_BUSY: a signal handler that runs instrumented code right
 * there finds it so, and counts its events as lost.
 *
 * Accesses, branch bits and values of the path ask one question only: is `next` below `limit`? The
 * limit is where the window ends or the time stamp counter is due, whichever comes first, and it is
 * BUFFER_BUSY while a record is being written. */
#ifndef RT_CORE_RECORD_H
#define RT_CORE_RECORD_H

#include "rt/core/rt.h"

#include <string.h>

/* The longest record without bytes (tag, site 5, address 10, count 10, two values 10 each) after
 * the longest CLOCK (11), plus what an 8-byte store may touch beyond. */
#define RECORD_MAX 80

/* Bytes between two looks at the time stamp counter: about 30 accesses. */
#define RECORD_CLOCK_EVERY 256

/* The limit while a record is being written. */
#define BUFFER_BUSY ((uint8_t *)1)

/* What is seldom done is out of line and saves its own registers, so that the fast path has nothing
 * to save. */
#define RECORD_SLOW __attribute__((noinline, cold, preserve_most))

extern bool rt_stepping; /* PLAIT_CLOCK_STEPS */
extern uint64_t rt_tsc0;
uint64_t rt_sync_clock(void);
/* Not now (counted, if it is a loss), or a new window. */
RECORD_SLOW uint8_t *record_begin_slow(struct rt_thread *t, size_t n);
/* The CLOCK record in front of the next one, where there must be one. */
RECORD_SLOW uint8_t *put_clock_slow(struct rt_thread *t, uint8_t *p, bool exact);

static inline uint64_t rt_tsc(void)
{
	return __builtin_ia32_rdtsc() - rt_tsc0;
}

static inline uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ -((uint64_t)v >> 63);
}

/* The low 56 bits, seven to a byte. */
static inline uint64_t spread(uint64_t v)
{
	v = (v & 0x0fffffff) | ((v & 0x00fffffff0000000) << 4);
	v = (v & 0x00003fff00003fff) | ((v & 0x0fffc0000fffc000) << 2);
	return (v & 0x007f007f007f007f) | ((v & 0x3f803f803f803f80) << 1);
}

/* Of at most 56 bits, which the difference of two addresses always is. May touch 8 bytes. */
static inline uint8_t *put_varint56(uint8_t *p, uint64_t v)
{
	unsigned more; /* bytes with a following one */

	if (likely(v < 0x80)) {
		*p = (uint8_t)v;
		return p + 1;
	}
	more = (unsigned)(63 - __builtin_clzll(v)) / 7;
	v = spread(v) | (0x8080808080808080 & ((1ULL << (8 * more)) - 1));
	memcpy(p, &v, 8);
	return p + more + 1;
}

/* Without a loop: most values are pointers, pieces of data or small. May touch 10 bytes. */
static inline uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	if (unlikely(v >> 56)) {
		uint64_t low = spread(v) | 0x8080808080808080, top = v >> 63;

		memcpy(p, &low, 8);
		p[8] = (uint8_t)((v >> 56 & 0x7f) | top << 7);
		p[9] = (uint8_t)top;
		return p + 9 + top;
	}
	return put_varint56(p, v);
}

static inline void put_tag(uint8_t *p, uint32_t kind)
{
	__asm__ volatile("" ::: "memory");
	*(volatile uint8_t *)p = (uint8_t)kind;
}

/* exact: a synchronisation event; see rt_sync_clock. */
static inline uint8_t *put_clock(struct rt_thread *t, uint8_t *p, bool exact)
{
	if (unlikely(exact || rt_stepping || p >= t->buffer.clock_at))
		return put_clock_slow(t, p, exact);
	return p;
}

static inline uint8_t *put_site(struct rt_thread *t, uint8_t *p, uint32_t site)
{
	int64_t delta = (int64_t)site - (int64_t)t->last_site;

	t->last_site = site;
	return put_varint(p, zigzag(delta));
}

static inline uint8_t *put_address(struct rt_thread *t, uint8_t *p, const void *address)
{
	int64_t delta = (int64_t)((uint64_t)address - t->last_address);

	t->last_address = (uint64_t)address;
	return put_varint(p, zigzag(delta));
}

RECORD_SLOW uint8_t *put_far_site(uint8_t *p, uint64_t delta);

/* The same for hooks, which can do without many registers: most are near. */
static inline uint8_t *put_near_site(struct rt_thread *t, uint8_t *p, uint32_t site)
{
	uint64_t delta = zigzag((int64_t)site - (int64_t)t->last_site);
	uint16_t two;

	t->last_site = site;
	if (likely(delta < 0x80)) {
		*p = (uint8_t)delta;
		return p + 1;
	}
	if (unlikely(delta >= 0x4000))
		return put_far_site(p, delta);
	two = (uint16_t)((delta & 0x7f) | 0x80 | delta >> 7 << 8);
	memcpy(p, &two, 2);
	return p + 2;
}

/* The next record has its clock in front of it, however short the last one is ago. */
static inline void record_tell_time(struct rt_thread *t)
{
	t->buffer.clock_at = t->buffer.next;
}

/* Room for one record of RECORD_MAX (+ n) bytes with its clock in front, or NULL. */
static inline uint8_t *record_begin(struct rt_thread *t, size_t n, bool exact)
{
	uint8_t *p;

	if (unlikely(exact && t->values.block))
		rt_values_close(t);
	p = t->buffer.next;
	if (unlikely(t->depth != 0 || t->buffer.limit == BUFFER_BUSY ||
		     t->buffer.end - p < (ptrdiff_t)(RECORD_MAX + n))) {
		p = record_begin_slow(t, RECORD_MAX + n);
		if (!p)
			return NULL;
	}
	t->depth = RT_BUSY;
	t->buffer.limit = BUFFER_BUSY;
	__asm__ volatile("" ::: "memory");
	return put_clock(t, p, exact);
}

static inline void record_end(struct rt_thread *t, uint8_t *start, uint8_t *end, uint32_t kind)
{
	uint8_t *room = t->buffer.end - RECORD_MAX, *clock = t->buffer.clock_at;

	put_tag(start, kind);
	t->buffer.next = end;
	__asm__ volatile("" ::: "memory");
	t->depth = 0;
	t->buffer.limit = unlikely(rt_stepping) ? NULL : room < clock ? room : clock;
}

/* May the record be written by one of the two below? */
static inline bool record_is_easy(const struct rt_thread *t)
{
	return likely(t && t->buffer.next < t->buffer.limit);
}

/* A READ or WRITE in its short form; size is a constant. */
__attribute__((always_inline)) static inline void record_easy_access(struct rt_thread *t,
								     uint32_t kind, uint32_t site,
								     const void *a, uint32_t size,
								     uint64_t value)
{
	uint8_t *p = t->buffer.next, *limit = t->buffer.limit, *q;

	t->buffer.limit = BUFFER_BUSY;
	__asm__ volatile("" ::: "memory");
	q = put_near_site(t, p + 1, site);
	q = put_varint56(q, zigzag((int64_t)((uint64_t)a - t->last_address)));
	t->last_address = (uint64_t)a;
	memcpy(q, &value, size);
	put_tag(p,
		PLAIT_TAG_SHORT | (kind == PLAIT_EV_WRITE ? 4 : 0) | (uint32_t)__builtin_ctz(size));
	t->buffer.next = q + size;
	__asm__ volatile("" ::: "memory");
	t->buffer.limit = limit;
}

__attribute__((always_inline)) static inline void record_easy_number(struct rt_thread *t,
								     uint32_t kind, uint64_t n)
{
	uint8_t *p = t->buffer.next, *limit = t->buffer.limit, *q;

	t->buffer.limit = BUFFER_BUSY;
	__asm__ volatile("" ::: "memory");
	q = put_varint(p + 1, n);
	put_tag(p, kind);
	t->buffer.next = q;
	__asm__ volatile("" ::: "memory");
	t->buffer.limit = limit;
}

#endif
