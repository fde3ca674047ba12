/* rt/interpose/controlled.h - private to rt/interpose/: what its files call of each other under control. */
#ifndef RT_INTERPOSE_CONTROLLED_H
#define RT_INTERPOSE_CONTROLLED_H

#include "rt/control/control.h"
#include "rt/control/gone.h"
#include "rt/interpose/interpose.h"

#include <errno.h>

/* A lock or a semaphore is made: that forgets its state, and who has used it before, or does so now, can
 * tell.
 * me NULL: not under control. */
static inline void hook_renews(struct control_thread *me, uint32_t kind, uint32_t site,
			       const void *object)
{
	if (!me)
		return;
	control_touch(me, kind, site, object);
	gone_renewed(object);
	control_changed();
}

/* It is destroyed, likewise. me: under control. To do so again does no harm. */
static inline void hook_destroys(struct control_thread *me, uint32_t site, void *object,
				 enum gone_kind kind)
{
	if (!gone_is_destroyed(object, kind))
		gone_check(me, object, kind, "destruction of", site);
	control_touch(me, PLAIT_EV_LOCK_DESTROY, site, object);
	gone_destroyed(me, object, kind);
	control_changed();
}

/* As functions return it that set errno: 0 or -1. r: 0 or an errno. */
static inline int posix_result(int r)
{
	if (r == 0)
		return 0;
	errno = r;
	return -1;
}

/* For waits that only a deadline, a signal or a cancellation ends. */
static inline bool never_ready(const struct control_thread *t)
{
	(void)t;
	return false;
}

/* An attempt does not wait. But a replay of mode sync makes one that succeeded when it succeeds again. */
static inline const struct control_wait *attempt(const struct control_thread *me,
						 const struct control_wait *possible)
{
	return control_log_succeeds(me) ? possible : NULL;
}

/* ---- handlers.c: what the target has installed ---- */

bool handlers_find(int number, struct sigaction *ret); /* false: no handler */
bool handlers_ignored(int number);
extern uint64_t handlers_outside; /* how many handlers have run for signals from outside */
/* Call it. What came from outside may be anywhere: nothing in its handler is a scheduling point. */
void handlers_run(int number, siginfo_t *info, void *context, bool from_outside);

/* ---- signals.c ---- */

/* A handler, or a thread that waits for signals, knows what was done before the signal was sent or
 * its timer was set. A made-up address stands for all of them (PLAIT_EV_RELEASE, PLAIT_EV_ACQUIRE). */
#define SIGNALS_MESSAGE ((void *)0x8000)

bool signals_deliver(struct control_thread *me);	    /* see struct control_world */
bool signals_handle(struct control_thread *me, int number); /* likewise */
/* A signal for one thread, or (t NULL) for the process; code and value are the handler's siginfo.
 * Returns an errno. */
int signals_send(struct control_thread *t, int number, int code, union sigval value);
bool signals_lethal(int number);		      /* would it end the process now? */
struct control_thread *signals_thread(pid_t tid);     /* by the number that gettid gives it */
void signals_jumped(const struct __jmp_buf_tag *env); /* a longjmp is about to happen */
void signals_reset(void);

/* ---- timers.c ---- */

bool timers_patient(void); /* see struct control_world */
bool timers_periodic(void);
bool timers_rested(void);
void timers_closed(int fd); /* a descriptor that may be a timerfd is about to be closed */
void timers_reset(void);

/* ---- maps.c ---- */

void maps_reset(void);

/* ---- io.c ---- */

bool io_wait(const struct control_thread *t); /* see struct control_world */
/* Are there kernel threads that libc made for itself (helpers.c)? They may let one of ours go on. */
bool helpers_at_work(void);
void io_forked(void);
void io_done(void); /* something was done to a descriptor: look again who is ready */

/* ---- sync-thread.c, sync-mutex.c, keys.c ---- */

void threads_init(void);
void threads_watch_end(struct control_thread *t);
/* A thread of our own, which is there for as long as the process is. NULL: it cannot be made. */
struct control_thread *threads_new_own(struct control_thread *me, void *(*start)(void *));
void mutex_owner_ended(struct control_thread *t);
void keys_init(void);
void keys_thread_end(void); /* the destructors of the calling thread */

#endif
