/* rt/interpose/process.c - processes, cancellation, and memory that is given back. */
#include "rt/interpose/controlled.h"
#include "rt/core/rt.h"
#include "rt/interpose/timeout.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/syscall.h>

/* Leaving with threads alive is a scheduling point: what they would have done before the end, or
 * not, is a difference that some bugs are made of. */
void hook_exit(int status)
{
	struct control_thread *me = control_self();
	uint32_t site;

	HOOK_ENTER;
	site = rt_take_site();
	if (me)
		control_point(me,
			      &(struct control_op){ .kind = PLAIT_EV_PROCESS_EXIT, .site = site });
	real.exit(status);
	__builtin_unreachable();
}

/* The child runs freely: it has one thread, and its own copy of everything. */
pid_t hook_fork(void)
{
	struct control_thread *me = control_self();
	uint32_t site;
	pid_t pid;

	HOOK_ENTER;
	site = rt_take_site();
	if (!me)
		return real.fork();
	control_point(me, &(struct control_op){ .kind = PLAIT_EV_PROCESS_FORK, .site = site });
	control_note(PLAIT_UNCONTROLLED_FORK);
	pid = real.fork();
	if (pid == 0) {
		control_stop();
		return 0;
	}
	io_forked();
	rt_record_sv(PLAIT_EV_PROCESS_FORK, site, (uint64_t)pid);
	return pid;
}

/* ---- freed memory is filled, so that its use after the free shows ---- */

extern void __libc_free(void *p);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
enum { POISON = 0xdd, POISON_MAX = 1 << 20 };

void hook_free(void *p)
{
	if (unlikely(!real.free)) { /* the loader, before we know anything */
		__libc_free(p);
		return;
	}
	if (unlikely(birth_owns(p)))
		return;
	if (p && control_self() && !control_asked(PLAIT_CONTROL_NO_POISON)) {
		size_t n = malloc_usable_size(p);

		memset(p, POISON, n < POISON_MAX ? n : POISON_MAX);
	}
	real.free(p);
}

/* libc's loader calls these by name while it makes a thread; see control/birth.c. */
void *hook_calloc(size_t n, size_t size)
{
	void *p = birth_calloc(n, size);

	if (unlikely(p != NULL))
		return p;
	return real.calloc ? real.calloc(n, size) : __libc_calloc(n, size);
}

void *hook_realloc(void *p, size_t size)
{
	void *q;

	if (unlikely(birth_owns(p))) {
		q = hook_calloc(1, size);
		return q ? memcpy(q, p, birth_bytes(p, size)) : NULL;
	}
	return real.realloc ? real.realloc(p, size) : __libc_realloc(p, size);
}

/* ---- cancellation ---- */

int hook_pthread_cancel(pthread_t handle)
{
	struct control_thread *me = control_self(), *t;
	uint32_t site;

	HOOK_ENTER;
	site = rt_take_site();
	t = me ? control_thread_find(handle) : NULL;
	if (!t)
		return real.pthread_cancel(handle);
	control_point(me,
		      &(struct control_op){
			      .kind = PLAIT_EV_CANCEL, .site = site, .object = t, .writes = true });
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
