/* race/wcp.c - vector clocks for "weak causally precedes".
 *
 * Happens-before orders all sections of one lock as they came. This relation orders them only where it
 * must:
 *
 *	(a) the end of a section comes before an access in a later section of the same lock, if the
 *	    earlier section has a conflicting access;
 *	(b) the end of a section comes before the end of a later one, if something in the earlier comes
 *	    before something in the later;
 *	(c) what happens before something that comes before something else comes before that, and so on
 *	    with happens-before on either side;
 *	(d) births and ends of threads, semaphores, conditions, barriers and messages order as ever.
 *
 * As in the paper each thread has two clocks: what happens before it, and what comes before it. A
 * thread's own time counts its releases. Where the paper has a queue per lock and thread, here a lock has
 * one list of sections, and each thread a place in it. */
#include "race/wcp.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "race/messages.h"
#include "trace/trace.h"

#include <string.h>

enum { SECTIONS_MAX = 1 << 18, TOUCHED_MAX = 1 << 20, HELD = 8 };

struct clock VEC_FIELDS(uint32_t); /* by thread; what is missing is 0 */

struct section {
	uint32_t thread, begin; /* the time of its acquire */
	struct clock end;	/* happens before its release; empty: still open */
};

struct open {
	uint64_t lock;
	size_t section; /* its number in the lock's list */
	VEC(uint64_t) reads, writes;
};

struct thread {
	uint32_t time; /* from 1 */
	struct clock happens, comes;
	struct open open[HELD];
	uint32_t nopen;
};

struct lock {
	VEC(struct section) sections;
	struct clock happens, comes; /* before the last release */
	VEC(size_t) places;	     /* by thread: sections that rule (b) is done with */
};

/* What a thread's sections of one lock did to one granule: what happens before their ends. */
struct touched {
	struct clock reads, writes;
};

struct wcp {
	VEC(struct thread) threads;
	VEC(struct lock) locks;
	VEC(struct touched) touched;
	VEC(struct clock) messages;
	struct map lock_of, touched_of, message_of; /* in these */
	size_t sections;
	bool full;
};

/* ---- clocks ---- */

static uint32_t at(const struct clock *c, uint32_t thread)
{
	return thread < c->len ? c->data[thread] : 0;
}

static void raise(struct clock *c, uint32_t thread, uint32_t time)
{
	while (c->len <= thread)
		vec_push(c, 0);
	c->data[thread] = MAX(c->data[thread], time);
}

static void join(struct clock *c, const struct clock *other)
{
	for (uint32_t t = 0; t < other->len; t++)
		if (other->data[t])
			raise(c, t, other->data[t]);
}

/* ---- memory ---- */

struct wcp *wcp_new(void)
{
	return xcalloc(1, sizeof(struct wcp));
}

static void lock_deinit(struct lock *l)
{
	for (size_t i = 0; i < l->sections.len; i++)
		vec_deinit(&l->sections.data[i].end);
	vec_deinit(&l->sections);
	vec_deinit(&l->happens);
	vec_deinit(&l->comes);
	vec_deinit(&l->places);
}

static void thread_deinit(struct thread *t)
{
	vec_deinit(&t->happens);
	vec_deinit(&t->comes);
	for (uint32_t i = 0; i < HELD; i++) {
		vec_deinit(&t->open[i].reads);
		vec_deinit(&t->open[i].writes);
	}
}

void wcp_free(struct wcp *w)
{
	for (size_t i = 0; w && i < w->threads.len; i++)
		thread_deinit(&w->threads.data[i]);
	for (size_t i = 0; w && i < w->locks.len; i++)
		lock_deinit(&w->locks.data[i]);
	for (size_t i = 0; w && i < w->touched.len; i++) {
		vec_deinit(&w->touched.data[i].reads);
		vec_deinit(&w->touched.data[i].writes);
	}
	for (size_t i = 0; w && i < w->messages.len; i++)
		vec_deinit(&w->messages.data[i]);
	if (!w)
		return;
	vec_deinit(&w->threads);
	vec_deinit(&w->locks);
	vec_deinit(&w->touched);
	vec_deinit(&w->messages);
	map_deinit(&w->lock_of);
	map_deinit(&w->touched_of);
	map_deinit(&w->message_of);
	free(w);
}

