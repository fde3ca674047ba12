/* rt/interpose/sync-misc.c - semaphores, barriers, once; the state machines are in sched/sync.c. */
#include "rt/interpose/blocked.h"
#include "rt/interpose/controlled.h"
#include "rt/core/rt.h"
#include "rt/interpose/timeout.h"
#include "sched/sync.h"

#include <errno.h>

enum { OBJECT_SEM = 4, OBJECT_BARRIER = 5 };

/* ---- semaphores: these set errno ---- */

static bool sem_ready(const struct control_thread *t)
{
	return sync_sem_ready(t->op.object) || gone_is(t->op.object, GONE_SEM);
}

static const struct control_wait sem_waiting = { "for a semaphore", sem_ready, NULL, 0 };

/* As glibc has it: behind value and waiters, not 0 when other processes may use it. */
static bool sem_is_shared(const sem_t *s)
{
	return ((const int *)s)[2] != 0;
}

static int sem_wait_controlled(struct control_thread *me, uint32_t site, sem_t *s,
			       uint64_t deadline)
{
	int r = ETIMEDOUT;
	bool got;

	gone_check(me, s, GONE_SEM, "wait for", site);
	got = control_point(me, &(struct control_op){ .kind = PLAIT_EV_SEM_WAIT,
						      .site = site,
						      .object = s,
						      .writes = true,
						      .wait = &sem_waiting,
						      .cancellable = true,
						      .shared = sem_is_shared(s),
						      .signals = CONTROL_RESTARTS,
						      .deadline = deadline });
	gone_check(me, s, GONE_SEM, "wait for", site);
	if (got && !(deadline != CONTROL_NEVER && control_refused(me))) {
		r = sync_sem_trywait((struct sync_sem *)s);
		control_changed();
	} else if (me->interrupted) {
		r = EINTR;
	}
	rt_record_sa_r(PLAIT_EV_SEM_WAIT, site, s, r);
	return posix_result(r);
}

/* clang-format off: a table */
#define WAIT(name, params, args, deadline)                                                         \
	int hook_sem_##name params                                                                 \
	{                                                                                          \
		struct control_thread *me = control_self();                                        \
		uint32_t site = hook_site();                                                       \
		int r;                                                                             \
                                                                                                   \
		if (me)                                                                            \
			return sem_wait_controlled(me, site, s, deadline);                         \
		r = TRIED(real.sem_trywait(s), -1);                                                \
		if (r) {                                                                           \
			note_blocked(PLAIT_EV_SEM_WAIT, site, s);                                  \
			r = real.sem_##name args;                                                  \
		}                                                                                  \
		rt_record_sa_r(PLAIT_EV_SEM_WAIT, site, s, r ? errno : 0);                         \
		return r;                                                                          \
	}
WAIT(wait, (sem_t * s), (s), CONTROL_NEVER)
WAIT(timedwait, (sem_t * s, const struct timespec *until), (s, until),
     timeout_at(CLOCK_REALTIME, until))
WAIT(clockwait, (sem_t * s, clockid_t clock, const struct timespec *until), (s, clock, until),
     timeout_at(clock, until))
/* clang-format on */

int hook_sem_trywait(sem_t *s)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();
	int r;

	if (!me) {
		r = real.sem_trywait(s);
		rt_record_sa_r(PLAIT_EV_SEM_TRYWAIT, site, s, r ? errno : 0);
		return r;
	}
	gone_check(me, s, GONE_SEM, "try of", site);
	control_point(me, &(struct control_op){ .kind = PLAIT_EV_SEM_TRYWAIT,
						.site = site,
						.object = s,
						.writes = true,
						.wait = attempt(me, &sem_waiting) });
	gone_check(me, s, GONE_SEM, "try of", site);
	r = control_refused(me) ? EAGAIN : sync_sem_trywait((struct sync_sem *)s);
	if (r)
		control_spin_check(me, site, s, 0);
	else
		control_changed();
	rt_record_sa_r(PLAIT_EV_SEM_TRYWAIT, site, s, r);
	return posix_result(r);
}

int hook_sem_post(sem_t *s)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();
	int r;

	if (!me) {
		rt_record_sa_r(PLAIT_EV_SEM_POST, site, s, 0);
		return real.sem_post(s);
	}
	gone_check(me, s, GONE_SEM, "post of", site);
	control_touch(me, PLAIT_EV_SEM_POST, site, s);
	gone_check(me, s, GONE_SEM, "post of", site);
	r = sync_sem_post((struct sync_sem *)s);
	control_changed();
	rt_record_sa_r(PLAIT_EV_SEM_POST, site, s, r);
	return posix_result(r);
}

int hook_sem_init(sem_t *s, int shared, unsigned value)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();
	int r;

	hook_renews(me, PLAIT_EV_SEM_INIT, site, s);
	r = real.sem_init(s, shared, value);
	if (shared && me)
		control_note(PLAIT_UNCONTROLLED_SHARED);
	rt_record_sa_n(PLAIT_EV_SEM_INIT, site, s, value);
	return r;
}

int hook_sem_destroy(sem_t *s)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (me)
		hook_destroys(me, site, s, GONE_SEM);
	rt_record_sa_n(PLAIT_EV_LOCK_DESTROY, site, s, OBJECT_SEM);
	return me ? 0 : real.sem_destroy(s);
}

