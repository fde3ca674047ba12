/* rt/core/last.c - the flight recorder: only the last seconds of each thread are kept.
 *
 * A server runs for weeks, and what led to its crash is wanted. So the event file of a thread is a ring
 * of two: `tNNNNN`, which grows, and `sNNNNN`, the one before. When the first is as old as the user
 * wants to look back, or has MOST bytes, it takes the place of the second, and a new one begins. So
 * between one and two times that many seconds are there at any moment. A thread that writes seldom
 * keeps what it has: that it has been waiting for an hour is news, too.
 *
 * Records are differences to the records before. A new file begins with the thread's memory of them
 * wiped, and so does the reader (trace/seal.c).
 *
 * A thread's place in the table of threads is used again when it ended longer ago than is kept, oldest
 * first. Parents may be gone by then, so threads are named after their number among all births; and so do
 * the records of births and joins, which the reader translates (trace/cursor.c): they may be older than the
 * thread that has the place now. */
#include "rt/core/rt.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#define MOST (32ull << 20)

bool rt_keeps_last;
static int64_t kept_ns;

/* The places of threads that have ended, in the order of their ends. */
static struct {
	int64_t when;
	uint32_t index;
} ended[PLAIT_MAX_THREADS];
static uint32_t first_ended, nended;
static int lock;

static int64_t now_ns(void)
{
	struct timespec now = { 0 };

	rt_syscall(SYS_clock_gettime, CLOCK_MONOTONIC_COARSE, (long)&now, 0, 0, 0, 0);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

void rt_last_init(void)
{
	const char *value = rt_option_value("last");
	int64_t ms = 0;

	for (; value && *value >= '0' && *value <= '9'; value++)
		ms = ms * 10 + *value - '0';
	kept_ns = ms * 1000000;
	rt_keeps_last = ms > 0;
}

/* ---- files ---- */

static void forget_records(struct rt_thread *t)
{
	t->last_site = 0;
	t->last_address = t->last_clock = 0;
}

void rt_last_turn(struct rt_thread *t, bool may_grow)
{
	volatile struct plait_window *w = (volatile void *)t->buffer.window;
	char now[RT_BUFFER_PATH], before[RT_BUFFER_PATH];
	int64_t ns = now_ns();

	if (!t->began_ns)
		t->began_ns = ns;
	if (ns - t->began_ns < kept_ns && t->buffer.written < MOST && may_grow)
		return;
	if (!rt_buffer_path(now, 't', t->index) || !rt_buffer_path(before, 's', t->index) ||
	    rt_syscall(SYS_rename, (long)now, (long)before, 0, 0, 0, 0) < 0)
		return;
	t->buffer.written = w->before = 0;
	t->began_ns = ns;
	forget_records(t);
}

bool rt_last_make_room(struct rt_thread *t)
{
	char before[RT_BUFFER_PATH];

	return rt_buffer_path(before, 's', t->index) &&
	       rt_syscall(SYS_unlink, (long)before, 0, 0, 0, 0, 0) == 0;
}

static void remove_files(uint32_t index)
{
	static const char letters[] = "tsw";
	char path[RT_BUFFER_PATH];

	for (const char *l = letters; *l; l++)
		if (rt_buffer_path(path, *l, index))
			rt_syscall(SYS_unlink, (long)path, 0, 0, 0, 0, 0);
}

/* ---- places of threads ---- */

static void enter(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		rt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

static void leave(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

void rt_last_ended(uint32_t index)
{
	uint32_t at;

	enter();
	at = (first_ended + nended++) % PLAIT_MAX_THREADS;
	ended[at].when = now_ns();
	ended[at].index = index;
	leave();
}

bool rt_last_place(uint32_t *ret)
{
	bool found;

	enter();
	found = nended && now_ns() - ended[first_ended].when > kept_ns;
	if (found) {
		*ret = ended[first_ended].index;
		first_ended = (first_ended + 1) % PLAIT_MAX_THREADS;
		nended--;
	}
	leave();
	if (found) {
		remove_files(*ret);
		memset(&rt_run->threads[*ret], 0, sizeof(rt_run->threads[*ret]));
	}
	return found;
}

void rt_last_born(struct rt_thread *t)
{
	rt_run->threads[t->index].parent = 0;
	rt_run->threads[t->index].ordinal = t->birth;
}
