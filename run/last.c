/* run/last.c - see last.h.
 *
 * One pass over the events in the order of their clocks. A lock counts as held from its event on, which is
 * written by its holder, to the event of the unlock, which is written just before the lock is given back.
 * So of threads that were running at the end, one may have a lock more or less than is said here; threads
 * that wait are told exactly, and so are those that wait for each other.
 *
 * What a thread took before its first event that is kept is not known. */
#include "run/last.h"

#include "base/err.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static struct last_lock *find_lock(struct last_thread *t, uint64_t object)
{
	for (size_t i = t->locks.len; i-- > 0;)
		if (t->locks.data[i].object == object)
			return &t->locks.data[i];
	return NULL;
}

static void take(struct last_thread *t, uint64_t object, const struct event *ev)
{
	struct last_lock *l = find_lock(t, object);

	if (l)
		l->depth++;
	else
		vec_push(&t->locks,
			 ((struct last_lock){ .object = object, .taken = *ev, .depth = 1 }));
}

static void give_back(struct last_thread *t, uint64_t object)
{
	struct last_lock *l = find_lock(t, object);
	size_t i;

	if (!l || --l->depth > 0)
		return;
	i = (size_t)(l - t->locks.data);
	memmove(l, l + 1, (--t->locks.len - i) * sizeof(*l));
}

static void follow_locks(struct last_thread *t, const struct event *ev)
{
	switch (ev->kind) {
	case PLAIT_EV_LOCK:
	case PLAIT_EV_TRYLOCK:
	case PLAIT_EV_RDLOCK:
	case PLAIT_EV_TRYRDLOCK:
	case PLAIT_EV_WRLOCK:
	case PLAIT_EV_TRYWRLOCK:
		if (ev->result == 0)
			take(t, ev->address, ev);
		break;
	case PLAIT_EV_UNLOCK:
	case PLAIT_EV_RWUNLOCK:
		give_back(t, ev->address);
		break;
	case PLAIT_EV_WAIT:
		give_back(t, ev->address2);
		break;
	case PLAIT_EV_WOKEN:
		take(t, ev->address2, ev);
		break;
	default:
		break;
	}
}

/* The newest takes the place of the oldest; put in order at the end. */
static void keep_event(struct last *l, struct last_thread *t, const struct event *ev)
{
	struct event *to = &t->events[ev->index % l->keep];

	*to = *ev;
	to->bytes = NULL;
	if (t->nevents < l->keep)
		t->nevents++;
}

static int by_index(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

static bool begins_wait(uint32_t kind)
{
	return kind == PLAIT_EV_BLOCKED || kind == PLAIT_EV_WAIT || kind == PLAIT_EV_BARRIER_WAIT;
}

static void finish_thread(struct last *l, struct last_thread *t, const struct trace_thread *info)
{
	qsort(t->events, t->nevents, sizeof(*t->events), by_index);
	t->waits = t->nevents && !info->ended && begins_wait(t->events[t->nevents - 1].kind);
	if (t->cut && t->first > l->from)
		l->from = t->first;
}

const struct event *last_wait(const struct last_thread *t)
{
	return &t->events[t->nevents - 1];
}

uint32_t last_wait_kind(const struct event *wait)
{
	return wait->kind == PLAIT_EV_WAIT	     ? PLAIT_EV_WOKEN
	       : wait->kind == PLAIT_EV_BARRIER_WAIT ? PLAIT_EV_BARRIER_LEAVE
						     : (uint32_t)wait->n;
}

static uint32_t holder(const struct last *l, uint64_t object, uint32_t but)
{
	for (uint32_t i = 0; i < l->nthreads; i++)
		if (i != but && find_lock(&l->threads[i], object))
			return i;
	/* it waits for what it has itself */
	return find_lock(&l->threads[but], object) ? but : UINT32_MAX;
}

uint32_t last_waits_for(const struct last *l, const struct event *wait)
{
	switch (last_wait_kind(wait)) {
	case PLAIT_EV_LOCK:
	case PLAIT_EV_RDLOCK:
	case PLAIT_EV_WRLOCK:
		return holder(l, wait->address, wait->thread);
	case PLAIT_EV_JOIN:
		return wait->address && wait->address <= l->nthreads ? (uint32_t)wait->address - 1
								     : UINT32_MAX;
	default:
		return UINT32_MAX;
	}
}

/* The next one in a chain of threads that wait for each other. */
static uint32_t next_of(const struct last *l, uint32_t i)
{
	return l->threads[i].waits ? last_waits_for(l, last_wait(&l->threads[i])) : UINT32_MAX;
}

static void find_rings(struct last *l)
{
	for (uint32_t i = 0; i < l->nthreads; i++) {
		uint32_t at = next_of(l, i);

		for (size_t steps = 0; at != UINT32_MAX && at != i && steps < l->nthreads; steps++)
			at = next_of(l, at);
		l->threads[i].in_ring = at == i;
	}
}

/* Threads are numbered by their births (rt/core/last.c). */
static size_t count_gone(const struct trace_meta *m)
{
	size_t youngest = 0;

	for (size_t i = 0; i < m->nthreads; i++)
		youngest = MAX(youngest, m->threads[i].ordinal);
	return youngest + 1 > m->nthreads ? youngest + 1 - m->nthreads : 0;
}

struct err *last_read(struct trace *t, size_t keep, struct last *ret)
{
	const struct trace_meta *m = trace_meta(t);
	const struct event *ev;
	struct cursor c;
	struct err *err;

	assert(keep > 0);
	*ret = (struct last){ .nthreads = m->nthreads, .keep = keep };
	ret->threads = xcalloc(m->nthreads + 1, sizeof(*ret->threads));
	for (size_t i = 0; i < m->nthreads; i++)
		ret->threads[i].events = xcalloc(keep, sizeof(*ev));
	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		struct last_thread *of = &ret->threads[ev->thread];

		if (ev->index == 0) {
			of->first = ev->clock;
			of->cut = ev->kind != PLAIT_EV_STACK && ev->kind != PLAIT_EV_START;
		}
		follow_locks(of, ev);
		keep_event(ret, of, ev);
		ret->end = MAX(ret->end, ev->clock);
	}
	cursor_deinit(&c);
	for (size_t i = 0; i < m->nthreads; i++)
		finish_thread(ret, &ret->threads[i], &m->threads[i]);
	ret->gone = count_gone(m);
	find_rings(ret);
	return err;
}

void last_deinit(struct last *l)
{
	for (size_t i = 0; i < l->nthreads; i++) {
		vec_deinit(&l->threads[i].locks);
		free(l->threads[i].events);
	}
	free(l->threads);
	*l = (struct last){ 0 };
}
