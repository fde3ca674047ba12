/* rt/interpose/timers.c - alarms and timers in virtual time.
 *
 * One thread of our own stands for all of them. It sleeps until the earliest expires; choosing it
 * makes the timer expire. So a timer strikes by a decision like any other: not before its time
 * (unless waits may end early in this run), at any point after it, and at once when nobody else can
 * go on. The first timer that is set makes this thread.
 *
 * A timer that sends a signal makes it pending at the process (signals.c); SIGEV_THREAD makes a
 * thread, as in libc; a timerfd is an eventfd here, which counts expirations in just the same way.
 *
 * A signal that would only end the process is a watchdog. It strikes when its time has really
 * passed, but it is no way to go on: threads that wait for each other under an alarm are a
 * deadlock. */
#include "rt/interpose/controlled.h"
#include "rt/interpose/timeout.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>

enum {
	INTERVALS = 3, /* the first are setitimer's */
	TIMERS = 256,
	FIRST_ID = 0x7000, /* so that none of the kernel's is taken for one of ours */
	CALLS = 256,
	IDLE_MAX = 1000,
	REST = 16, /* steps of others before a timer that begins again may strike early */
};

static struct timer {
	bool used;
	clockid_t clock;
	uint64_t deadline; /* 0: not running */
	uint64_t interval; /* 0: once */
	int notify;	   /* SIGEV_... */
	int number;
	union sigval value;
	void (*function)(union sigval);
	pid_t tid;
	int fd; /* + 1; 0: none */
	int overrun;
} timers[TIMERS];

/* What threads of SIGEV_THREAD are to do; a timer may be gone when they begin. */
static struct call {
	void (*function)(union sigval);
	union sigval value;
} calls[CALLS];
static uint32_t ncalls;
static uint64_t struck; /* rt_steps when a timer struck the last time */

void timers_reset(void)
{
	static const int numbers[INTERVALS] = { SIGALRM, SIGVTALRM, SIGPROF };
	int i;

	memset(timers, 0, sizeof(timers));
	for (i = 0; i < INTERVALS; i++)
		timers[i] = (struct timer){ .used = true,
					    .clock = CLOCK_MONOTONIC,
					    .notify = SIGEV_SIGNAL,
					    .number = numbers[i] };
	control_timers = NULL;
	struck = 0;
}

bool timers_patient(void)
{
	size_t i;

	for (i = 0; i < TIMERS; i++)
		if (timers[i].deadline && (timers[i].fd || timers[i].notify != SIGEV_SIGNAL ||
					   !signals_lethal(timers[i].number)))
			return false;
	return true;
}

/* Does it run, and strike by itself? In a replay of mode sync the log says when handlers ran. */
static bool strikes(const struct timer *t)
{
	struct sigaction action;

	if (!t->deadline || t->notify == SIGEV_NONE)
		return false;
	return !control_log || t->fd || t->notify == SIGEV_THREAD ||
	       !handlers_find(t->number, &action);
}

static uint64_t earliest(void)
{
	uint64_t first = CONTROL_NEVER;
	size_t i;

	for (i = 0; i < TIMERS; i++)
		if (strikes(&timers[i]) && timers[i].deadline < first)
			first = timers[i].deadline;
	return first;
}

bool timers_periodic(void)
{
	uint64_t first = earliest();
	size_t i;

	for (i = 0; i < TIMERS; i++)
		if (timers[i].deadline == first && timers[i].interval)
			return true;
	return false;
}

bool timers_rested(void)
{
	return rt_steps >= struck + REST;
}

/* ---- the thread ---- */

static const struct control_wait timer_wait = { "for a timer", never_ready, NULL, 0 };

static void *call(void *arg)
{
	const struct call c = *(struct call *)arg;

	c.function(c.value);
	return NULL;
}

static void notify(struct timer *t, uint64_t times)
{
	struct call *c;
	pthread_t handle;

	rt_record_sa_n(PLAIT_EV_ACQUIRE, 0, SIGNALS_MESSAGE, 0);
	if (t->fd) {
		rt_syscall(SYS_write, t->fd - 1, (long)&times, sizeof(times), 0, 0, 0);
		io_done();
		control_changed();
	} else if (t->notify == SIGEV_SIGNAL) {
		signals_send(NULL, t->number, t < timers + INTERVALS ? SI_KERNEL : SI_TIMER,
			     t->value);
	} else if (t->notify == SIGEV_THREAD_ID && signals_thread(t->tid)) {
		signals_send(signals_thread(t->tid), t->number, SI_TIMER, t->value);
	} else if (t->notify == SIGEV_THREAD) {
		c = &calls[ncalls++ % CALLS];
		*c = (struct call){ t->function, t->value };
		if (hook_pthread_create(&handle, NULL, call, c) == 0)
			hook_pthread_detach(handle);
	}
}

