/* rt/interpose/sync-thread.c - threads: create, join, detach, yield.
 *
 * Under control every kernel thread is created joinable, and detaching is modelled. The thread that
 * runs after another's end waits until that kernel thread is gone, so that stacks are reused in the
 * same order in every run. A thread's end comes after its TLS destructors, which are user code and are
 * called by us (keys.c). Only main is ended by libc: seen by the destructor of a key of ours that
 * asks to be called again until the third round. */
#include "rt/interpose/blocked.h"
#include "rt/interpose/controlled.h"
#include "rt/core/rt.h"
#include "rt/interpose/timeout.h"

#include <errno.h>

static pthread_key_t end_key;
enum { LAST_ROUND = 3 }; /* thread.c's own key ends the thread's record in round 4 */

static void end_destructor(void *value)
{
	struct control_thread *t = value;

	if (++t->destructor_rounds < LAST_ROUND) {
		pthread_setspecific(end_key, t);
		return;
	}
	if (control_active)
		control_thread_end(t);
}

void threads_init(void)
{
	real.pthread_key_create(&end_key, end_destructor);
}

void threads_watch_end(struct control_thread *t)
{
	pthread_setspecific(end_key, t);
}

/* ---- create ---- */

static void *start_recorded(void *arg)
{
	struct rt_thread *t = arg;

	rt_thread_attach(t);
	return ((void *(*)(void *))t->start_routine)(t->start_arg);
}

static void controlled_body(void *arg)
{
	struct control_thread *t = arg;

	control_thread_begin(t);
	t->rt->controlled = true;
	t->rt->stack_low = t->gate.stack_low;
	t->rt->stack_size = t->gate.stack_size;
	rt_thread_attach(t->rt);
	while (signals_deliver(t)) /* sent before it began */
		;
	t->result = t->start(t->arg);
}

static void controlled_end(void *arg)
{
	keys_thread_end();
	control_thread_end(arg);
}

static int create_controlled(struct control_thread *me, uint32_t site, pthread_t *handle,
			     const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	const struct control_op fork = { .kind = PLAIT_EV_FORK, .site = site };
	struct control_thread *t;
	int r, detach = PTHREAD_CREATE_JOINABLE;

	/* a sanitizer that has called us holds a lock which threads want when they begin */
	if (interpose_is_behind)
		control_step(me, &fork);
	else
		control_point(me, &fork);
	t = control_thread_new(me, rt_thread_new(me->rt, (void *)start));
	t->start = start;
	t->arg = arg;
	if (attr)
		pthread_attr_getdetachstate(attr, &detach);
	t->detached = detach == PTHREAD_CREATE_DETACHED;
	t->gate.body = controlled_body;
	t->gate.end = controlled_end;
	r = control_thread_birth(me, t, attr);
	if (r)
		return r;
	*handle = t->handle;
	rt_record_thread(PLAIT_EV_FORK, site, t->rt->index, 0);
	return 0;
}

struct control_thread *threads_new_own(struct control_thread *me, void *(*start)(void *))
{
	struct control_thread *t;
	sigset_t all, before;
	pthread_t handle;
	int r;

	sigfillset(&all); /* as a kernel thread it would take what is blocked elsewhere */
	sigdelset(&all, PLAIT_NUDGE);
	real.pthread_sigmask(SIG_SETMASK, &all, &before);
	r = create_controlled(me, rt_take_site(), &handle, NULL, start, NULL);
	real.pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		return NULL;
	t = control_thread_find(handle);
	t->detached = true;
	t->signal_mask = UINT64_MAX;
	return t;
}

static int create(uint32_t site, pthread_t *handle, const pthread_attr_t *attr,
		  void *(*start)(void *), void *arg)
{
	struct control_thread *me = control_self();
	struct rt_thread *t;
	int r;

	if (!me && control_forked && control_child_takes_over())
		me = control_self();
	if (me)
		return create_controlled(me, site, handle, attr, start, arg);
	if (rt_mode == PLAIT_MODE_CONTROL)
		control_note(control_forked ? PLAIT_UNCONTROLLED_CHILD_THREADS
					    : PLAIT_UNCONTROLLED_EARLY_THREADS);
	if (rt_self()->depth)
		return real.pthread_create(handle, attr, start, arg);
	t = rt_thread_new(rt_self(), (void *)start);
	if (!t)
		return real.pthread_create(handle, attr, start, arg);
	t->start_arg = arg;
	rt_record_thread(PLAIT_EV_FORK, site, t->index, 0);
	r = real.pthread_create(handle, attr, start_recorded, t);
	if (r == 0)
		t->handle = *handle;
	else
		rt_thread_unborn(t);
	return r;
}

int hook_pthread_create(pthread_t *handle, const pthread_attr_t *attr, void *(*start)(void *),
			void *arg)
{
	HOOK_ENTER;
	return create(rt_take_site(), handle, attr, start, arg);
}

/* A C11 start routine returns int: the same register, and thrd_join takes the low half. */
int hook_thrd_create(thrd_t *handle, thrd_start_t start, void *arg)
{
	int r;

	HOOK_ENTER;
	r = create(rt_take_site(), handle, NULL, (void *(*)(void *))(void (*)(void))start, arg);
	return r == 0 ? thrd_success : r == ENOMEM || r == EAGAIN ? thrd_nomem : thrd_error;
}

/* The result must be known before libc unwinds: a thread that joins gets it from us. */
void hook_pthread_exit(void *result)
{
	struct control_thread *me = control_self();

	HOOK_ENTER;
	plait_call_site = 0;
	if (me)
		me->result = result;
	real.pthread_exit(result);
	__builtin_unreachable();
}

void hook_thrd_exit(int result)
{
	hook_pthread_exit((void *)(intptr_t)result);
}

