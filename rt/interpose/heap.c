/* rt/interpose/heap.c - the functions of the heap.
 *
 * Under control each block has a few bytes more than was asked for, and control/heap.c hears of every
 * block that comes and goes. libc's own heap does the work. Before we know libc's functions, the
 * loader's calls go to libc by the names it has for itself; what the loader allocates while a thread is
 * made comes from control/birth.c. */
#include "rt/control/clocks.h"
#include "rt/control/heap.h"
#include "rt/core/rt.h"
#include "rt/interpose/controlled.h"

#include <errno.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *p);

/* Room for what follows the block; as it is where the sum does not fit. */
static size_t more(size_t size)
{
	return heap.size && size < SIZE_MAX - HEAP_RED ? size + HEAP_RED : size;
}

static void *allocated(void *p, size_t size)
{
	if (!heap.base && p)
		heap_first_block(p);
	if (heap.size && p)
		heap_allocated(p, size);
	if (unlikely(clocks_on) && p)
		clocks_fresh(p);
	return p;
}

void *hook_malloc(size_t size)
{
	return allocated(real.malloc ? real.malloc(more(size)) : __libc_malloc(size), size);
}

void *hook_calloc(size_t n, size_t size)
{
	size_t bytes;
	void *p = birth_calloc(n, size);

	if (unlikely(p != NULL))
		return p;
	if (!heap.size || __builtin_mul_overflow(n, size, &bytes))
		return allocated(real.calloc ? real.calloc(n, size) : __libc_calloc(n, size), 0);
	return allocated(real.calloc(1, more(bytes)), bytes);
}

static void *aligned(size_t alignment, size_t size)
{
	return allocated(real.memalign ? real.memalign(alignment, more(size))
				       : __libc_memalign(alignment, size),
			 size);
}

void *hook_memalign(size_t alignment, size_t size)
{
	return aligned(alignment, size);
}

void *hook_aligned_alloc(size_t alignment, size_t size)
{
	return aligned(alignment, size);
}

int hook_posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *p;

	if (alignment % sizeof(void *) || !alignment || alignment & (alignment - 1))
		return EINVAL;
	p = aligned(alignment, size);
	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}

void hook_free(void *p)
{
	int error = errno;

	if (unlikely(!real.free)) { /* the loader, before we know anything */
		__libc_free(p);
		return;
	}
	if (unlikely(birth_owns(p)))
		return;
	if (p && heap.size)
		heap_freeing(control_self(), p);
	real.free(p);
	if (p && heap.size && control_self()) /* others may have been given it meanwhile */
		heap_freed(p);
	errno = error;
}

/* Never in place: a use of the old address is then found out. */
static void *move(void *p, size_t size, size_t old)
{
	void *q = hook_malloc(size);

	if (!q)
		return NULL;
	memcpy(q, p, old < size ? old : size);
	hook_free(p);
	return q;
}

void *hook_realloc(void *p, size_t size)
{
	if (unlikely(birth_owns(p))) {
		void *q = hook_calloc(1, size);

		return q ? memcpy(q, p, birth_bytes(p, size)) : NULL;
	}
	if (!heap.size)
		return allocated(real.realloc ? real.realloc(p, size) : __libc_realloc(p, size), 0);
	if (!p)
		return hook_malloc(size);
	if (!size) {
		hook_free(p);
		return NULL;
	}
	return move(p, size, heap_usable(p));
}

size_t hook_malloc_usable_size(void *p)
{
	HOOK_ENTER;
	return heap.size ? heap_usable(p) : real.malloc_usable_size(p);
}
