/* order/model/stuck.c - the end of a deadlock: what the threads wait for never comes.
 *
 * A thread that waits for a lock has an event of its own for that (lock-blocked). For the others
 * the model must say that nobody helps them any more. It does so with events beside the program's,
 * which read and write cells of their own:
 *
 *   - The thread raises a flag before it begins to wait. A thread that posts its semaphore, or
 *     broadcasts its condition variable, looks at the flag afterwards: it must still be down.
 *   - A signal wakes one of those who wait, if anybody does. So behind a signal either the flag is
 *     down, or there was another waiter to wake: a counter of those who will be woken goes up with
 *     each wait and down with each signal.
 *   - A semaphore must be at zero: the last thing its waiter does is a try that fails.
 *
 * Between a look and the event it belongs to others may run. That makes orders possible that are
 * none of the program's; the native run sorts them out. */
#include "order/order.h"

struct list VEC_FIELDS(uint32_t);

struct sticker {
	struct order_model *m;
	uint32_t *flag;	   /* per thread: its cell; ORDER_NONE: not stuck in this way */
	uint32_t *waiters; /* per object: counter; ORDER_NONE */
	uint32_t thread;   /* being rewritten */
	struct list old;
};

enum { COUNTER_BITS = 16 };

static uint32_t beside(struct sticker *s, enum order_kind kind, uint32_t cell, term_id value)
{
	uint32_t e = order_event(s->m, s->thread, kind, cell);

	s->m->events.data[e].aside = true;
	if (value != TERM_NONE)
		s->m->events.data[e].value = value;
	return e;
}

static term_id number(struct sticker *s, unsigned bits, uint64_t n)
{
	return term_const(&s->m->terms, bits, n);
}

static const struct order_event *last_of(const struct order_model *m, uint32_t t)
{
	const struct order_thread *x = &m->threads.data[t];

	return x->len ? &m->events.data[x->data[x->len - 1]] : NULL;
}

static bool waits_for_ever(const struct order_event *e)
{
	return e && (e->kind == ORDER_WAIT || (e->kind == ORDER_SEM_FAILED && e->aside));
}

/* Is the i-th event the wait of a thread that wakes? */
static bool will_wake(const struct order_model *m, const struct list *events, size_t i)
{
	return m->events.data[events->data[i]].kind == ORDER_WAIT && i + 1 < events->len &&
	       m->events.data[events->data[i + 1]].kind == ORDER_WAKE;
}

/* Behind an event that helps a waiter of `object`; other: there was another one to help. */
static void look_at_flags(struct sticker *s, uint32_t object, const uint32_t *stuck_on,
			  term_id other)
{
	struct terms *ts = &s->m->terms;

	for (uint32_t t = 0; t < s->m->threads.len; t++) {
		term_id down;

		if (t == s->thread || s->flag[t] == ORDER_NONE || stuck_on[t] != object)
			continue;
		down = term_binary(ts, TERM_EQ,
				   order_value(s->m, beside(s, ORDER_READ, s->flag[t], TERM_NONE)),
				   number(s, 1, 0));
		order_condition(s->m,
				other == TERM_NONE ? down : term_binary(ts, TERM_OR, down, other));
		s->m->stuck++;
	}
}

/* One waiter fewer, if there is any; the answer is whether there was. */
static term_id take_waiter(struct sticker *s, uint32_t counter)
{
	struct terms *ts = &s->m->terms;
	uint32_t e = beside(s, ORDER_RMW, counter, TERM_NONE);
	term_id n = order_value(s->m, e);
	term_id any = term_binary(ts, TERM_NE, n, number(s, COUNTER_BITS, 0));

	s->m->events.data[e].value =
		term_ite(ts, any, term_binary(ts, TERM_SUB, n, number(s, COUNTER_BITS, 1)), n);
	return any;
}