static struct thread *thread_of(struct wcp *w, uint32_t id)
{
	while (w->threads.len <= id) {
		struct thread *t = vec_add(&w->threads);

		memset(t, 0, sizeof(*t));
		t->time = 1;
		raise(&t->happens, (uint32_t)w->threads.len - 1, 1);
	}
	return &w->threads.data[id];
}

static struct lock *lock_of(struct wcp *w, uint64_t address)
{
	uint64_t *n = map_put(&w->lock_of, address, w->locks.len);

	if (*n == w->locks.len)
		memset(vec_add(&w->locks), 0, sizeof(struct lock));
	return &w->locks.data[*n];
}

static uint64_t touched_key(uint64_t lock, uint64_t granule, uint32_t thread)
{
	return hash_u64(hash_u64(lock) ^ granule) + thread;
}

static struct touched *touched_of(struct wcp *w, uint64_t key)
{
	uint64_t *n = map_put(&w->touched_of, key, w->touched.len);

	if (*n == w->touched.len)
		memset(vec_add(&w->touched), 0, sizeof(struct touched));
	return &w->touched.data[*n];
}

static struct clock *message_of(struct wcp *w, uint64_t object)
{
	uint64_t *n = map_put(&w->message_of, object, w->messages.len);

	if (*n == w->messages.len)
		memset(vec_add(&w->messages), 0, sizeof(struct clock));
	return &w->messages.data[*n];
}

/* ---- events ---- */

static void tick(struct thread *t, uint32_t id)
{
	raise(&t->happens, id, ++t->time);
}

static struct open *find_open(struct thread *t, uint64_t lock)
{
	for (uint32_t i = 0; i < t->nopen; i++)
		if (t->open[i].lock == lock)
			return &t->open[i];
	return NULL;
}

static void acquire(struct wcp *w, uint32_t id, uint64_t address)
{
	struct thread *t = thread_of(w, id);
	struct lock *l = lock_of(w, address);
	struct open *o = &t->open[t->nopen];

	if (find_open(t, address))
		return; /* recursive */
	w->full |= t->nopen == HELD || ++w->sections > SECTIONS_MAX;
	if (w->full)
		return;
	join(&t->happens, &l->happens);
	join(&t->comes, &l->comes);
	vec_push(&l->sections, (struct section){ .thread = id, .begin = t->time });
	o->lock = address;
	o->section = l->sections.len - 1;
	vec_clear(&o->reads);
	vec_clear(&o->writes);
	t->nopen++;
}

/* (b): sections whose acquire comes before this release. They come in their order. */
static void follow_sections(struct lock *l, struct thread *t, uint32_t id)
{
	while (l->places.len <= id)
		vec_push(&l->places, 0);
	for (size_t *p = &l->places.data[id]; *p < l->sections.len; ++*p) {
		const struct section *s = &l->sections.data[*p];

		if (s->thread == id)
			continue;
		if (!s->end.len || s->begin > at(&t->comes, s->thread))
			return;
		join(&t->comes, &s->end);
	}
}

static void release(struct wcp *w, uint32_t id, uint64_t address)
{
	struct thread *t = thread_of(w, id);
	struct lock *l = lock_of(w, address);
	struct open *o = find_open(t, address), closed;

	if (!o || w->full)
		return;
	follow_sections(l, t, id);
	for (size_t i = 0; i < o->reads.len; i++)
		join(&touched_of(w, touched_key(address, o->reads.data[i], id))->reads,
		     &t->happens);
	for (size_t i = 0; i < o->writes.len; i++)
		join(&touched_of(w, touched_key(address, o->writes.data[i], id))->writes,
		     &t->happens);
	w->full |= w->touched.len > TOUCHED_MAX;
	join(&l->sections.data[o->section].end, &t->happens);
	vec_clear(&l->happens);
	vec_clear(&l->comes);
	join(&l->happens, &t->happens);
	join(&l->comes, &t->comes);
	closed = *o; /* its memory is used again */
	*o = t->open[t->nopen - 1];
	t->open[--t->nopen] = closed;
	tick(t, id);
}

