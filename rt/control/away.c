/* rt/control/away.c - a thread that does not come back from code we do not see.
 *
 * The tool nudges a run that makes no step for a while, by a signal. The handler runs on the stack of
 * the thread that does not come back, and lets another thread go on. Without it, a spinlock in a
 * library that was not rebuilt, or a loop without a shared access, would keep the only processor,
 * and what the loop waits for could never happen. The thread counts as spinning until somebody
 * writes, and resumes inside the handler. The decision is recorded like any other: on replay, the
 * nudge at the same step does the same.
 *
 * The interrupted code may hold a lock of libc. Another thread that wants this lock waits in the
 * kernel; it is nudged in turn, and the first one goes on. */
#include "rt/control/again.h"
#include "rt/control/engine.h"
#include "rt/core/real.h"

#include <errno.h>
#include <signal.h>
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
	int saved = errno;

	(void)number;
	(void)info;
	if (!control_active || !me || t->depth || t->in_signal ||
	    rt_steps != control.area->nudge_step)
		return; /* it is with us, or has moved */
	me->frame = here;
	if (control.area->nudge_last)
		control_hang("no end in real time, and no step for a while");
	again_give_up(); /* what it was doing is none of ours */
	t->depth++;	 /* a second nudge on the heels of this one is not for us */
	others_may_be_nudged();
	control_away(me);
	t->depth--;
	errno = saved;
}

void away_init(void)
{
	struct sigaction action = { .sa_sigaction = on_nudge, .sa_flags = SA_SIGINFO | SA_RESTART };

	sigemptyset(&action.sa_mask);
	real.sigaction(PLAIT_NUDGE, &action, NULL);
}
