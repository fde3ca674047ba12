/* rt/interpose/signals.c - signals under control.
 *
 * A signal that the program sends itself is pending, at one thread or at the process, until a thread
 * that does not block it is chosen at a scheduling point. Then its handler runs there, before
 * anything else does. We model this because with fibers the kernel knows only one thread. A thread
 * for which a signal is pending is ready, whatever it waits for. Afterwards it goes on waiting, or
 * the wait ends with EINTR, as the kernel defines it for that call and for SA_RESTART. So the
 * schedule decides when a signal arrives, and to whom one for the process goes; both repeat with it.
 *
 * A handler is code like any other: it has scheduling points of its own, and what it interrupted
 * (struct control_outer) lies on its stack meanwhile. Replay is exact because a thread that was not
 * switched to takes no signal between two accesses: see take_signal.
 *
 * What a signalfd waits for is left to the kernel, which then holds it pending. Signals from outside
 * go to the carrier as the kernel decides; such a handler is noted, and nothing in it is a
 * scheduling point. */
#include "rt/interpose/world.h"
#include "rt/core/rt.h"
#include "rt/interpose/timeout.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { QUEUE = 256, FIRST_REAL_TIME = 32 };

static struct queued {
	int number, code;
	union sigval value;
	uint32_t thread; /* its id + 1; 0: the process */
} queue[QUEUE];		 /* oldest first */
static size_t nqueued;
static uint64_t by_signalfd; /* what some signalfd waits for */

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

void signals_reset(void)
{
	nqueued = 0;
	control_signals = by_signalfd = 0;
}

/* ---- the queue ---- */

static uint64_t *pending_at(uint32_t thread)
{
	return thread ? &control_thread_at(thread - 1)->signals : &control_signals;
}

static int enqueue(const struct queued *q)
{
	uint64_t *pending = pending_at(q->thread);

	if (q->number < FIRST_REAL_TIME && (*pending & bit_of(q->number)))
		return 0; /* pending already: once is enough */
	if (nqueued == QUEUE)
		return EAGAIN;
	queue[nqueued++] = *q;
	*pending |= bit_of(q->number);
	return 0;
}

/* The lowest signal of the set for this thread, the oldest of its kind; false: none. */
static bool dequeue(struct control_thread *me, uint64_t set, struct queued *ret)
{
	size_t best = nqueued, i;
	uint64_t *pending;

	for (i = 0; i < nqueued; i++)
		if ((!queue[i].thread || queue[i].thread == me->task.id + 1) &&
		    (set & bit_of(queue[i].number)) &&
		    (best == nqueued || queue[i].number < queue[best].number))
			best = i;
	if (best == nqueued)
		return false;
	*ret = queue[best];
	memmove(&queue[best], &queue[best + 1], (--nqueued - best) * sizeof(queue[0]));
	pending = pending_at(ret->thread);
	*pending &= ~bit_of(ret->number);
	for (i = 0; i < nqueued; i++)
		if (queue[i].thread == ret->thread)
			*pending |= bit_of(queue[i].number);
	control_changed();
	return true;
}

static siginfo_t info_of(const struct queued *q)
{
	siginfo_t info = { .si_signo = q->number, .si_code = q->code };

	if (q->code == SI_USER || q->code == SI_TKILL || q->code == SI_QUEUE) {
		info.si_pid = ids_pid();
		info.si_uid = (uid_t)rt_syscall(SYS_getuid, 0, 0, 0, 0, 0, 0);
	}
	info.si_value = q->value;
	return info;
}

/* ---- delivery ---- */

static void run_handler(struct control_thread *me, const struct queued *q,
			const struct sigaction *action)
{
	struct control_outer outer = { .op = me->op,
				       .task_op = me->task.op,
				       .released = me->released,
				       .timed_out = me->timed_out,
				       .next = me->outer };
	siginfo_t info = info_of(q);
	uint64_t mask = me->signal_mask;
	const void *frame = me->frame;
	uint32_t depth = me->rt->depth;
	ucontext_t context;
	int saved = errno;

	memset(&context, 0, sizeof(context));
	memcpy(&context.uc_sigmask, &mask, sizeof(mask));
	me->outer = &outer;
	me->rt->depth = 0;
	me->released = false;
	me->signal_mask |= bits_of(&action->sa_mask);
	if (!(action->sa_flags & SA_NODEFER))
		me->signal_mask |= bit_of(q->number);
	handlers_run(q->number, &info, &context, false);
	me->signal_mask = mask;
	me->rt->depth = depth;
	me->outer = outer.next;
	me->op = outer.op;
	me->task.op = outer.task_op;
	me->released = outer.released;
	me->timed_out = outer.timed_out;
	me->frame = frame;
	errno = saved;
}

