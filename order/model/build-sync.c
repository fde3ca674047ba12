/* order/model/build-sync.c - synchronisation steps as events of the model.
 *
 * pthread_once is a cell: 0 not begun, 1 running, 2 done. */
#include "order/model/build-private.h"

#include "base/err.h"

#include <errno.h>

static uint32_t sync_object(struct order_build *b, enum order_object_kind kind, uint64_t address,
			    uint64_t initial)
{
	uint64_t *o = map_put(&b->objects[kind], address, ORDER_NONE);

	if (*o == ORDER_NONE)
		*o = build_object(b, kind, address, 64, initial);
	return (uint32_t)*o;
}

static void once_event(struct order_build *b, uint32_t thread, const struct raw *r)
{
	uint64_t *o = map_put(&b->onces, r->s.address, ORDER_NONE);
	struct terms *ts = &b->m->terms;
	struct order_place at;
	term_id done;
	uint32_t e;

	if (*o == ORDER_NONE)
		*o = build_object(b, ORDER_OBJECT_CELL, r->s.address, 8, 0);
	e = build_event(b, thread, r,
			r->s.kind == ORDER_STEP_ONCE_BEGIN ? ORDER_RMW
			: r->s.kind == ORDER_STEP_ONCE_END ? ORDER_WRITE
							   : ORDER_READ,
			(uint32_t)*o);
	if (r->s.kind != ORDER_STEP_ONCE_PASS)
		b->m->events.data[e].value =
			term_const(ts, 8, r->s.kind == ORDER_STEP_ONCE_BEGIN ? 1 : 2);
	if (r->s.kind == ORDER_STEP_ONCE_END)
		return;
	/* it waits for that, so the place is before the event */
	at = (struct order_place){ .thread = thread, .index = b->m->events.data[e].index };
	done = term_const(ts, 8, r->s.kind == ORDER_STEP_ONCE_BEGIN ? 0 : 2);
	order_condition_at(b->m, term_binary(ts, TERM_EQ, order_value(b->m, e), done), &at);
}

static void lock_event(struct order_build *b, uint32_t thread, const struct raw *r,
		       enum order_object_kind object, enum order_kind took, enum order_kind failed)
{
	uint32_t o;

	if (r->s.blocked && took != ORDER_LOCK)
		return; /* only a wait for a mutex has an event of its own */
	if (r->s.result && r->s.result != EBUSY && r->s.result != ETIMEDOUT)
		return; /* refused: nothing happened */
	o = sync_object(b, object, r->s.address, 0);
	build_event(b, thread, r,
		    r->s.blocked  ? ORDER_LOCK_BLOCKED
		    : r->s.result ? failed
				  : took,
		    o);
}

static void unlock_event(struct order_build *b, uint32_t thread, const struct raw *r,
			 enum order_object_kind object, enum order_kind kind)
{
	if (!r->s.result)
		build_event(b, thread, r, kind, sync_object(b, object, r->s.address, 0));
}

static void wait_event(struct order_build *b, uint32_t thread, const struct raw *r,
		       enum order_kind kind)
{
	uint32_t cond = sync_object(b, ORDER_OBJECT_COND, r->s.address, 0);
	uint32_t mutex = sync_object(b, ORDER_OBJECT_MUTEX, r->s.mutex, 0);
	uint32_t e = build_event(b, thread, r, kind, cond);

	b->m->events.data[e].mutex = mutex;
}

struct err *build_sync(struct order_build *b, uint32_t thread, const struct raw *r)
{
	const struct order_step *s = &r->s;
	uint32_t e;