static void expire_due(void)
{
	uint64_t now = control_now(), missed;
	size_t i;

	for (i = 0; i < TIMERS; i++) {
		struct timer *t = &timers[i];

		if (!strikes(t) || t->deadline > now)
			continue;
		missed = t->interval ? (now - t->deadline) / t->interval : 0;
		t->overrun = (int)missed;
		t->deadline = t->interval ? t->deadline + (missed + 1) * t->interval : 0;
		notify(t, missed + 1);
	}
}

/* A timer that goes on for ever hides that nobody else does. */
static bool alone(void)
{
	static uint64_t steps, idle;

	idle = rt_steps == steps + 1 ? idle + 1 : 0;
	steps = rt_steps;
	return idle > IDLE_MAX;
}

static void *timers_main(void *arg)
{
	struct control_thread *me = control_self();

	for (;;) {
		control_point(me, &(struct control_op){ .kind = PLAIT_EV_SLEEP,
							.wait = &timer_wait,
							.deadline = earliest() });
		rt_record_sv(PLAIT_EV_SLEEP, 0, 0);
		if (alone())
			control_deadlock();
		struck = rt_steps;
		expire_due();
	}
	return arg;
}

/* ---- setting and asking ---- */

/* Modelled: also in handlers of signals from outside, where nothing may be chosen. */
static bool modelled(void)
{
	return control_active && rt_self_ && rt_self_->control;
}

static uint64_t timeval_ns(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000000000ull + (uint64_t)tv->tv_usec * 1000ull;
}

static struct timespec ns_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000ull),
				  .tv_nsec = (long)(ns % 1000000000ull) };
}

static struct timeval ns_timeval(uint64_t ns)
{
	return (struct timeval){ .tv_sec = (time_t)(ns / 1000000000ull),
				 .tv_usec = (suseconds_t)(ns % 1000000000ull / 1000) };
}

static uint64_t left(const struct timer *t)
{
	uint64_t now = control_now();

	return !t->deadline ? 0 : t->deadline > now ? t->deadline - now : 1;
}

static struct itimerspec spec_of(const struct timer *t)
{
	return (struct itimerspec){ .it_value = ns_timespec(left(t)),
				    .it_interval = ns_timespec(t->interval) };
}

static void set(struct timer *t, uint64_t deadline, uint64_t interval)
{
	struct control_thread *me = control_self();

	t->deadline = deadline;
	t->interval = interval;
	t->overrun = 0;
	control_changed();
	rt_record_sa_n(PLAIT_EV_RELEASE, 0, SIGNALS_MESSAGE, 0);
	if (!control_timers && deadline && me)
		control_timers = threads_new_own(me, timers_main);
	if (control_timers && control_timers->op.wait == &timer_wait)
		control_timers->op.deadline = earliest();
}

static void set_spec(struct timer *t, bool absolute, const struct itimerspec *spec,
		     struct itimerspec *old)
{
	uint64_t value = timespec_ns(&spec->it_value);

	if (old)
		*old = spec_of(t);
	set(t,
	    !value     ? 0
	    : absolute ? timeout_at(t->clock, &spec->it_value)
		       : control_now() + value,
	    timespec_ns(&spec->it_interval));
}

static bool spec_valid(const struct itimerspec *spec)
{
	return spec && timespec_valid(&spec->it_value) && timespec_valid(&spec->it_interval) &&
	       spec->it_value.tv_sec >= 0 && spec->it_interval.tv_sec >= 0;
}

static struct timer *new_timer(void)
{
	size_t i;

	for (i = INTERVALS; i < TIMERS; i++)
		if (!timers[i].used)
			return &timers[i];
	return NULL;
}

/* ---- alarm, setitimer ---- */

unsigned hook_alarm(unsigned seconds)
{
	uint64_t rest;

	HOOK_ENTER;
	if (!modelled())
		return real.alarm(seconds);
	rest = left(&timers[ITIMER_REAL]);
	set(&timers[ITIMER_REAL], seconds ? control_now() + seconds * 1000000000ull : 0, 0);
	return (unsigned)((rest + 999999999) / 1000000000);
}

useconds_t hook_ualarm(useconds_t value, useconds_t interval)
{
	uint64_t rest;

	HOOK_ENTER;
	if (!modelled())
		return real.ualarm(value, interval);
	rest = left(&timers[ITIMER_REAL]);
	set(&timers[ITIMER_REAL], value ? control_now() + value * 1000ull : 0, interval * 1000ull);
	return (useconds_t)(rest / 1000);
}

int hook_getitimer(__itimer_which_t which, struct itimerval *ret)
{
	HOOK_ENTER;
	if (!modelled() || (int)which < 0 || (int)which >= INTERVALS)
		return real.getitimer(which, ret);
	ret->it_value = ns_timeval(left(&timers[which]));
	ret->it_interval = ns_timeval(timers[which].interval);
	return 0;
}