static void send(struct wcp *w, uint32_t id, uint64_t object)
{
	struct thread *t = thread_of(w, id);

	join(message_of(w, object), &t->happens);
	tick(t, id);
}

static void receive(struct thread *t, const struct clock *from)
{
	join(&t->happens, from);
	join(&t->comes, from);
}

/* (a), for one granule: what other threads did to it in sections of this lock. */
static void follow_touched(struct wcp *w, struct thread *t, uint32_t id, uint64_t lock,
			   uint64_t granule, bool writes)
{
	for (uint32_t other = 0; other < w->threads.len; other++) {
		const uint64_t *n =
			other == id ? NULL
				    : map_find(&w->touched_of, touched_key(lock, granule, other));

		if (!n)
			continue;
		join(&t->comes, &w->touched.data[*n].writes);
		if (writes)
			join(&t->comes, &w->touched.data[*n].reads);
	}
}

static void access_in_sections(struct wcp *w, const struct event *ev)
{
	struct thread *t = thread_of(w, ev->thread);
	bool writes = event_is_write(ev);
	uint64_t last = (ev->address + (ev->n ? ev->n - 1 : 0)) / 8;

	for (uint32_t i = 0; i < t->nopen && !w->full; i++) {
		struct open *o = &t->open[i];

		for (uint64_t g = ev->address / 8; g <= last; g++) {
			follow_touched(w, t, ev->thread, o->lock, g, writes);
			if (plait_reads(ev->kind))
				vec_push(&o->reads, g);
			if (writes)
				vec_push(&o->writes, g);
		}
	}
}

static void take_access(struct wcp *w, const struct event *ev)
{
	access_in_sections(w, ev);
	if (!plait_is_atomic(ev->kind))
		return;
	if (plait_reads(ev->kind))
		receive(thread_of(w, ev->thread), message_of(w, ev->address));
	if (event_is_write(ev))
		send(w, ev->thread, ev->address);
}

static void take_sync(struct wcp *w, const struct event *ev)
{
	uint32_t effects = plait_effects_of(ev->kind, ev->result);
	enum message message = message_of_kind(ev->kind);

	switch (ev->kind) {
	case PLAIT_EV_FORK:
		thread_of(w, ev->other);
		receive(thread_of(w, ev->other), &thread_of(w, ev->thread)->happens);
		tick(thread_of(w, ev->thread), ev->thread);
		break;
	case PLAIT_EV_JOIN:
		thread_of(w, ev->other);
		if (ev->result == 0)
			receive(thread_of(w, ev->thread), &thread_of(w, ev->other)->happens);
		break;
	case PLAIT_EV_WAIT:
		release(w, ev->thread, ev->address2);
		break;
	case PLAIT_EV_WOKEN:
		receive(thread_of(w, ev->thread), message_of(w, ev->address));
		acquire(w, ev->thread, ev->address2);
		break;
	default:
		if (message == MESSAGE_SENT)
			send(w, ev->thread, ev->address);
		else if (message == MESSAGE_RECEIVED)
			receive(thread_of(w, ev->thread), message_of(w, ev->address));
		else if (effects & EV_ACQUIRES)
			acquire(w, ev->thread, ev->address);
		else if (effects & EV_RELEASES && ev->result == 0)
			release(w, ev->thread, ev->address);
	}
}

uint32_t wcp_add(struct wcp *w, const struct event *ev)
{
	uint32_t time = thread_of(w, ev->thread)->time;

	if (plait_is_access(ev->kind))
		take_access(w, ev);
	else
		take_sync(w, ev);
	return time;
}

bool wcp_is_before(const struct wcp *w, uint32_t thread, uint32_t time, uint32_t now)
{
	return w->full || thread == now || time <= at(&w->threads.data[now].comes, thread);
}