static void before(struct sticker *s, size_t i)
{
	const struct order_event *e = &s->m->events.data[s->old.data[i]];
	uint32_t counter = s->waiters[e->object < s->m->objects.len ? e->object : 0];
	uint32_t add;

	if (i + 1 == s->old.len && s->flag[s->thread] != ORDER_NONE)
		beside(s, ORDER_WRITE, s->flag[s->thread], number(s, 1, 1));
	if (!will_wake(s->m, &s->old, i) || counter == ORDER_NONE)
		return;
	add = beside(s, ORDER_RMW, counter, TERM_NONE);
	s->m->events.data[add].value = term_binary(&s->m->terms, TERM_ADD, order_value(s->m, add),
						   number(s, COUNTER_BITS, 1));
}

static void behind(struct sticker *s, uint32_t event, const uint32_t *stuck_on)
{
	struct order_event e = s->m->events.data[event]; /* the array may move */

	switch (e.kind) {
	case ORDER_SIGNAL:
		look_at_flags(s, e.object, stuck_on,
			      s->waiters[e.object] == ORDER_NONE
				      ? TERM_NONE
				      : take_waiter(s, s->waiters[e.object]));
		break;
	case ORDER_BROADCAST:
		if (s->waiters[e.object] != ORDER_NONE)
			beside(s, ORDER_WRITE, s->waiters[e.object], number(s, COUNTER_BITS, 0));
		look_at_flags(s, e.object, stuck_on, TERM_NONE);
		break;
	case ORDER_SEM_POST:
		look_at_flags(s, e.object, stuck_on, TERM_NONE);
		break;
	default:
		break;
	}
}

/* Write a thread's list of events anew, with those beside them. */
static void rewrite(struct sticker *s, uint32_t thread, const uint32_t *stuck_on)
{
	struct order_thread *t = &s->m->threads.data[thread];

	s->thread = thread;
	vec_clear(&s->old);
	for (size_t i = 0; i < t->len; i++)
		vec_push(&s->old, t->data[i]);
	t->len = 0;
	for (size_t i = 0; i < s->old.len; i++) {
		before(s, i);
		s->m->events.data[s->old.data[i]].index = (uint32_t)t->len;
		vec_push(t, s->old.data[i]);
		behind(s, s->old.data[i], stuck_on);
	}
}

/* A counter for each condition variable on which others are woken. */
static void count_waiters(struct sticker *s, const uint32_t *stuck_on)
{
	struct order_model *m = s->m;

	for (size_t i = 0, n = m->events.len; i < n; i++) {
		struct order_event e = m->events.data[i];

		if (e.kind != ORDER_WAKE || s->waiters[e.object] != ORDER_NONE)
			continue;
		for (uint32_t t = 0; t < m->threads.len; t++)
			if (stuck_on[t] == e.object) {
				s->waiters[e.object] = order_object(m, ORDER_OBJECT_CELL, "waiters",
								    COUNTER_BITS, 0);
				break;
			}
	}
}

void order_model_stick(struct order_model *m)
{
	size_t nt = m->threads.len, no = m->objects.len;
	struct sticker s = { .m = m };
	uint32_t *stuck_on = xcalloc(nt + 1, sizeof(*stuck_on));

	s.flag = xcalloc(nt + 1, sizeof(*s.flag));
	s.waiters = xcalloc(no + nt + 1, sizeof(*s.waiters));
	for (size_t i = 0; i <= no + nt; i++)
		s.waiters[i] = ORDER_NONE;
	for (uint32_t t = 0; t < nt; t++) {
		const struct order_event *e = last_of(m, t);
		bool stuck = waits_for_ever(e);

		stuck_on[t] = stuck ? e->object : ORDER_NONE;
		s.flag[t] = stuck ? order_object(m, ORDER_OBJECT_CELL, "waits for ever", 1, 0)
				  : ORDER_NONE;
	}
	count_waiters(&s, stuck_on);
	for (uint32_t t = 0; t < nt; t++)
		rewrite(&s, t, stuck_on);
	vec_deinit(&s.old);
	free(s.flag);
	free(s.waiters);
	free(stuck_on);
}
