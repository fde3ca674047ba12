/* rt/control/gate.c - turns by futex, and the meeting of fibers with kernel threads.
 *
 * A thread that ends goes on for a while after its last hand-over (libc frees its stack and
 * arena), in a race with whoever runs next. So the next one first waits until the kernel thread
 * is gone: stacks and heap arenas are then reused in the same order in every run.
 *
 * With fibers the carrier is asleep whenever a native thread runs (one that is on its way out).
 * It sleeps on a small stack of its own, in carrier_loop, so that any fiber can be
 * continued when it wakes. */
#include "rt/control/gate.h"

#include "rt/rt.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t leaving; /* kernel id of a thread that is on its way out */
static uint32_t process;
static bool fibers;

static struct gate carrier;	   /* carrier_loop's context, and its turn */
static struct gate *carrier_wakes; /* native thread to let run before the carrier sleeps */
static struct gate *carrier_next;  /* fiber to continue when it wakes */
static char carrier_stack[16384] __attribute__((aligned(16)));

/* ---- turns ---- */

static void wait_gone(void)
{
	uint32_t tid = leaving;

	leaving = 0;
	while (tid && rt_syscall(SYS_tgkill, process, tid, 0, 0, 0, 0) == 0)
		rt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

static void wait_word(uint32_t *word)
{
	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		rt_syscall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
	*word = 0;
}

static void set_word(uint32_t *word)
{
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	rt_syscall(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

/* A place for a debugger to stop at: another thread goes on. */
__attribute__((noinline)) void gate_arrived(void)
{
	__asm__ volatile("" ::: "memory");
}

static void wait_turn(struct gate *g)
{
	wait_word(&g->word);
	wait_gone();
	gate_arrived();
}

/* One processor for all: a hand-over between two would cost ten times as much. With fibers that
 * matters for the beginning and the end of threads. */
static void pin(void)
{
	cpu_set_t set;
	unsigned cpu = 0;

	if (rt_syscall(SYS_getcpu, (long)&cpu, 0, 0, 0, 0, 0) < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	rt_syscall(SYS_sched_setaffinity, 0, sizeof(set), (long)&set, 0, 0, 0);
}

/* ---- the carrier ---- */

static void carrier_loop(void *unused)
{
	(void)unused;
	for (;;) {
		struct gate *wakes = carrier_wakes;

		carrier_wakes = NULL;
		set_word(&wakes->word);
		wait_turn(&carrier);
		fiber_swap(&carrier, carrier_next);
	}
}

/* From a fiber to a native thread. */
static void sleep_carrier(struct gate *from, struct gate *to)
{
	carrier_wakes = to;
	fiber_swap(from, &carrier);
}

static void wake_carrier(struct gate *to)
{
	carrier_next = to;
	set_word(&carrier.word);
}

/* ---- the interface ---- */

uint32_t gate_begin(struct gate *g, uint32_t wanted)
{
	process = (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	leaving = 0;
	fibers = wanted != GATE_FUTEX && fiber_possible();
	g->tid = process;
	g->main = true;
	g->native = !fibers;
	pin();
	if (!fibers)
		return GATE_FUTEX;
	g->thread_pointer = (uint64_t)pthread_self();
	carrier = (struct gate){ .thread_pointer = g->thread_pointer, .body = carrier_loop };
	fiber_prepare(&carrier, carrier_stack + sizeof(carrier_stack));
	return GATE_FIBER;
}

void gate_created(struct gate *g)
{
	if (fibers)
		wait_word(&g->ready);
	else
		g->native = true; /* set here: the creator may go to it at once */
}

/* A kernel thread behind a fiber must never run a signal handler: its stack is the fiber's. */
static void block_signals(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	rt_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)old, 8, 0, 0);
}

void gate_thread(struct gate *g, void (*body)(void *), void *arg)
{
	sigset_t old;

	g->tid = (uint32_t)rt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	if (!fibers) {
		wait_turn(g);
		body(arg);
		return;
	}
	block_signals(&old);
	g->body = body;
	g->arg = arg;
	g->thread_pointer = (uint64_t)pthread_self();
	/* the fiber's stack is the rest of this thread's, below what this one may still use */
	fiber_prepare(g, (char *)__builtin_frame_address(0) - 8192);
	set_word(&g->ready);
	wait_turn(g);
	rt_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, 8, 0, 0);
}

/* The controlled part of a fiber is over: its kernel thread does the rest. */
void fiber_finished(struct gate *g)
{
	g->native = true;
	sleep_carrier(g, g);
	__builtin_unreachable();
}

void gate_switch(struct gate *from, struct gate *to)
{
	if (!from->native && !to->native) {
		fiber_swap(from, to);
	} else if (!from->native) {
		sleep_carrier(from, to);
	} else {
		if (to->native)
			set_word(&to->word);
		else
			wake_carrier(to);
		wait_turn(from);
	}
}

void gate_leave(struct gate *from, struct gate *to)
{
	leaving = from->main ? 0 : from->tid;
	if (!from->native)
		gate_switch(from, to); /* main with fibers: its kernel thread must stay */
	else if (to->native)
		set_word(&to->word);
	else
		wake_carrier(to);
}

/* With fibers main's context was kept: it returns from its gate_leave and ends the process. */
void gate_last(struct gate *from, struct gate *main)
{
	if (!from->native || from->main || main->native)
		return;
	leaving = from->tid;
	wake_carrier(main);
}
