/* rt/core/thread.c - who is who.
 *
 * A thread's index is its place in plait_run.threads, given in order of creation; its *name* is
 * the chain of ordinals up to thread 0 and does not depend on scheduling. Parent and ordinal are
 * fixed by the parent before the kernel thread exists.
 *
 * The end of a thread is seen through a thread-specific key: its destructor asks to be called again
 * until the last round, so that destructors with instrumented code come before it. */
#include "rt/core/real.h"
#include "rt/core/rt.h"

#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>

#define FOREIGN_ORDINAL 1000000 /* threads that no hook saw being created, under thread 0 */

struct rt_thread rt_threads[PLAIT_MAX_THREADS];
struct rt_thread rt_nobody = { .depth = 1 << 20, .detached_from_trace = true };
__thread struct rt_thread *rt_self_;
__thread uint32_t plait_call_site;

static pthread_key_t end_key;
static bool have_end_key;
static uint32_t nforeign, births;

static void retire(struct rt_thread *t)
{
	rt_thread_end(t);
	t->depth = 1;
	rt_buffer_close(t);
	if (rt_keeps_last)
		rt_last_ended(t->index);
}

/* Called with the round's number until the last one. */
static void end_destructor(void *value)
{
	uintptr_t round = (uintptr_t)value;
	struct rt_thread *t = rt_self_;

	if (round < PTHREAD_DESTRUCTOR_ITERATIONS &&
	    pthread_setspecific(end_key, (void *)(round + 1)) == 0)
		return;
	if (t && t != &rt_nobody)
		retire(t);
	rt_self_ = &rt_nobody;
}

void rt_thread_init(void)
{
	have_end_key = real.pthread_key_create(&end_key, end_destructor) == 0;
}

static bool find_place(uint32_t *ret)
{
	if (rt_keeps_last && rt_last_place(ret))
		return true;
	*ret = __atomic_fetch_add(&rt_run->nthreads, 1, __ATOMIC_RELAXED);
	if (*ret < PLAIT_MAX_THREADS)
		return true;
	__atomic_fetch_sub(&rt_run->nthreads, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&rt_run->threads_lost, 1, __ATOMIC_RELAXED);
	return false;
}

struct rt_thread *rt_thread_new(struct rt_thread *parent, void *start_routine)
{
	struct plait_thread_info *info;
	struct rt_thread *t;
	uint32_t index;

	if (!find_place(&index))
		return NULL;
	t = &rt_threads[index];
	*t = (struct rt_thread){ .index = index,
				 .birth = __atomic_fetch_add(&births, 1, __ATOMIC_RELAXED),
				 .start_routine = start_routine };
	info = &rt_run->threads[index];
	info->parent = parent ? parent->index : index;
	info->ordinal = parent ? ++parent->nchildren : 0;
	info->entry = (uint64_t)start_routine;
	info->state = 1;
	if (rt_keeps_last && index)
		rt_last_born(t);
	if (index == 1)
		rt_streams_benign();
	return t;
}

void rt_thread_unborn(struct rt_thread *t)
{
	rt_run->threads[t->index].state = 2;
	if (rt_keeps_last)
		rt_last_ended(t->index);
}

static void note_stack(struct rt_thread *t)
{
	struct plait_thread_info *info = &rt_run->threads[t->index];
	pthread_attr_t attr;
	void *low = NULL;
	size_t size = 0;

	if (t->stack_low) {
		info->stack_low = t->stack_low;
		info->stack_size = t->stack_size;
		return;
	}
	/* the answer for the main thread comes from /proc/self/maps: once per process */
	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return;
	pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	info->stack_low = (uint64_t)low;
	info->stack_size = size;
}

void rt_thread_attach(struct rt_thread *t)
{
	struct plait_thread_info *info;

	/* a signal handler ran before, and was given a record of its own: that one is over */
	if (rt_self_ && rt_self_ != &rt_nobody && rt_self_ != t)
		retire(rt_self_);
	if (!t) {
		rt_self_ = &rt_nobody;
		return;
	}
	rt_self_ = &rt_nobody; /* what note_stack calls is not the target's doing */
	t->bits = &plait_bits;
	plait_bits = rt_mode == PLAIT_MODE_CONTROL ? 1ULL << 62 : 1; /* plait_flush_branch */
	t->handle = (uint64_t)pthread_self();
	info = &rt_run->threads[t->index];
	info->kernel_tid = (uint32_t)rt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	if (rt_mode != PLAIT_MODE_OFF)
		note_stack(t);
	if (rt_mode != PLAIT_MODE_OFF && !t->controlled) {
		rt_failure_thread();
		if (t->index != 0 && have_end_key)
			pthread_setspecific(end_key, (void *)1);
	}
	rt_self_ = t;
	rt_record_stack((void *)info->stack_low, info->stack_size);
	rt_record_thread(PLAIT_EV_START, 0, 0, 0);
}

void rt_thread_end(struct rt_thread *t)
{
	if (t->ended || t == &rt_nobody)
		return;
	t->ended = true;
	plait_flush_bits();
	if (rt_on_end)
		rt_on_end(t);
	rt_record_thread(PLAIT_EV_EXIT, 0, 0, 0);
	rt_run->threads[t->index].state = 2;
}

/* Thread 0 is rt_init's; anyone else here was created behind our back (clone, a statically linked
 * foreign runtime). */
struct rt_thread *rt_self_slow(void)
{
	struct rt_thread *t;

	rt_init();
	if (rt_self_)
		return rt_self_;
	rt_self_ = &rt_nobody;
	if (rt_mode == PLAIT_MODE_OFF)
		return &rt_nobody;
	t = rt_thread_new(NULL, NULL);
	if (t && !rt_keeps_last) {
		rt_run->threads[t->index].parent = 0;
		rt_run->threads[t->index].ordinal =
			FOREIGN_ORDINAL + __atomic_add_fetch(&nforeign, 1, __ATOMIC_RELAXED);
	}
	rt_thread_attach(t);
	return rt_self_;
}
