/* rt/modes/alloc.c - allocation as the path and full variants see it.
 *
 * A block's life is recorded inside its real life (ALLOC after the allocation, FREE before the
 * release), so that two blocks at one address never seem to live at once. */
#include "rt/control/control.h"
#include "rt/modes/graph.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

static inline void allocated(uint32_t site, void *p, size_t size)
{
	if (rt_writing && p)
		rt_record_sa_n(PLAIT_EV_ALLOC, site, p, size);
	if (unlikely(rt_graph) && p)
		rt_graph_fresh(p, size);
}

/* Under control it is a step of its own: another thread may have its turn just before. */
static inline void released(uint32_t site, void *p)
{
	if (unlikely(control_active) && p)
		control_before_free(p, site);
	if ((rt_writing || rt_on_sync) && p)
		rt_record_sa_n(PLAIT_EV_FREE, site, p, 0);
}

void *plait_malloc(size_t size)
{
	uint32_t site = rt_take_site();
	void *p = malloc(size);

	allocated(site, p, size);
	return p;
}

void *plait_calloc(size_t n, size_t size)
{
	uint32_t site = rt_take_site();
	void *p = calloc(n, size);

	allocated(site, p, n * size);
	return p;
}

static void *reallocated(uint32_t site, void *p, size_t size)
{
	size_t old = rt_writing && p ? malloc_usable_size(p) : 0;
	void *q;

	released(site, p);
	q = realloc(p, size);
	if (q)
		allocated(site, q, size);
	else if (size > 0)
		allocated(site, p, old); /* it failed: the old block lives on */
	return q;
}

void *plait_realloc(void *p, size_t size)
{
	return reallocated(rt_take_site(), p, size);
}

void *plait_reallocarray(void *p, size_t n, size_t size)
{
	uint32_t site = rt_take_site();

	if (__builtin_mul_overflow(n, size, &size)) {
		errno = ENOMEM;
		return NULL;
	}
	return reallocated(site, p, size);
}

void *plait_memalign(size_t alignment, size_t size)
{
	uint32_t site = rt_take_site();
	void *p = memalign(alignment, size);

	allocated(site, p, size);
	return p;
}

int plait_posix_memalign(void **ret, size_t alignment, size_t size)
{
	uint32_t site = rt_take_site();
	int r = posix_memalign(ret, alignment, size);

	if (r == 0)
		allocated(site, *ret, size);
	return r;
}

void plait_free(void *p)
{
	released(rt_take_site(), p);
	free(p);
}

void plait_note_alloc(void *p, size_t size)
{
	allocated(rt_take_site(), p, size);
}

void plait_note_free(void *p)
{
	released(rt_take_site(), p);
}
