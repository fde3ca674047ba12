/* rt/control/gate.c - turns, by futex or by swapping fibers.
 *
 * A native thread ends as a fiber does, and its kernel thread leaves by a raw system call. The next
 * thread first waits until that kernel thread is gone, because what the kernel does at its end must
 * come before anything else. */
#include "rt/control/gate.h"

#include "rt/core/rt.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>

static uint32_t leaving; /* kernel id of a thread that is on its way out */
static bool fibers;

void gate_wait_gone(uint32_t tid)
{
	long process = rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);

	while (rt_syscall(SYS_tgkill, process, tid, 0, 0, 0, 0) == 0)
		rt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

void gate_wait_word(uint32_t *word)
{
	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		rt_syscall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
	*word = 0;
}

void gate_set_word(uint32_t *word)
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
	uint32_t tid;

	gate_wait_word(&g->word);
	tid = leaving;
	leaving = 0;
	if (tid)
		gate_wait_gone(tid);
	gate_arrived();
}

/* One processor for all: a hand-over between two would cost ten times as much. */
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

/* ---- the interface ---- */

uint32_t gate_begin(struct gate *g, uint32_t wanted)
{
	leaving = 0;
	fibers = wanted != PLAIT_GATE_FUTEX && fiber_possible();
	g->tid = (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	g->main = true;
	g->native = !fibers;
	g->thread_pointer = (uint64_t)pthread_self();
	if (!fibers)
		pin();
	return fibers ? PLAIT_GATE_FIBER : PLAIT_GATE_FUTEX;
}

void gate_thread(struct gate *g, void *stack_top)
{
	wait_turn(g);
	fiber_enter(g, stack_top);
}

void gate_switch(struct gate *from, struct gate *to)
{
	if (fibers) {
		fiber_swap(from, to);
		return;
	}
	gate_set_word(&to->word);
	wait_turn(from);
}

void gate_leave(struct gate *from, struct gate *to)
{
	if (fibers)
		fiber_swap(from, to);
	leaving = from->main ? 0 : from->tid;
	gate_set_word(&to->word);
	while (!from->main)
		rt_syscall(SYS_exit, 0, 0, 0, 0, 0, 0);
}
