/* cc/driver/heap.h - the compiler driver's own memory, instead of libc's; see heap.c. */
#ifndef CC_DRIVER_HEAP_H
#define CC_DRIVER_HEAP_H

#include <stddef.h>

/* As malloc, aligned_alloc, realloc, free and malloc_usable_size; NULL when there is no memory, or no
 * memory of such an alignment (more than half a span). */
void *heap_alloc(size_t size);
void *heap_alloc_aligned(size_t alignment, size_t size);
void *heap_resize(void *p, size_t size);
void heap_free(void *p);
size_t heap_size(const void *p);

#endif
