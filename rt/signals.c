/* rt/signals.c - signals from thread to thread, under control.
 *
 * With fibers the kernel knows one thread, so what one thread sends another is modelled: it is
 * pending at the receiver until that is chosen at a scheduling point, not blocked by its mask, and
 * then its handler runs before anything else does. A thread with such a signal is ready, whatever
 * it waits for; after the handler it goes on waiting, as with SA_RESTART. When it happens is
 * thus a matter of the schedule, and repeats with it.
 *
 * Inside a handler nothing is a scheduling point. Signals that come from outside, or from kill and
 * timers, go to the carrier as the kernel sees fit; a handler that runs that way is noted. */
#include "rt/control/control.h"
#include "rt/interpose.h"
#include "rt/rt.h"
#include "rt/timeout.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static uint64_t bit_of(int number)
{
	return 1ull << (number - 1);
}

static uint64_t bits_of(const sigset_t *set)
{
	uint64_t bits;

	memcpy(&bits, set, sizeof(bits));
	return bits;
}

/* ---- delivery ---- */

static void deliver(struct control_thread *me, int number)
{
	struct sigaction action;
	siginfo_t info = { .si_signo = number, .si_code = SI_TKILL };
	uint64_t mask = me->signal_mask;
	ucontext_t context;

	if (!signal_handler(number, &action))
		return;
	memset(&context, 0, sizeof(context));
	info.si_pid = getpid();
	me->signal_mask |= bits_of(&action.sa_mask);
	if (!(action.sa_flags & SA_NODEFER))
		me->signal_mask |= bit_of(number);
	signal_run(number, &info, &context);
	me->signal_mask = mask;
}

bool signals_deliver(struct control_thread *me)
{
	uint64_t due = me->signals & ~me->signal_mask;
	int number = due ? __builtin_ctzll(due) + 1 : 0;

	if (!number)
		return false;
	me->signals &= ~bit_of(number);
	control_changed();
	deliver(me, number);
	return true;
}

/* ---- sending ---- */

static int send_signal(struct control_thread *t, int number)
{
	struct sigaction action;

	if (number < 0 || number >= _NSIG)
		return EINVAL;
	if (number == 0)
		return 0;
	control_changed();
	if (signal_handler(number, &action) || (t->signal_mask & bit_of(number))) {
		t->signals |= bit_of(number);
		return 0;
	}
	/* the default action is the whole process's */
	return (int)-rt_syscall(SYS_kill, rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), number, 0, 0, 0,
				0);
}

int hook_pthread_kill(pthread_t handle, int number)
{
	struct control_thread *me = control_self(), *t;
	uint32_t site;
	int r;

	HOOK_ENTER;
	site = rt_take_site();
	t = me ? control_thread_find(handle) : NULL;
	if (!t)
		return real.pthread_kill(handle, number);
	control_point(me,
		      &(struct control_op){
			      .kind = PLAIT_EV_INPUT, .site = site, .object = t, .writes = true });
	if (t->ended)
		return ESRCH;
	r = send_signal(t, number);
	while (t == me && signals_deliver(me))
		;
	return r;
}

int hook_raise(int number)
{
	struct control_thread *me = control_self();
	struct sigaction action;

	HOOK_ENTER;
	plait_call_site = 0;
	if (!me || number <= 0 || number >= _NSIG || !signal_handler(number, &action))
		return real.raise(number);
	me->signals |= bit_of(number);
	while (signals_deliver(me))
		;
	return 0;
}

/* ---- masks ---- */

/* The kernel's mask is the carrier's: it follows whoever changed his last, which is right for
 * programs that block a signal everywhere. */
static int change_mask(struct control_thread *me, int how, const sigset_t *set, sigset_t *old)
{
	uint64_t before = me->signal_mask, bits = set ? bits_of(set) : 0;
	sigset_t kernel;
	int r;

	if (set) {
		kernel = *set;
		if (how != SIG_UNBLOCK)
			sigdelset(&kernel, PLAIT_NUDGE);
	}
	r = real.pthread_sigmask(how, set ? &kernel : NULL, NULL);

	if (r)
		return r;
	if (old) {
		sigemptyset(old);
		memcpy(old, &before, sizeof(before));
	}
	if (set && how == SIG_BLOCK)
		me->signal_mask |= bits;
	else if (set && how == SIG_UNBLOCK)
		me->signal_mask &= ~bits;
	else if (set)
		me->signal_mask = bits;
	while (signals_deliver(me))
		;
	return 0;
}

int hook_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	struct control_thread *me = control_self();

	HOOK_ENTER;
	return me ? change_mask(me, how, set, old) : real.pthread_sigmask(how, set, old);
}

int hook_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	struct control_thread *me = control_self();
	int r;

	HOOK_ENTER;
	if (!me)
		return real.sigprocmask(how, set, old);
	r = change_mask(me, how, set, old);
	if (!r)
		return 0;
	errno = r;
	return -1;
}

/* ---- waiting for one ---- */

static bool signal_pending(const struct control_thread *t)
{
	uint64_t pending = 0, wanted = bits_of(t->op.object2);

	rt_syscall(SYS_rt_sigpending, (long)&pending, 8, 0, 0, 0, 0);
	return (pending | t->signals) & wanted;
}

static const struct control_wait signal_wait = { "for a signal", signal_pending, NULL, false };

/* The number of a signal that another thread has sent; 0: the kernel has one, or none came. */
static int await_signal(struct control_thread *me, uint32_t site, const sigset_t *set,
			uint64_t deadline)
{
	uint64_t own;
	int number;

	control_point(me, &(struct control_op){ .kind = PLAIT_EV_INPUT,
						.site = site,
						.object2 = set,
						.wait = &signal_wait,
						.deadline = deadline,
						.cancellable = true });
	own = me->signals & bits_of(set);
	if (!own)
		return 0;
	number = __builtin_ctzll(own) + 1;
	me->signals &= ~bit_of(number);
	return number;
}

int hook_sigwait(const sigset_t *set, int *number)
{
	struct control_thread *me = control_self();
	uint32_t site;
	int got = 0;

	HOOK_ENTER;
	site = rt_take_site();
	if (me)
		got = await_signal(me, site, set, CONTROL_NEVER);
	if (!got)
		return real.sigwait(set, number);
	*number = got;
	return 0;
}

static int sent_by_thread(int number, siginfo_t *info)
{
	if (info)
		*info = (siginfo_t){ .si_signo = number, .si_code = SI_TKILL };
	return number;
}

int hook_sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	struct control_thread *me = control_self();
	uint32_t site;
	int got = 0;

	HOOK_ENTER;
	site = rt_take_site();
	if (me)
		got = await_signal(me, site, set, CONTROL_NEVER);
	return got ? sent_by_thread(got, info) : real.sigwaitinfo(set, info);
}

int hook_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	struct control_thread *me = control_self();
	struct timespec zero = { 0 };
	uint32_t site;
	int got;

	HOOK_ENTER;
	site = rt_take_site();
	if (!me)
		return real.sigtimedwait(set, info, timeout);
	got = await_signal(me, site, set,
			   timeout ? control_now() + timespec_ns(timeout) : CONTROL_NEVER);
	return got ? sent_by_thread(got, info) : real.sigtimedwait(set, info, &zero);
}
