/* rt/interpose/handlers.c - the target's signal handlers, marked as such.
 *
 * A handler that the target installs is called through on_signal, which records SIGNAL_ENTER and
 * SIGNAL_LEAVE around it. What the target asks back is what it installed: our wrapper and the
 * handlers of failure.c are never shown. Where the target restores the default action of a fatal
 * signal, the failure handler takes its place again.
 *
 * A handler may leave by longjmp; the jump says that the handler is over. If it interrupted
 * libplait in the middle of a record, that thread's later events are lost (and counted): the record
 * cannot be finished. */
#include "rt/interpose/controlled.h"
#include "rt/core/rt.h"

#include <errno.h>
#include <setjmp.h>
#include <string.h>

static struct sigaction installed[_NSIG]; /* by the target */
static bool known[_NSIG];
static int lock;
uint64_t handlers_outside;

void handlers_run(int number, siginfo_t *info, void *context, bool from_outside)
{
	struct rt_thread *t = rt_self_;
	bool outer = t && t->in_signal;
	struct rt_values values;
	struct plait_values place;
	void (*handler)(int, siginfo_t *, void *) =
		__atomic_load_n(&installed[number].sa_sigaction, __ATOMIC_ACQUIRE);

	if (t) {
		t->in_signal = outer || from_outside;
		rt_values_interrupted(t, &values, &place);
		rt_record_number(PLAIT_EV_SIGNAL_ENTER, (uint64_t)number);
		if (control_active)
			rt_record_sa_n(PLAIT_EV_ACQUIRE, 0, SIGNALS_MESSAGE, 0);
	}
	handler(number, info, context);
	if (t) {
		rt_record_number(PLAIT_EV_SIGNAL_LEAVE, (uint64_t)number);
		rt_values_resumed(t, &values, &place);
		t->in_signal = outer;
	}
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	if (control_active)
		control_note(PLAIT_UNCONTROLLED_SIGNAL);
	if (rt_on_signal)
		rt_on_signal(number);
	handlers_run(number, info, context, true);
	handlers_outside++;
}

static void take_lock(sigset_t *saved)
{
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, SIGSYS); /* how control/again-calls.c sees the call that follows */
	real.pthread_sigmask(SIG_SETMASK, &all, saved);
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		real.sched_yield();
}

static void drop_lock(const sigset_t *saved)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	real.pthread_sigmask(SIG_SETMASK, saved, NULL);
}

static bool is_default(const struct sigaction *a)
{
	return !(a->sa_flags & SA_SIGINFO) && a->sa_handler == SIG_DFL;
}

static bool is_ignore(const struct sigaction *a)
{
	return !(a->sa_flags & SA_SIGINFO) && a->sa_handler == SIG_IGN;
}

bool handlers_find(int number, struct sigaction *ret)
{
	*ret = installed[number];
	return known[number] && !is_default(ret) && !is_ignore(ret);
}

bool handlers_ignored(int number)
{
	return known[number] && is_ignore(&installed[number]);
}

/* What really goes to the kernel when the target asks for `wanted`. */
static struct sigaction translate(int number, const struct sigaction *wanted)
{
	struct sigaction a = *wanted;

	if (is_default(wanted)) {
		if (rt_failure_signal(number))
			rt_failure_action(&a);
	} else if (!is_ignore(wanted)) {
		a.sa_sigaction = on_signal;
		a.sa_flags |= SA_SIGINFO;
	}
	return a;
}

int hook_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction now, before, shown;
	sigset_t saved;
	bool ours;
	int r;

	HOOK_ENTER;
	if (number <= 0 || number >= _NSIG || rt_mode == PLAIT_MODE_OFF)
		return real.sigaction(number, action, old);
	take_lock(&saved);
	ours = known[number] || rt_failure_signal(number);
	shown = installed[number]; /* zero is the default action */
	if (action && !is_default(action) && !is_ignore(action))
		installed[number] = *action;
	if (action)
		now = translate(number, action);
	if (control_active && number == PLAIT_NUDGE) { /* ours meanwhile */
		before = shown;
		r = 0;
	} else {
		r = real.sigaction(number, action ? &now : NULL, &before);
	}
	if (r == 0 && old)
		*old = ours ? shown : before;
	if (r == 0 && action) {
		installed[number] = *action;
		known[number] = true;
	}
	drop_lock(&saved);
	return r;
}

__sighandler_t hook_signal(int number, __sighandler_t handler)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;

	HOOK_ENTER;
	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, number);
	return hook_sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

static void leave_handler(const struct __jmp_buf_tag *env)
{
	signals_jumped(env);
	if (!rt_self_)
		return;
	if (rt_self_->values.held)
		rt_values_forget(rt_self_);
	rt_self_->in_signal = false;
}

void hook_longjmp(struct __jmp_buf_tag *env, int value)
{
	HOOK_ENTER;
	leave_handler(env);
	real.longjmp(env, value);
}

void hook_siglongjmp(struct __jmp_buf_tag *env, int value)
{
	HOOK_ENTER;
	leave_handler(env);
	real.siglongjmp(env, value);
}
