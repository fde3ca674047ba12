/* rt/control/away.c - a thread that does not come back from code we do not see.
 *
 * The tool nudges a run that makes no step for a while, by a signal. The handler runs on the stack of
 * the thread that does not come back, and lets another thread go on. Without it, a spinlock in a
 * library that was not rebuilt, or a loop without a shared access, would keep the only processor,
 * and what the loop waits for could never happen. The thread counts as spinning until somebody
 * writes, and resumes inside the handler. The decision is recorded like any other: on replay, the
 * nudge at the same step does the same.
 *
 * Some waits of that kind are known: OpenMP's runtime waits for tasks by looking for them again and again
 * (rt/modes/ompt.c). A thread that says so is nudged by a timer of its own, soon, and nothing about it
 * is out of control: such a loop ends only when somebody else has done something.
 *
 * The interrupted code may hold a lock of libc. Another thread that wants this lock waits in the
 * kernel; it is nudged in turn, and the first one goes on. */
#include "rt/control/again.h"
#include "rt/control/engine.h"
#include "rt/core/real.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

/* The carrier's mask is everybody's, and this handler may wait for long. */
static void others_may_be_nudged(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, PLAIT_NUDGE);
	real.pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void on_nudge(int number, siginfo_t *info, void *context)
{
	const ucontext_t *c = context;
	struct rt_thread *t = rt_self_;
	/* a frame for code that walks the stack, with something like a return address */
	uint64_t here[2] = { (uint64_t)c->uc_mcontext.gregs[REG_RBP],
			     (uint64_t)c->uc_mcontext.gregs[REG_RIP] + 1 };
	struct control_thread *me = t ? t->control : NULL;
	bool known = info->si_code == SI_TIMER;
	int saved = errno;

	(void)number;
	if (!control_active || !me || t->depth || t->in_signal ||
	    (known ? !me->waits_outside : rt_steps != control.area->nudge_step))
		return; /* it is with us, or has moved */
	me->frame = here;
	if (control.area->nudge_last && !known)
		control_hang("no end in real time, and no step for a while");
	again_give_up(); /* what it was doing is none of ours */
	t->depth++;	 /* a second nudge on the heels of this one is not for us */
	others_may_be_nudged();
	control_away(me, known);
	t->depth--;
	errno = saved;
}

/* ---- waits that are known ---- */

enum { WAIT_NS = 2000000 }; /* of processor time */

static void set_timer(long ns)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = PLAIT_NUDGE };
	struct itimerspec when = { { 0, ns }, { 0, ns } };
	static int timer = -1; /* this process's */
	static uint32_t owner;

	if (owner != control.area->pid) {
		timer = -1;
		owner = control.area->pid;
		if (rt_syscall(SYS_timer_create, CLOCK_PROCESS_CPUTIME_ID, (long)&event,
			       (long)&timer, 0, 0, 0) != 0)
			timer = -1;
	}
	if (timer >= 0)
		rt_syscall(SYS_timer_settime, timer, 0, (long)&when, 0, 0, 0);
}

void control_waits_outside(bool begins)
{
	struct control_thread *me = control_self();

	if (!me || control.area->gate_used != PLAIT_GATE_FIBER || me->waits_outside == begins)
		return;
	me->waits_outside = begins;
	control.waits_outside += begins ? 1 : -1;
	if (control.waits_outside == (begins ? 1 : 0))
		set_timer(begins ? WAIT_NS : 0);
}

void away_init(void)
{
	struct sigaction action = { .sa_sigaction = on_nudge, .sa_flags = SA_SIGINFO | SA_RESTART };

	sigemptyset(&action.sa_mask);
	real.sigaction(PLAIT_NUDGE, &action, NULL);
}
