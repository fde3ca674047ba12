/* preload/thread.c - threads that come and go, and code that goes.
 *
 * The slot of a new thread is claimed by its creator and handed over as the argument of our own
 * start routine, which takes what the program wanted to start from there: nothing is allocated. */
#include "preload/preload.h"

#include <dlfcn.h>

/* How large the stacks of new threads are; the default is asked for once. */
static uint64_t stack_size(const pthread_attr_t *attr)
{
	static uint64_t normal;
	pthread_attr_t mine;
	size_t size = 0;

	if (attr)
		return pthread_attr_getstacksize(attr, &size) == 0 ? size : 0;
	if (!normal && pthread_attr_init(&mine) == 0) {
		if (pthread_attr_getstacksize(&mine, &size) == 0)
			normal = size;
		pthread_attr_destroy(&mine);
	}
	return normal;
}

static struct watch_slot *child_slot(uint64_t start, uint64_t arg, uint64_t size)
{
	struct watch_slot *t = get_self(), *child = t ? slot_claim(t) : NULL;

	if (child) {
		child->start = start;
		child->arg = arg;
		child->stack_lo = size;
	}
	return child;
}

static void adopt(struct watch_slot *t, const uint64_t *frame)
{
	uint64_t top = (uint64_t)frame;

	/* above it are start_thread's frame and more than 2 KB of the thread's descriptor */
	slot_adopt(t, top - t->stack_lo, top, top);
}

static void *thread_main(void *p)
{
	struct watch_slot *t = p;

	adopt(t, FRAME);
	return ((void *(*)(void *))t->start)((void *)t->arg);
}

static int thrd_main(void *p)
{
	struct watch_slot *t = p;

	adopt(t, FRAME);
	return ((int (*)(void *))t->start)((void *)t->arg);
}

EXPORT int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr,
			  void *(*start)(void *), void *restrict arg)
{
	struct watch_slot *child = child_slot((uint64_t)start, (uint64_t)arg, stack_size(attr));
	int result;

	if (!child)
		return real.pthread_create(thread, attr, start, arg);
	result = real.pthread_create(thread, attr, thread_main, child);
	if (result != 0)
		slot_release(child);
	return result;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t start, void *arg)
{
	struct watch_slot *child = child_slot((uint64_t)start, (uint64_t)arg, stack_size(NULL));
	int result;

	if (!child)
		return real.thrd_create(thread, start, arg);
	result = real.thrd_create(thread, thrd_main, child);
	if (result != thrd_success)
		slot_release(child);
	return result;
}

EXPORT int dlclose(void *handle)
{
	int result;

	if (!real.dlclose)
		self_attach();
	result = real.dlclose(handle);
	if (area) {
		unwind_forget();
		module_forget();
	}
	return result;
}
