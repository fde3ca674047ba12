/* cc/driver/malloc.c - libc's names for our heap: LLVM, libstdc++ and libc call these. Not in a build with a
 * sanitizer, which has a heap of its own, nor in the unit tests. */
#include "cc/driver/heap.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#ifndef __has_feature /* gcc; it has the same in 14 */
#define __has_feature(name) 0
#endif
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) &&                       \
	!defined(__SANITIZE_ADDRESS__)

void *malloc(size_t size)
{
	return heap_alloc(size);
}

void *calloc(size_t n, size_t size)
{
	size_t all;
	void *p;

	if (__builtin_mul_overflow(n, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	p = heap_alloc(all);
	return p ? memset(p, 0, all) : NULL;
}

void *realloc(void *p, size_t size)
{
	return heap_resize(p, size);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return heap_resize(p, all);
}

void free(void *p)
{
	heap_free(p);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return heap_alloc_aligned(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
	return heap_alloc_aligned(alignment, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *p = heap_alloc_aligned(alignment, size);

	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}

void *valloc(size_t size)
{
	return heap_alloc_aligned(4096, size);
}

void *pvalloc(size_t size)
{
	return heap_alloc_aligned(4096, size);
}

size_t malloc_usable_size(void *p)
{
	return heap_size(p);
}

#endif