/* Run its handler, and say whether that ends what the thread waits for. */
static void hand_to(struct control_thread *me, const struct queued *q,
		    const struct sigaction *action)
{
	const struct control_wait *w = me->op.wait;
	struct sigaction usual = { .sa_handler = SIG_DFL };
	bool waits = w && !w->ready(me) && !me->timed_out && !control_cancel_due(me);

	if (action->sa_flags & (int)SA_RESETHAND)
		hook_sigaction(q->number, &usual, NULL);
	run_handler(me, q, action);
	me->interrupted =
		waits && (me->op.signals >= CONTROL_ENDS ||
			  (me->op.signals == CONTROL_RESTARTS && !(action->sa_flags & SA_RESTART)));
}

bool signals_handle(struct control_thread *me, int number)
{
	struct queued q = { .number = number, .code = SI_USER };
	struct sigaction action;

	if (!handlers_find(number, &action))
		return false;
	hand_to(me, &q, &action);
	return true;
}

bool signals_deliver(struct control_thread *me)
{
	struct sigaction action;
	struct queued q;

	if (!dequeue(me, ~me->signal_mask, &q))
		return false;
	if (!handlers_find(q.number, &action)) {
		signals_send(q.thread ? me : NULL, q.number, q.code, q.value);
		return true;
	}
	hand_to(me, &q, &action);
	return true;
}

/* ---- sending ---- */

static bool usually_ignored(int number)
{
	return number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT;
}

static bool ignored(int number)
{
	struct sigaction action;

	return handlers_ignored(number) ||
	       (usually_ignored(number) && !handlers_find(number, &action));
}

static bool takes(const struct control_thread *t, int number)
{
	return t->rt && !t->ended && t != control_timers && !(t->signal_mask & bit_of(number));
}

static bool somebody_takes(int number)
{
	size_t i;

	for (i = 0; i < control_nthreads(); i++)
		if (takes(control_thread_at(i), number))
			return true;
	return false;
}

bool signals_lethal(int number)
{
	struct sigaction action;

	return somebody_takes(number) && !ignored(number) && !handlers_find(number, &action);
}

int signals_send(struct control_thread *t, int number, int code, union sigval value)
{
	struct queued q = {
		.number = number, .code = code, .value = value, .thread = t ? t->task.id + 1 : 0
	};
	bool blocked = t ? t->signal_mask & bit_of(number) : !somebody_takes(number);
	struct sigaction action;

	control_changed();
	rt_record_sa_n(PLAIT_EV_RELEASE, 0, SIGNALS_MESSAGE, 0);
	/* a replay of mode sync: the log says when handlers ran, and who waited for what */
	if (control_log && (blocked || handlers_find(number, &action)))
		return 0;
	if (blocked && (by_signalfd & bit_of(number)))
		return (int)-rt_syscall(SYS_kill, rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), number,
					0, 0, 0, 0);
	if (blocked || handlers_find(number, &action))
		return enqueue(&q);
	if (ignored(number))
		return 0;
	/* the default action is the whole process's */
	return (int)-rt_syscall(SYS_kill, rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), number, 0, 0, 0,
				0);
}

static bool waits_for_signal(const struct control_thread *t, int number);

/* Can somebody but `but` take this signal at once? */
static bool wanted(int number, const struct control_thread *but)
{
	size_t i;

	for (i = 0; i < control_nthreads(); i++) {
		const struct control_thread *t = control_thread_at(i);

		if (t != but && (takes(t, number) || waits_for_signal(t, number)))
			return true;
	}
	return false;
}

/* It has sent the signal to itself: the handler runs in the call. */
static void take_at_once(struct control_thread *me, int number)
{
	control_take_logged_signal(me, number);
	while (signals_deliver(me))
		;
}

/* A point, then the signal; t NULL: to the process. What the sender must have handled before the
 * call returns, it handles now. */
static int send_at_point(struct control_thread *me, uint32_t site, struct control_thread *t,
			 int number, int code, union sigval value)
{
	int r;

	control_point(me, &(struct control_op){ .kind = PLAIT_EV_INPUT,
						.site = site,
						.object = t ? (void *)t : (void *)&control_signals,
						.writes = true,
						.sends = true });
	if (t && t->ended)
		return ESRCH;
	if (number < 0 || number >= _NSIG)
		return EINVAL;
	if (number == 0)
		return 0;
	r = signals_send(t, number, code, value);
	if (t == me || (!t && !wanted(number, me)))
		take_at_once(me, number);
	return r;
}

