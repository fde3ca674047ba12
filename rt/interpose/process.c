/* rt/interpose/process.c - the end of the process, and cancellation. */
#include "rt/interpose/controlled.h"
#include "rt/core/rt.h"
#include "rt/interpose/timeout.h"

#include <errno.h>
#include <sys/syscall.h>

/* Leaving with threads alive is a scheduling point: what they would have done before the end, or
 * not, is a difference that some bugs are made of. */
void hook_exit(int status)
{
	struct control_thread *me = control_self();
	uint32_t site = hook_site();

	if (me)
		control_point(me,
			      &(struct control_op){ .kind = PLAIT_EV_PROCESS_EXIT, .site = site });
	real.exit(status);
	__builtin_unreachable();
}

/* ---- cancellation ---- */

int hook_pthread_cancel(pthread_t handle)
{
	struct control_thread *me = control_self(), *t;
	uint32_t site = hook_site();

	t = me ? control_thread_find(handle) : NULL;
	if (!t)
		return real.pthread_cancel(handle);
	control_point(me, &(struct control_op){ .kind = PLAIT_EV_CANCEL,
						.site = site,
						.object = t,
						.writes = true,
						.sends = true });
	rt_record_thread(PLAIT_EV_CANCEL, site, t->task.id, 0);
	if (t->ended)
		return 0;
	t->cancelled = true;
	t->result = PTHREAD_CANCELED;
	control_changed();
	return real.pthread_cancel(handle);
}

int hook_pthread_setcancelstate(int state, int *old)
{
	struct control_thread *me = control_self();
	int r;

	HOOK_ENTER;
	plait_call_site = 0;
	r = real.pthread_setcancelstate(state, old);
	if (me && r == 0)
		me->uncancellable = state == PTHREAD_CANCEL_DISABLE;
	return r;
}

/* Where such a thread ends is no scheduling point. */
int hook_pthread_setcanceltype(int type, int *old)
{
	HOOK_ENTER;
	plait_call_site = 0;
	if (type == PTHREAD_CANCEL_ASYNCHRONOUS && control_self())
		control_note(PLAIT_UNCONTROLLED_CANCEL);
	return real.pthread_setcanceltype(type, old);
}
