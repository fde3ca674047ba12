/* cc/driver/heap.c - memory for a program that lives for seconds and works on a million small objects.
 *
 * LLVM spends more time with libc's heap than with any of its passes: it looks for room among holes, asks
 * for memory a few pages at a time, and each of those pages is a fault. What we know, and libc does not,
 * is that we end soon:
 *
 *	- a block belongs to a class of sizes, and lies in a span of blocks of that class;
 *	- a freed block is the next one of its class that is handed out, by the thread that freed it;
 *	- spans are never given back, and come from memory that the system may map by huge pages;
 *	- nothing is locked, because threads share nothing but the headers of spans, which do not change.
 *
 *	span (64 KB, aligned)  | header | block | block | block ... |
 *
 * So the span of a block, hence its size, is found by its address. A block that is larger than a span has
 * the header before it and runs over as many spans as it takes; a very large one has a mapping of its
 * own, which is given back. */
#include "cc/driver/heap.h"

#include "base/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define SPAN	  ((size_t)1 << 16)
#define CHUNK	  ((size_t)1 << 26) /* asked of the system at once */
#define HUGE_PAGE ((size_t)1 << 21)
#define HEADER	  ((size_t)64) /* blocks whose size is a multiple of 64 are aligned to 64 */

/* Classes: every 16 bytes up to SMALL, then four for each doubling, up to LARGE. */
#define STEP	((size_t)16)
#define SMALL	((size_t)1 << 10)
#define NSMALL	(SMALL / STEP)
#define LARGE	((size_t)1 << 22)
#define CLASSES (NSMALL + 4 * 12)

struct span {
	size_t size;   /* of each block */
	size_t mapped; /* a mapping of its own, of so many bytes; 0: none */
	unsigned class;
};

struct block {
	struct block *next;
};

struct pool {
	struct block *free;
	char *fresh, *end; /* blocks that nobody has had yet */
};

static __thread struct pool pools[CLASSES];
static __thread char *chunk, *chunk_end;

static unsigned class_of(size_t size)
{
	unsigned top;

	if (size <= SMALL)
		return size ? (unsigned)((size - 1) / STEP) : 0;
	top = 63 - (unsigned)__builtin_clzl(size - 1);
	return (unsigned)NSMALL + 4 * (top - 10) + ((size - 1) >> (top - 2) & 3);
}

static size_t size_of_class(unsigned class)
{
	unsigned k = class - (unsigned)NSMALL, top = k / 4 + 10;

	if (class < NSMALL)
		return (class + 1) * STEP;
	return ((size_t)1 << top) + ((size_t)(k % 4 + 1) << (top - 2));
}

static struct span *span_of(const void *p)
{
	return (struct span *)((uintptr_t)p & ~(uintptr_t)(SPAN - 1));
}

static size_t round_up(size_t n, size_t unit)
{
	return (n + unit - 1) & ~(unit - 1);
}

/* Fresh memory of the system's, `size` bytes (whole pages) at a multiple of a huge page. */
static char *map(size_t size)
{
	size_t all = size + HUGE_PAGE, before;
	char *p = MAP_FAILED;

	if (all > size)
		p = mmap(NULL, all, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) {
		errno = ENOMEM;
		return NULL;
	}
	before = round_up((uintptr_t)p, HUGE_PAGE) - (uintptr_t)p;
	if (before)
		munmap(p, before);
	if (before != HUGE_PAGE)
		munmap(p + before + size, HUGE_PAGE - before);
	madvise(p + before, size, MADV_HUGEPAGE);
	return p + before;
}

/* A run of spans; what was left of the chunk before is lost. */
static char *take_spans(size_t size)
{
	char *run;

	size = round_up(size, SPAN);
	if (size > (size_t)(chunk_end - chunk)) {
		run = map(CHUNK);
		if (!run)
			return NULL;
		chunk = run;
		chunk_end = run + CHUNK;
	}
	run = chunk;
	chunk += size;
	return run;
}

static bool refill(struct pool *pool, unsigned class)
{
	size_t size = size_of_class(class);
	size_t n = size + HEADER <= SPAN ? (SPAN - HEADER) / size : 1;
	char *run = take_spans(HEADER + n * size);

	if (!run)
		return false;
	*(struct span *)run = (struct span){ size, 0, class };
	pool->fresh = run + HEADER;
	pool->end = pool->fresh + n * size;
	return true;
}

static void *map_block(size_t offset, size_t size)
{
	size_t all = round_up(offset + size, 4096);
	char *p = size < all ? map(all) : NULL; /* not if the sum was too much */

	if (!p) {
		errno = ENOMEM;
		return NULL;
	}
	*(struct span *)p = (struct span){ all - offset, all, 0 };
	return p + offset;
}

void *heap_alloc(size_t size)
{
	unsigned class;
	struct pool *pool;
	struct block *b;
	char *p;

	if (size > LARGE)
		return map_block(HEADER, size);
	class = class_of(size);
	pool = &pools[class];
	b = pool->free;
	if (b) {
		pool->free = b->next;
		return b;
	}
	if (pool->fresh == pool->end && !refill(pool, class))
		return NULL;
	p = pool->fresh;
	pool->fresh += size_of_class(class);
	return p;
}

void *heap_alloc_aligned(size_t alignment, size_t size)
{
	size_t rounded = round_up(MAX(size, 1), alignment);
	unsigned class;
	char *run;

	if (rounded < size || alignment > SPAN / 2) {
		errno = ENOMEM;
		return NULL;
	}
	if (alignment <= HEADER)
		return heap_alloc(rounded);
	if (rounded > LARGE)
		return map_block(alignment, rounded);
	class = class_of(rounded);
	run = take_spans(alignment + size_of_class(class));
	if (!run)
		return NULL;
	*(struct span *)run = (struct span){ size_of_class(class), 0, class };
	return run + alignment;
}

void heap_free(void *p)
{
	struct span *s = span_of(p);
	struct block *b = p;

	if (!p)
		return;
	if (s->mapped) {
		int saved = errno;

		munmap(s, s->mapped);
		errno = saved;
		return;
	}
	b->next = pools[s->class].free;
	pools[s->class].free = b;
}

size_t heap_size(const void *p)
{
	return p ? span_of(p)->size : 0;
}

void *heap_resize(void *p, size_t size)
{
	size_t old = heap_size(p);
	void *new;

	if (p && size <= old && (size >= old / 2 || old <= SMALL))
		return p;
	new = heap_alloc(size);
	if (!new || !p)
		return new;
	memcpy(new, p, MIN(old, size));
	heap_free(p);
	return new;
}