int hook_pthread_kill(pthread_t handle, int number)
{
	struct control_thread *me = control_self(), *t;
	uint32_t site = hook_site();

	t = me ? control_thread_find(handle) : NULL;
	return t ? send_at_point(me, site, t, number, SI_TKILL, (union sigval){ 0 })
		 : real.pthread_kill(handle, number);
}

int hook_pthread_sigqueue(pthread_t handle, int number, const union sigval value)
{
	struct control_thread *me = control_self(), *t;
	uint32_t site = hook_site();

	t = me ? control_thread_find(handle) : NULL;
	return t ? send_at_point(me, site, t, number, SI_QUEUE, value)
		 : real.pthread_sigqueue(handle, number, value);
}

/* Negative: a group. */
static pid_t real_id(pid_t id)
{
	return !world_is_virtual() ? id : id < -1 ? -ids_real(-id) : ids_real(id);
}

int hook_kill(pid_t pid, int number)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (!me || pid != ids_pid() || number <= 0 || number >= _NSIG || number == SIGKILL ||
	    number == SIGSTOP)
		return real.kill(real_id(pid), number);
	return posix_result(send_at_point(me, site, NULL, number, SI_USER, (union sigval){ 0 }));
}

int hook_killpg(pid_t group, int number)
{
	HOOK_ENTER;
	if (!world_is_virtual() || group < 0)
		return real.killpg(group, number);
	return hook_kill(group ? -group : 0, number);
}

int hook_sigqueue(pid_t pid, int number, const union sigval value)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (!me || pid != ids_pid() || number <= 0 || number >= _NSIG || number == SIGKILL)
		return real.sigqueue(real_id(pid), number, value);
	return posix_result(send_at_point(me, site, NULL, number, SI_QUEUE, value));
}

struct control_thread *signals_thread(pid_t tid)
{
	size_t i;

	for (i = 0; i < control_nthreads(); i++) {
		struct control_thread *t = control_thread_at(i);

		if (t->rt && !t->ended && ids_tid(t) == tid)
			return t;
	}
	return NULL;
}

int hook_tgkill(pid_t process, pid_t tid, int number)
{
	struct control_thread *me = control_self(), *t;
	uint32_t site = hook_site();

	t = me && process == ids_pid() ? signals_thread(tid) : NULL;
	return t ? posix_result(send_at_point(me, site, t, number, SI_TKILL, (union sigval){ 0 }))
		 : real.tgkill(real_id(process), real_id(tid), number);
}

int hook_raise(int number)
{
	struct control_thread *me = control_self();
	struct sigaction action;

	HOOK_ENTER;
	plait_call_site = 0;
	if (!me || number <= 0 || number >= _NSIG ||
	    (!handlers_find(number, &action) && !(me->signal_mask & bit_of(number))))
		return real.raise(number);
	signals_send(me, number, SI_TKILL, (union sigval){ 0 });
	take_at_once(me, number);
	return 0;
}

/* ---- masks ---- */

/* The kernel's mask is the carrier's: it is that of the last thread that changed its own. This is right for
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

	HOOK_ENTER;
	if (!me)
		return real.sigprocmask(how, set, old);
	return posix_result(change_mask(me, how, set, old));
}

int hook_sigpending(sigset_t *set)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();
	uint64_t bits;
	int r;

	if (me)
		control_point(me, &(struct control_op){ .kind = PLAIT_EV_INPUT,
							.site = site,
							.object = &control_signals,
							.sends = true });
	r = real.sigpending(set);
	if (!me || r)
		return r;
	bits = bits_of(set) | me->signals | control_signals;
	memcpy(set, &bits, sizeof(bits));
	return 0;
}

int hook_signalfd(int fd, const sigset_t *set, int flags)
{
	struct control_thread *me = control_self();
	int r;

	HOOK_ENTER;
	r = real.signalfd(fd, set, flags);
	if (me && r >= 0)
		by_signalfd |= bits_of(set);
	return r;
}

/* ---- waiting for one ---- */

static bool signal_pending(const struct control_thread *t)
{
	uint64_t pending = 0, wanted = bits_of(t->op.object2);

	rt_syscall(SYS_rt_sigpending, (long)&pending, 8, 0, 0, 0, 0);
	return (pending | t->signals | control_signals) & wanted;
}

static const struct control_wait signal_wait = { "for a signal", signal_pending, NULL,
						 CONTROL_OUTSIDE };

static bool waits_for_signal(const struct control_thread *t, int number)
{
	return t->rt && !t->ended && t->op.wait == &signal_wait &&
	       (bits_of(t->op.object2) & bit_of(number));
}

