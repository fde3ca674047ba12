/* rt/interpose/time.c - sleeping and clocks. Under control time is virtual: it moves with the events,
 * jumps when everybody sleeps, and runs faster while a program polls it. */
#include "rt/interpose/world.h"
#include "rt/core/rt.h"
#include "rt/interpose/timeout.h"

#include <errno.h>
#include <string.h>

static const struct control_wait sleep_wait = { "in a sleep", never_ready, NULL, 0 };

/* How much was left when a signal handler ended it; 0: nothing. */
static uint64_t sleep_until(struct control_thread *me, uint32_t site, uint64_t until)
{
	uint64_t now = control_now();

	control_point(me, &(struct control_op){ .kind = PLAIT_EV_SLEEP,
						.site = site,
						.wait = &sleep_wait,
						.cancellable = true,
						.signals = CONTROL_ENDS,
						.deadline = until ? until : 1 });
	rt_record_sv(PLAIT_EV_SLEEP, site, until > now ? until - now : 0);
	if (!me->interrupted)
		return 0;
	now = control_now();
	return until > now ? until - now : 1;
}

/* 0, or EINTR with what is left. */
static int slept(uint64_t rest, struct timespec *left)
{
	if (!rest)
		return 0;
	if (left)
		*left = (struct timespec){ .tv_sec = (time_t)(rest / 1000000000ull),
					   .tv_nsec = (long)(rest % 1000000000ull) };
	errno = EINTR;
	return EINTR;
}

int hook_nanosleep(const struct timespec *ts, struct timespec *left)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (!me) {
		rt_record_sv(PLAIT_EV_SLEEP, site, timespec_ns(ts));
		return real.nanosleep(ts, left);
	}
	if (!timespec_valid(ts)) {
		errno = EINVAL;
		return -1;
	}
	return slept(sleep_until(me, site, control_now() + timespec_ns(ts)), left) ? -1 : 0;
}

int hook_clock_nanosleep(clockid_t clock, int flags, const struct timespec *ts,
			 struct timespec *left)
{
	struct control_thread *me = control_self();
	uint32_t site;

	HOOK_ENTER;
	site = rt_take_site();
	if (!me)
		return real.clock_nanosleep(clock, flags, ts, left);
	if (!timespec_valid(ts))
		return EINVAL;
	if (flags & TIMER_ABSTIME)
		return sleep_until(me, site, timeout_at(clock, ts)) ? EINTR : 0;
	return slept(sleep_until(me, site, control_now() + timespec_ns(ts)), left);
}

int hook_usleep(useconds_t us)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (!me) {
		rt_record_sv(PLAIT_EV_SLEEP, site, us * 1000ull);
		return real.usleep(us);
	}
	return slept(sleep_until(me, site, control_now() + us * 1000ull), NULL) ? -1 : 0;
}

unsigned hook_sleep(unsigned s)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (!me) {
		rt_record_sv(PLAIT_EV_SLEEP, site, s * 1000000000ull);
		return real.sleep(s);
	}
	return (unsigned)((sleep_until(me, site, control_now() + s * 1000000000ull) + 500000000) /
			  1000000000);
}

int hook_thrd_sleep(const struct timespec *ts, struct timespec *left)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (!me)
		return real.thrd_sleep(ts, left);
	return slept(sleep_until(me, site, control_now() + timespec_ns(ts)), left) ? -1 : 0;
}

/* ---- clocks ---- */

static void virtual_now(clockid_t clock, struct timespec *ts)
{
	uint64_t now = control_clock_read() + virtual_base(clock);

	ts->tv_sec = (time_t)(now / 1000000000ull);
	ts->tv_nsec = (long)(now % 1000000000ull);
}

/* A child that runs freely sleeps in real time, and needs clocks that agree with that. A parent that
 * was left behind has a clock that goes on from where it was; a child that may take over keeps it. */
static bool is_virtual(void)
{
	return world_is_virtual() && (!control_forked || control_keeps_time());
}

int hook_clock_gettime(clockid_t clock, struct timespec *ts)
{
	HOOK_ENTER;
	plait_call_site = 0;
	if (!is_virtual())
		return real.clock_gettime(clock, ts);
	virtual_now(clock, ts);
	return 0;
}

