/* rt/control/gate.c - hand-over by futex: every thread is a kernel thread that waits for its turn.
 *
 * A thread that ends goes on for a while after its last hand-over (libc frees its stack and
 * arena), in a race with whoever runs next. So the next one first waits until the kernel thread
 * is gone: stacks and heap arenas are then reused in the same order in every run. */
#include "rt/control/gate.h"

#include "rt/rt.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t leaving; /* kernel id of a thread that is on its way out */
static uint32_t process;

static void wait_gone(void)
{
	uint32_t tid = leaving;

	leaving = 0;
	while (tid && rt_syscall(SYS_tgkill, process, tid, 0, 0, 0, 0) == 0)
		rt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

static void wait_turn(struct gate *g)
{
	while (!__atomic_load_n(&g->word, __ATOMIC_ACQUIRE))
		rt_syscall(SYS_futex, (long)&g->word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
	g->word = 0;
	wait_gone();
}

static void give_turn(struct gate *g)
{
	__atomic_store_n(&g->word, 1, __ATOMIC_RELEASE);
	rt_syscall(SYS_futex, (long)&g->word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

uint32_t gate_begin(struct gate *g, uint32_t wanted)
{
	(void)wanted;
	process = (uint32_t)rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	leaving = 0;
	g->tid = process;
	g->main = true;
	return GATE_FUTEX;
}

void gate_first(struct gate *g)
{
	g->tid = (uint32_t)rt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	wait_turn(g);
}

void gate_switch(struct gate *from, struct gate *to)
{
	give_turn(to);
	wait_turn(from);
}

void gate_leave(struct gate *from, struct gate *to)
{
	leaving = from->main ? 0 : from->tid;
	give_turn(to);
}