int hook_setitimer(__itimer_which_t which, const struct itimerval *value, struct itimerval *old)
{
	uint64_t ns;

	HOOK_ENTER;
	if (!modelled() || (int)which < 0 || (int)which >= INTERVALS)
		return real.setitimer(which, value, old);
	if (old)
		hook_getitimer(which, old);
	ns = value ? timeval_ns(&value->it_value) : 0;
	set(&timers[which], ns ? control_now() + ns : 0,
	    value ? timeval_ns(&value->it_interval) : 0);
	return 0;
}

/* ---- timer_create ---- */

static struct timer *find(timer_t id)
{
	uintptr_t i = (uintptr_t)id - FIRST_ID;

	return modelled() && i < TIMERS && timers[i].used ? &timers[i] : NULL;
}

int hook_timer_create(clockid_t clock, struct sigevent *event, timer_t *ret)
{
	struct timer *t;

	HOOK_ENTER;
	if (!modelled())
		return real.timer_create(clock, event, ret);
	t = new_timer();
	if (!t)
		return posix_result(EAGAIN);
	*ret = (timer_t)(uintptr_t)(FIRST_ID + (t - timers));
	*t = (struct timer){ .used = true,
			     .clock = clock,
			     .notify = SIGEV_SIGNAL,
			     .number = SIGALRM,
			     .value.sival_ptr = *ret };
	if (!event)
		return 0;
	t->notify = event->sigev_notify;
	t->number = event->sigev_signo;
	t->value = event->sigev_value;
	t->function = event->sigev_notify_function;
	if (t->notify == SIGEV_THREAD_ID)
		t->tid = event->_sigev_un._tid;
	if ((t->notify == SIGEV_SIGNAL || t->notify == SIGEV_THREAD_ID) &&
	    (t->number <= 0 || t->number >= _NSIG)) {
		t->used = false;
		return posix_result(EINVAL);
	}
	return 0;
}

int hook_timer_settime(timer_t id, int flags, const struct itimerspec *spec, struct itimerspec *old)
{
	struct timer *t = find(id);

	HOOK_ENTER;
	if (!t)
		return real.timer_settime(id, flags, spec, old);
	if (!spec_valid(spec))
		return posix_result(EINVAL);
	set_spec(t, flags & TIMER_ABSTIME, spec, old);
	return 0;
}

int hook_timer_gettime(timer_t id, struct itimerspec *ret)
{
	struct timer *t = find(id);

	HOOK_ENTER;
	if (!t)
		return real.timer_gettime(id, ret);
	*ret = spec_of(t);
	return 0;
}

int hook_timer_getoverrun(timer_t id)
{
	struct timer *t = find(id);

	HOOK_ENTER;
	return t ? t->overrun : real.timer_getoverrun(id);
}

int hook_timer_delete(timer_t id)
{
	struct timer *t = find(id);

	HOOK_ENTER;
	if (!t)
		return real.timer_delete(id);
	set(t, 0, 0);
	t->used = false;
	return 0;
}

/* ---- timerfd ---- */

static struct timer *find_fd(int fd)
{
	size_t i;

	for (i = INTERVALS; modelled() && i < TIMERS; i++)
		if (timers[i].used && timers[i].fd == fd + 1)
			return &timers[i];
	return NULL;
}

int hook_timerfd_create(int clock, int flags)
{
	struct timer *t, *stale;
	int fd;

	HOOK_ENTER;
	if (!modelled())
		return real.timerfd_create(clock, flags);
	fd = hook_eventfd(0, flags); /* the flags have the same values */
	if (fd < 0)
		return fd;
	stale = find_fd(fd); /* closed behind our back */
	if (stale)
		stale->used = false;
	t = new_timer();
	if (!t) {
		real.close(fd);
		return posix_result(EMFILE);
	}
	*t = (struct timer){ .used = true, .clock = clock, .fd = fd + 1 };
	return fd;
}

static void drain(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t count;

	if (rt_syscall(SYS_poll, (long)&p, 1, 0, 0, 0, 0) == 1)
		rt_syscall(SYS_read, fd, (long)&count, sizeof(count), 0, 0, 0);
}

int hook_timerfd_settime(int fd, int flags, const struct itimerspec *spec, struct itimerspec *old)
{
	struct timer *t = find_fd(fd);

	HOOK_ENTER;
	if (!t)
		return real.timerfd_settime(fd, flags, spec, old);
	if (!spec_valid(spec))
		return posix_result(EINVAL);
	drain(fd);
	set_spec(t, flags & TFD_TIMER_ABSTIME, spec, old);
	return 0;
}

int hook_timerfd_gettime(int fd, struct itimerspec *ret)
{
	struct timer *t = find_fd(fd);

	HOOK_ENTER;
	if (!t)
		return real.timerfd_gettime(fd, ret);
	*ret = spec_of(t);
	return 0;
}

void timers_closed(int fd)
{
	struct timer *t = find_fd(fd);

	if (!t)
		return;
	set(t, 0, 0);
	t->used = false;
}