int hook_timespec_get(struct timespec *ts, int base)
{
	HOOK_ENTER;
	plait_call_site = 0;
	if (!is_virtual() || base != TIME_UTC)
		return real.timespec_get(ts, base);
	virtual_now(CLOCK_REALTIME, ts);
	return base;
}

int hook_gettimeofday(struct timeval *tv, void *zone)
{
	struct timespec ts;

	HOOK_ENTER;
	plait_call_site = 0;
	if (!is_virtual())
		return real.gettimeofday(tv, zone);
	virtual_now(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

time_t hook_time(time_t *ret)
{
	struct timespec ts;

	HOOK_ENTER;
	plait_call_site = 0;
	if (!is_virtual())
		return real.time(ret);
	virtual_now(CLOCK_REALTIME, &ts);
	if (ret)
		*ret = ts.tv_sec;
	return ts.tv_sec;
}

/* ---- processor time: all of the time that passes ---- */

clock_t hook_clock(void)
{
	HOOK_ENTER;
	plait_call_site = 0;
	return is_virtual() ? (clock_t)(control_clock_read() * CLOCKS_PER_SEC / 1000000000ull)
			    : real.clock();
}

clock_t hook_times(struct tms *ret)
{
	uint64_t ticks;

	HOOK_ENTER;
	plait_call_site = 0;
	if (!is_virtual())
		return real.times(ret);
	ticks = control_clock_read() / 10000000;
	if (ret)
		*ret = (struct tms){ .tms_utime = (clock_t)ticks };
	return (clock_t)(VIRTUAL_MONOTONIC / 10000000 + ticks);
}

/* What else the kernel counts (page faults, memory) differs from run to run: none of it. */
int hook_getrusage(__rusage_who_t who, struct rusage *ret)
{
	uint64_t now;

	HOOK_ENTER;
	plait_call_site = 0;
	if (!is_virtual() || !ret)
		return real.getrusage(who, ret);
	memset(ret, 0, sizeof(*ret));
	now = control_clock_read();
	if (who != RUSAGE_CHILDREN)
		ret->ru_utime = (struct timeval){ .tv_sec = (time_t)(now / 1000000000ull),
						  .tv_usec = (long)(now % 1000000000ull / 1000) };
	return 0;
}

/* rdtsc of code built by `unplait cc': 1 GHz. */
uint64_t plait_tsc(void)
{
	return is_virtual() ? VIRTUAL_MONOTONIC + control_clock_read() : __builtin_ia32_rdtsc();
}

/* ---- where it runs ---- */

int hook_sched_getcpu(void)
{
	HOOK_ENTER;
	plait_call_site = 0;
	return world_is_virtual() ? 0 : real.sched_getcpu();
}

int hook_getcpu(unsigned *cpu, unsigned *node)
{
	HOOK_ENTER;
	plait_call_site = 0;
	if (!world_is_virtual())
		return real.getcpu(cpu, node);
	if (cpu)
		*cpu = 0;
	if (node)
		*node = 0;
	return 0;
}

int hook_getloadavg(double *loads, int n)
{
	HOOK_ENTER;
	plait_call_site = 0;
	if (!world_is_virtual())
		return real.getloadavg(loads, n);
	for (int i = 0; i < n && i < 3; i++)
		loads[i] = 1;
	return n < 3 ? n : 3;
}

/* What the machine has stays; how much of it is in use does not. */
int hook_sysinfo(struct sysinfo *ret)
{
	int r;

	HOOK_ENTER;
	plait_call_site = 0;
	r = real.sysinfo(ret);
	if (r < 0 || !world_is_virtual())
		return r;
	ret->uptime = (long)((VIRTUAL_MONOTONIC + control_now()) / 1000000000ull);
	memset(ret->loads, 0, sizeof(ret->loads));
	ret->freeram = ret->totalram / 2;
	ret->sharedram = ret->bufferram = 0;
	ret->freeswap = ret->totalswap;
	ret->procs = 100;
	return 0;
}
