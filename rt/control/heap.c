/* rt/control/heap.c - marks for libc's heap; see heap.h.
 *
 * Two bitmaps over the main heap (there is only one under control: server.c). The program's own
 * reuse of memory is left as libc has it, because some bugs need a block that comes back at the
 * same address (ABA). So a use of freed memory is seen as long as nobody has been given it again.
 *
 * Freed memory is filled with POISON as well: code that was not compiled by us crashes on it
 * sooner, and a lock in it is recognised (sync-mutex.c). libc keeps 16 bytes of its own at the
 * beginning of a freed block; behind them we note who freed it.
 *
 * Blocks from before heap_begin have no mark at their beginning: they are filled and marked when
 * they are freed, and never called wrong for the lack of a mark. Large blocks that libc maps one by
 * one lie outside; libc unmaps them, and a later use is a crash anyway. */
#include "rt/control/heap.h"

#include "rt/control/constraints.h"
#include "rt/control/engine.h"
#include "rt/core/real.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEVERAL UINT32_MAX
enum { POISON = 0xdd, POISON_MAX = 1 << 20, NOTE_AT = 16, LOOK_BACK = 1 << 20 };
#define HEAP_MAX (4ull << 30)

struct heap heap;

static bool is_inside(const void *p)
{
	return (uint64_t)p - heap.base < heap.size;
}

static uint64_t granule_of(const void *p)
{
	return ((uint64_t)p - heap.base) / HEAP_GRANULE;
}