/* ---- barriers ---- */

static bool barrier_ready(const struct control_thread *t)
{
	return sync_barrier_passed(t->op.object, (uint32_t)t->op.value);
}

static const struct control_wait barrier_waiting = { "at a barrier", barrier_ready, NULL, 0 };

int hook_pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned n)
{
	uint32_t site = hook_site();

	hook_renews(control_self(), PLAIT_EV_LOCK_INIT, site, b);
	rt_record_sa_n(PLAIT_EV_LOCK_INIT, site, b, OBJECT_BARRIER);
	return real.pthread_barrier_init(b, attr, n);
}

int hook_pthread_barrier_destroy(pthread_barrier_t *b)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (me)
		hook_destroys(me, site, b, GONE_BARRIER);
	rt_record_sa_n(PLAIT_EV_LOCK_DESTROY, site, b, OBJECT_BARRIER);
	return me ? 0 : real.pthread_barrier_destroy(b);
}

int hook_pthread_barrier_wait(pthread_barrier_t *b)
{
	struct control_thread *me = control_self();
	struct sync_barrier *machine = (struct sync_barrier *)b;
	uint32_t site = hook_site(), round;
	bool serial;
	int r;

	if (!me) {
		rt_record_sa_n(PLAIT_EV_BARRIER_WAIT, site, b, machine->count);
		r = real.pthread_barrier_wait(b);
		rt_record_sa_r(PLAIT_EV_BARRIER_LEAVE, site, b, r);
		return r;
	}
	gone_check(me, b, GONE_BARRIER, "wait at", site);
	control_touch(me, PLAIT_EV_BARRIER_WAIT, site, b);
	gone_check(me, b, GONE_BARRIER, "wait at", site);
	serial = sync_barrier_arrive(machine, &round);
	control_changed();
	rt_record_sa_n(PLAIT_EV_BARRIER_WAIT, site, b, machine->count);
	control_point(me, &(struct control_op){ .kind = PLAIT_EV_BARRIER_LEAVE,
						.site = site,
						.object = b,
						.value = round,
						.shared = machine->shared != 0,
						.wait = &barrier_waiting });
	r = serial ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
	rt_record_sa_r(PLAIT_EV_BARRIER_LEAVE, site, b, r);
	return r;
}

/* ---- once ---- */

static bool once_ready(const struct control_thread *t)
{
	return sync_once_ready(t->op.object);
}

static const struct control_wait once_waiting = { "for a once routine", once_ready, NULL, 0 };

static void once_left(void *once)
{
	sync_once_reset(once);
	control_changed();
}

/* Without control: libc decides who runs the routine; our own routine in its place notes that. */
static __thread struct once_call {
	void (*routine)(void);
	pthread_once_t *once;
	uint32_t site;
} once_call;

static void once_routine(void)
{
	struct once_call call = once_call; /* the routine may use another once */

	once_call.routine = NULL;
	rt_record_sa_n(PLAIT_EV_ONCE_BEGIN, call.site, call.once, 0);
	call.routine();
	rt_record_sa_n(PLAIT_EV_ONCE_END, call.site, call.once, 0);
	once_call.routine = NULL;
}

static int once_free(uint32_t site, pthread_once_t *o, void (*routine)(void))
{
	int r;

	if (!rt_writing)
		return real.pthread_once(o, routine);
	once_call = (struct once_call){ routine, o, site };
	r = real.pthread_once(o, once_routine);
	if (once_call.routine) /* nobody took it */
		rt_record_sa_n(PLAIT_EV_ONCE_PASS, site, o, 0);
	once_call.routine = NULL;
	return r;
}

static int once(uint32_t site, pthread_once_t *o, void (*routine)(void))
{
	struct control_thread *me = control_self();
	struct control_op op = {
		.kind = PLAIT_EV_ONCE_BEGIN, .site = site, .object = o, .writes = true
	};

	if (!me)
		return once_free(site, o, routine);
	/* what has been done stays so: no order with others makes a difference */
	if (sync_once_is_done(o) && !control_decision_due()) {
		control_step(me, &op);
	} else {
		op.wait = &once_waiting;
		control_point(me, &op);
	}
	if (!sync_once_begin(o)) {
		rt_record_sa_n(PLAIT_EV_ONCE_PASS, site, o, 0);
		return 0;
	}
	rt_record_sa_n(PLAIT_EV_ONCE_BEGIN, site, o, 0);
	pthread_cleanup_push(once_left, o);
	routine();
	pthread_cleanup_pop(0);
	control_step(
		me, &(struct control_op){
			    .kind = PLAIT_EV_ONCE_END, .site = site, .object = o, .writes = true });
	sync_once_done(o);
	control_changed();
	rt_record_sa_n(PLAIT_EV_ONCE_END, site, o, 0);
	return 0;
}

int hook_pthread_once(pthread_once_t *o, void (*routine)(void))
{
	HOOK_ENTER;
	return once(rt_take_site(), o, routine);
}

void hook_call_once(once_flag *o, void (*routine)(void))
{
	HOOK_ENTER;
	once(rt_take_site(), (pthread_once_t *)o, routine);
}