/* ---- join ---- */

static bool join_ready(const struct control_thread *t)
{
	return ((const struct control_thread *)t->op.object2)->ended;
}

static uint32_t join_holder(const struct control_thread *t)
{
	return ((const struct control_thread *)t->op.object2)->task.id + 1;
}

static const struct control_wait join_wait = { "to join thread", join_ready, join_holder, 0 };

/* t has ended, and `me` has waited for it. */
static int joined(struct control_thread *me, struct control_thread *t, pthread_t handle,
		  uint32_t site, void **result)
{
	t->joined = true;
	control_joined(me, t);
	birth_reap(&t->gate, handle);
	if (result)
		*result = t->result;
	rt_record_thread(PLAIT_EV_JOIN, site, t->task.id, 0);
	return 0;
}

static int join_controlled(struct control_thread *me, uint32_t site, pthread_t handle,
			   void **result, uint64_t deadline)
{
	struct control_thread *t = control_thread_find(handle);

	if (!t)
		return ESRCH;
	if (t->detached)
		return EINVAL;
	if (t == me)
		return EDEADLK;
	if (!control_point(me, &(struct control_op){ .kind = PLAIT_EV_JOIN,
						     .site = site,
						     .object = t,
						     .object2 = t,
						     .wait = &join_wait,
						     .cancellable = true,
						     .deadline = deadline })) {
		rt_record_thread(PLAIT_EV_JOIN, site, t->task.id, ETIMEDOUT);
		return ETIMEDOUT;
	}
	return joined(me, t, handle, site, result);
}

static uint32_t index_of(pthread_t handle);

int hook_pthread_join(pthread_t handle, void **result)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site(), index;
	int r;

	if (me)
		return join_controlled(me, site, handle, result, CONTROL_NEVER);
	index = index_of(handle);
	note_blocked(PLAIT_EV_JOIN, site, (void *)(uintptr_t)(index + 1));
	r = real.pthread_join(handle, result);
	rt_record_thread(PLAIT_EV_JOIN, site, index, r);
	return r;
}

int hook_pthread_timedjoin_np(pthread_t handle, void **result, const struct timespec *until)
{
	struct control_thread *me = control_self();

	HOOK_ENTER;
	if (me)
		return join_controlled(me, rt_take_site(), handle, result,
				       timeout_at(CLOCK_REALTIME, until));
	return real.pthread_timedjoin_np(handle, result, until);
}

int hook_pthread_clockjoin_np(pthread_t handle, void **result, clockid_t clock,
			      const struct timespec *until)
{
	struct control_thread *me = control_self();

	HOOK_ENTER;
	if (me)
		return join_controlled(me, rt_take_site(), handle, result,
				       timeout_at(clock, until));
	return real.pthread_clockjoin_np(handle, result, clock, until);
}

int hook_pthread_tryjoin_np(pthread_t handle, void **result)
{
	struct control_thread *me = control_self(), *t;
	uint32_t site;

	HOOK_ENTER;
	if (!me)
		return real.pthread_tryjoin_np(handle, result);
	site = rt_take_site();
	t = control_thread_find(handle);
	if (!t)
		return ESRCH;
	control_point(me, &(struct control_op){ .kind = PLAIT_EV_JOIN, .site = site, .object = t });
	if (!t->ended) {
		control_spin_check(me, site, t, 0);
		rt_record_thread(PLAIT_EV_JOIN, site, t->task.id, EBUSY);
		return EBUSY;
	}
	return joined(me, t, handle, site, result);
}

int hook_thrd_join(thrd_t handle, int *result)
{
	void *value = NULL;
	int r;

	plait_call_site = hook_site();
	r = hook_pthread_join(handle, &value);
	if (r == 0 && result)
		*result = (int)(intptr_t)value;
	return r == 0 ? thrd_success : thrd_error;
}

int hook_pthread_detach(pthread_t handle)
{
	struct control_thread *me = control_self(), *t;
	uint32_t site = hook_site();

	if (!me) {
		rt_record_thread(PLAIT_EV_DETACH, site, index_of(handle), 0);
		return real.pthread_detach(handle);
	}
	t = control_thread_find(handle);
	if (!t)
		return ESRCH;
	if (t->detached)
		return EINVAL;
	t->detached = true;
	rt_record_thread(PLAIT_EV_DETACH, site, t->task.id, 0);
	if (t->ended) {
		t->joined = true;
		birth_reap(&t->gate, handle);
	}
	return 0;
}

int hook_thrd_detach(thrd_t handle)
{
	plait_call_site = hook_site();
	return hook_pthread_detach(handle) == 0 ? thrd_success : thrd_error;
}

/* In the recording modes; the youngest, since libc uses handles again. */
static uint32_t index_of(pthread_t handle)
{
	uint32_t n = rt_run->nthreads, found = PLAIT_ANY;

	for (uint32_t i = 0; i < n && i < PLAIT_MAX_THREADS; i++)
		if (rt_threads[i].handle == handle &&
		    (found == PLAIT_ANY || rt_threads[i].birth > rt_threads[found].birth))
			found = i;
	return found;
}

/* ---- yield ---- */

static int yield(uint32_t site)
{
	struct control_thread *me = control_self();

	if (!me)
		return real.sched_yield();
	control_yield(me, PLAIT_EV_YIELD, site);
	rt_record_sv(PLAIT_EV_YIELD, site, 0);
	return 0;
}

int hook_sched_yield(void)
{
	HOOK_ENTER;
	return yield(rt_take_site());
}

int hook_pthread_yield(void)
{
	HOOK_ENTER;
	return yield(rt_take_site());
}

void hook_thrd_yield(void)
{
	HOOK_ENTER;
	yield(rt_take_site());
}