static bool has(const uint64_t *bits, uint64_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

/* Threads that are not under control allocate as well: hence atomic. */
static void set(uint64_t *bits, uint64_t i)
{
	__atomic_or_fetch(&bits[i / 64], 1ull << i % 64, __ATOMIC_RELAXED);
}

static void clear(uint64_t *bits, uint64_t i)
{
	__atomic_and_fetch(&bits[i / 64], ~(1ull << i % 64), __ATOMIC_RELAXED);
}

/* libc marks small freed blocks with a number that is random in every process, in their second word.
 * A program that reads freed memory would see it. */
static void learn_mark(void)
{
	volatile uint64_t *p = real.malloc(24);

	if (!p)
		return;
	p[1] = 0;
	real.free((void *)p);
	heap.mark = p[1];
}

/* A small block stays with the thread that freed it, and malloc gives it to that thread only. The
 * others belong to everybody: then it depends on the order which addresses malloc gives out, and an
 * order that differs in nothing else is not explored by itself. */
static void note_reuse(uint32_t *by)
{
	const struct control_thread *me = control_self();

	if (!me || control.nalive < 2)
		return;
	*by = *by && *by != me->task.id + 1 ? SEVERAL : me->task.id + 1;
	if (heap.freed_by && heap.allocated_by &&
	    (heap.freed_by != heap.allocated_by || heap.freed_by == SEVERAL))
		control.area->limits |= PLAIT_LIMIT_REUSE;
}

void heap_freed(void *p)
{
	uint64_t *words = p;

	if (!is_inside(p))
		return;
	/* libc may have given the end of the heap back to the kernel */
	if (heap.mark && (char *)(words + 2) <= (char *)sbrk(0) && words[1] == heap.mark)
		memset(&words[1], POISON, sizeof(words[1]));
	else
		note_reuse(&heap.freed_by);
}

void heap_begin(void)
{
	uint64_t bytes = HEAP_MAX / HEAP_GRANULE / 8;
	void *maps;

	if (heap.size || !heap.base || control.area->flags & PLAIT_CONTROL_NO_POISON)
		return;
	maps = real.mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (maps == MAP_FAILED)
		return;
	heap.bad = maps;
	heap.starts = heap.bad + bytes / 8;
	heap.size = HEAP_MAX;
	learn_mark();
}

void heap_first_block(const void *p)
{
	if (heap.base)
		return;
	heap.base = (uint64_t)p & ~4095ull;
	if (control_active) /* constructors run under control */
		heap_begin();
}

void heap_allocated(void *p, size_t size)
{
	uint64_t first, end, i;

	if (!is_inside(p))
		return;
	note_reuse(&heap.allocated_by);
	first = granule_of(p);
	end = granule_of((char *)p + real.malloc_usable_size(p) + HEAP_GRANULE - 1);
	for (i = first; i < end; i++) {
		clear(heap.bad, i);
		clear(heap.starts, i);
	}
	set(heap.starts, first);
	size = size ? size : 1; /* free() must not take a block of no bytes for a freed one */
	for (i = granule_of((char *)p + size + HEAP_GRANULE - 1); i < end; i++)
		set(heap.bad, i);
}

/* The block that this address lies in, or behind. NULL: not known. */
static void *block_of(const void *p)
{
	uint64_t i = granule_of(p), low = i > LOOK_BACK ? i - LOOK_BACK : 0;

	while (i > low && !has(heap.starts, i))
		i--;
	return has(heap.starts, i) ? (void *)(heap.base + i * HEAP_GRANULE) : NULL;
}

/* No block begins at p, an address in the heap: libc aligns blocks, and a known one is around it. */
static bool is_no_block(const void *p)
{
	char *block;

	if ((uint64_t)p % HEAP_GRANULE)
		return true;
	if (has(heap.starts, granule_of(p)))
		return false;
	block = block_of(p);
	return block && !heap_is_bad(block) &&
	       (const char *)p < block + real.malloc_usable_size(block);
}

size_t heap_usable(void *p)
{
	size_t n, i;

	if (!p || (is_inside(p) && is_no_block(p)))
		return 0;
	n = real.malloc_usable_size(p);
	if (!is_inside(p))
		return n;
	for (i = 0; i < n; i += HEAP_GRANULE)
		if (has(heap.bad, granule_of((char *)p + i)))
			return i;
	return n;
}

/* Who freed it, and when, in 8 bytes of the freed block. */
static void leave_note(const struct control_thread *me, void *p)
{
	uint64_t note = (uint64_t)(me->task.id + 1) << 48 | (rt_steps & ((1ull << 48) - 1));

	memcpy((char *)p + NOTE_AT, &note, sizeof(note));
}

void heap_freeing(struct control_thread *me, void *p)
{
	bool told = me && me->freeing == p;
	size_t n;
	uint64_t i, end;

	if (me)
		me->freeing = NULL;
	if (!is_inside(p))
		return; /* libc knows whether it mapped this, and unmaps it */
	if (me)
		heap_check_free(p, 0);
	n = real.malloc_usable_size(p);
	memset(p, POISON, n < POISON_MAX ? n : POISON_MAX);
	if (!me)
		return;
	leave_note(me, p);
	if (control.learning && !told)
		learn_free(me, p, n, 0);
	if (control.area->nconstraints)
		constraints_freeing(me, p, __builtin_frame_address(0));
	if (control_logs() && !told)
		decisions_log_free(me, p, n);
	control_forget_candidates(); /* a lock in it is gone for those who wait for it */
	end = granule_of((char *)p + n + HEAP_GRANULE - 1);
	for (i = granule_of(p); i < end; i++)
		set(heap.bad, i);
	set(heap.starts, granule_of(p));
}

/* ---- what went wrong ---- */

void heap_describe(const void *p, char *text, size_t room)
{
	char *block = block_of(p), name[64];
	uint64_t note;

	if (!block)
		return;
	if (!has(heap.bad, granule_of(block))) {
		snprintf(text, room, "%zu bytes behind the beginning of a block of %zu",
			 (size_t)((const char *)p - block), heap_usable(block));
		return;
	}
	memcpy(&note, block + NOTE_AT, sizeof(note));
	if (note >> 48 == 0 || note >> 48 > control.nthreads)
		return;
	control_thread_name(name, sizeof(name), (uint32_t)(note >> 48) - 1);
	snprintf(text, room, "thread %s freed it, at event %llu of the run; byte %zu of the block",
		 name, (unsigned long long)(note & ((1ull << 48) - 1)),
		 (size_t)((const char *)p - block));
}

void heap_check_free(const void *p, uint32_t site)
{
	char text[256] = "";
	bool freed = heap_is_bad(p);

	if (!is_inside(p) || (!freed && !is_no_block(p)))
		return;
	heap_describe(p, text, sizeof(text));
	control_misuse(freed ? PLAIT_MISUSE_FREE_TWICE : PLAIT_MISUSE_FREE_OTHER,
		       freed ? "free of memory that was freed before"
			     : "free of an address that is not the beginning of a block of memory",
		       p, text, site);
}

void heap_misused(const void *p, size_t size, bool writes, uint32_t site)
{
	char text[256] = "";
	const char *end = (const char *)p + size;
	bool freed;
	void *block;

	while (!heap_is_bad(p) && (const char *)p + HEAP_GRANULE < end)
		p = (const char *)p + HEAP_GRANULE;
	if (!heap_is_bad(p))
		p = end - 1;
	block = block_of(p);
	freed = block && has(heap.bad, granule_of(block));
	heap_describe(p, text, sizeof(text));
	control_misuse(freed ? PLAIT_MISUSE_FREED : PLAIT_MISUSE_BEHIND,
		       freed ? (writes ? "write to memory that was freed"
				       : "read of memory that was freed")
			     : (writes ? "write behind the end of a block of memory"
				       : "read behind the end of a block of memory"),
		       p, text, site);
}