/* True: a signal that this process sent is in *ret. False: the kernel has one, or none came. */
static bool await_signal(struct control_thread *me, uint32_t site, const sigset_t *set,
			 uint64_t deadline, struct queued *ret)
{
	control_point(me, &(struct control_op){ .kind = PLAIT_EV_INPUT,
						.site = site,
						.object2 = set,
						.wait = &signal_wait,
						.deadline = deadline,
						.cancellable = true,
						.sends = true,
						.signals = CONTROL_ENDS });
	rt_record_sa_n(PLAIT_EV_ACQUIRE, site, SIGNALS_MESSAGE, 0);
	return !me->interrupted && dequeue(me, bits_of(set), ret);
}

int hook_sigwait(const sigset_t *set, int *number)
{
	struct control_thread *me = control_self();
	struct queued q;
	uint32_t site = hook_site();

	while (me) { /* a handler does not end it */
		if (await_signal(me, site, set, CONTROL_NEVER, &q)) {
			*number = q.number;
			return 0;
		}
		if (!me->interrupted)
			break;
	}
	return real.sigwait(set, number);
}

static int wait_info(struct control_thread *me, uint32_t site, const sigset_t *set, siginfo_t *info,
		     uint64_t deadline)
{
	struct timespec zero = { 0 };
	struct queued q;

	if (await_signal(me, site, set, deadline, &q)) {
		if (info)
			*info = info_of(&q);
		return q.number;
	}
	if (!me->interrupted)
		return real.sigtimedwait(set, info, &zero);
	errno = EINTR;
	return -1;
}

int hook_sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	struct control_thread *me = control_self();

	HOOK_ENTER;
	return me ? wait_info(me, rt_take_site(), set, info, CONTROL_NEVER)
		  : real.sigwaitinfo(set, info);
}

int hook_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	struct control_thread *me = control_self();

	HOOK_ENTER;
	return me ? wait_info(me, rt_take_site(), set, info,
			      timeout ? control_now() + timespec_ns(timeout) + 1 : CONTROL_NEVER)
		  : real.sigtimedwait(set, info, timeout);
}

/* Signals from outside that the kernel holds back, because another thread blocks them. */
static uint64_t held_by_kernel(const struct control_thread *t)
{
	uint64_t pending = 0;

	rt_syscall(SYS_rt_sigpending, (long)&pending, 8, 0, 0, 0, 0);
	return pending & ~t->signal_mask;
}

static bool handled_outside(const struct control_thread *t)
{
	return t->op.value != handlers_outside || held_by_kernel(t);
}

static void take_from_kernel(struct control_thread *me)
{
	uint64_t wanted = held_by_kernel(me);
	struct timespec now = { 0 };
	siginfo_t info;
	long number;

	if (!wanted)
		return;
	number = rt_syscall(SYS_rt_sigtimedwait, (long)&wanted, (long)&info, (long)&now, 8, 0, 0);
	if (number <= 0)
		return;
	control_note(PLAIT_UNCONTROLLED_SIGNAL);
	signals_send(me, (int)number, info.si_code, info.si_value);
	while (signals_deliver(me))
		;
}

static const struct control_wait pause_wait = { "for a signal handler to run", handled_outside,
						NULL, CONTROL_OUTSIDE };

static int until_handled(struct control_thread *me, uint32_t site, int signals)
{
	control_point(me, &(struct control_op){ .kind = PLAIT_EV_INPUT,
						.site = site,
						.value = handlers_outside,
						.wait = &pause_wait,
						.cancellable = true,
						.signals = signals });
	take_from_kernel(me);
	errno = EINTR;
	return -1;
}

int hook_pause(void)
{
	struct control_thread *me = control_self();

	HOOK_ENTER;
	return me ? until_handled(me, rt_take_site(), CONTROL_ENDS) : real.pause();
}

int hook_sigsuspend(const sigset_t *set)
{
	struct control_thread *me = control_self();
	uint64_t mask;
	int r;

	HOOK_ENTER;
	if (!me)
		return real.sigsuspend(set);
	mask = me->signal_mask;
	me->signal_mask = bits_of(set);
	r = until_handled(me, rt_take_site(), CONTROL_ENDS_SURELY);
	me->signal_mask = mask;
	return r;
}

/* ---- leaving a handler by a jump ---- */

void signals_jumped(const struct __jmp_buf_tag *env)
{
	struct rt_thread *t = rt_self_;
	struct control_thread *me = t ? t->control : NULL;

	if (!control_active || !me || t->depth)
		return;
	me->outer = NULL;
	if (env->__mask_was_saved)
		memcpy(&me->signal_mask, &env->__saved_mask, sizeof(me->signal_mask));
}