	switch (s->kind) {
	case ORDER_STEP_LOCK:
		lock_event(b, thread, r, ORDER_OBJECT_MUTEX, ORDER_LOCK, ORDER_LOCK_FAILED);
		return NULL;
	case ORDER_STEP_UNLOCK:
		unlock_event(b, thread, r, ORDER_OBJECT_MUTEX, ORDER_UNLOCK);
		return NULL;
	case ORDER_STEP_RDLOCK:
		lock_event(b, thread, r, ORDER_OBJECT_RWLOCK, ORDER_RDLOCK, ORDER_RDLOCK_FAILED);
		return NULL;
	case ORDER_STEP_WRLOCK:
		lock_event(b, thread, r, ORDER_OBJECT_RWLOCK, ORDER_WRLOCK, ORDER_WRLOCK_FAILED);
		return NULL;
	case ORDER_STEP_RWUNLOCK:
		unlock_event(b, thread, r, ORDER_OBJECT_RWLOCK, ORDER_RWUNLOCK);
		return NULL;
	case ORDER_STEP_WAIT:
		wait_event(b, thread, r, ORDER_WAIT);
		return NULL;
	case ORDER_STEP_WOKEN:
		if (!s->blocked)
			wait_event(b, thread, r, s->result ? ORDER_WAKE_TIMEOUT : ORDER_WAKE);
		return NULL;
	case ORDER_STEP_SIGNAL:
	case ORDER_STEP_BROADCAST:
		build_event(b, thread, r,
			    s->kind == ORDER_STEP_SIGNAL ? ORDER_SIGNAL : ORDER_BROADCAST,
			    sync_object(b, ORDER_OBJECT_COND, s->address, 0));
		return NULL;
	case ORDER_STEP_SEM_POST:
		unlock_event(b, thread, r, ORDER_OBJECT_SEM, ORDER_SEM_POST);
		return NULL;
	case ORDER_STEP_SEM_WAIT:
		e = build_event(b, thread, r,
				s->result || s->blocked ? ORDER_SEM_FAILED : ORDER_SEM_WAIT,
				sync_object(b, ORDER_OBJECT_SEM, s->address, 0));
		b->m->events.data[e].aside = s->blocked;
		return NULL;
	case ORDER_STEP_BARRIER_ENTER:
	case ORDER_STEP_BARRIER_LEAVE:
		if (!s->blocked)
			build_event(b, thread, r,
				    s->kind == ORDER_STEP_BARRIER_ENTER ? ORDER_BARRIER_ENTER
									: ORDER_BARRIER_LEAVE,
				    sync_object(b, ORDER_OBJECT_BARRIER, s->address, s->other));
		return NULL;
	case ORDER_STEP_ONCE_BEGIN:
	case ORDER_STEP_ONCE_END:
	case ORDER_STEP_ONCE_PASS:
		once_event(b, thread, r);
		return NULL;
	case ORDER_STEP_FORK:
		build_event(b, thread, r, ORDER_FORK, s->other);
		return NULL;
	case ORDER_STEP_JOIN:
		if (!s->blocked && !s->result)
			build_event(b, thread, r, ORDER_JOIN, s->other);
		return NULL;
	case ORDER_STEP_START:
		build_event(b, thread, r, ORDER_START, ORDER_NONE);
		return NULL;
	case ORDER_STEP_EXIT:
		build_event(b, thread, r, ORDER_EXIT, ORDER_NONE);
		return NULL;
	case ORDER_STEP_FREE:
		build_free(b, thread, r);
		return NULL;
	case ORDER_STEP_INEXPRESSIBLE:
		return err_new(ERR_ENV, "futexes and cancellation have no constraints");
	case ORDER_STEP_LOCAL:
	case ORDER_STEP_SEM_INIT: /* build_counts has seen it */
	case ORDER_STEP_READ:
	case ORDER_STEP_WRITE:
	case ORDER_STEP_RMW:
		b->out->local_steps++;
		return NULL;
	}
	BUG("step of kind %d", (int)s->kind);
}

void build_counts(struct order_build *b)
{
	for (size_t t = 0; t < b->threads.len; t++)
		for (size_t i = 0; i < b->threads.data[t].steps.len; i++) {
			const struct order_step *s = &b->threads.data[t].steps.data[i].s;

			if (s->kind == ORDER_STEP_SEM_INIT)
				sync_object(b, ORDER_OBJECT_SEM, s->address, s->other);
			else if (s->kind == ORDER_STEP_BARRIER_ENTER && s->other)
				sync_object(b, ORDER_OBJECT_BARRIER, s->address, s->other);
		}
}
