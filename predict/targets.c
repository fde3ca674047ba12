/* predict/targets.c - ways to stop each other that a run which went well shows.
 *
 * Cycles of locks. A thread that takes a lock while it holds another has an edge from the one to
 * the other. Edges of different threads that form a cycle, with no lock held by two of them, are a
 * chance: each thread comes to the point where it takes its second lock. Whether they can be there
 * at once is for the order engine to say.
 *
 * Signals that come too early. A wait that was woken by a signal may wait for ever if every thread
 * that signals has done so before. The chance: the thread is about to wait, and the others are
 * behind their last signal. A loop around the wait that looks at a flag under the lock makes that
 * impossible, and the answer is no. */
#include "predict/base.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CYCLES = 200, MOST_LOOKS = 200000, MOST_HELD = 16 };

/* This thread, at this event, takes `lock` while it holds the others. */
struct nested {
	uint32_t thread, index, lock;
	bool shared; /* as a reader */
	uint32_t held[MOST_HELD], nheld;
	bool held_shared[MOST_HELD];
	uint64_t site;
};
struct nesteds VEC_FIELDS(struct nested);

/* ---- cycles ---- */

struct held_lock {
	uint32_t lock;
	bool shared;
};
struct held_locks VEC_FIELDS(struct held_lock);

static bool holds(const struct held_locks *h, uint32_t lock)
{
	for (size_t i = 0; i < h->len; i++)
		if (h->data[i].lock == lock)
			return true;
	return false;
}

static void release(struct held_locks *h, uint32_t lock)
{
	for (size_t i = h->len; i-- > 0;)
		if (h->data[i].lock == lock) {
			memmove(&h->data[i], &h->data[i + 1],
				(h->len - i - 1) * sizeof(h->data[i]));
			h->len--;
			return;
		}
}

static void note_nested(const struct order_event *e, uint32_t lock, const struct held_locks *held,
			struct nesteds *ret)
{
	struct nested n = { .thread = e->thread,
			    .index = e->index,
			    .lock = lock,
			    .shared = e->kind == ORDER_RDLOCK,
			    .site = e->site };

	for (size_t i = 0; i < held->len && n.nheld < MOST_HELD; i++) {
		n.held_shared[n.nheld] = held->data[i].shared;
		n.held[n.nheld++] = held->data[i].lock;
	}
	vec_push(ret, n);
}

static void find_nested(const struct order_model *m, struct nesteds *ret)
{
	struct held_locks held = { 0 };

	for (size_t t = 0; t < m->threads.len; t++) {
		held.len = 0;
		for (size_t i = 0; i < m->threads.data[t].len; i++) {
			const struct order_event *e = &m->events.data[m->threads.data[t].data[i]];
			uint32_t lock;
			int effect = order_lock_effect(e, &lock);

			if (e->synthetic)
				break;
			if (effect > 0 && held.len && !holds(&held, lock))
				note_nested(e, lock, &held, ret);
			if (effect > 0)
				vec_push(&held,
					 ((struct held_lock){ lock, e->kind == ORDER_RDLOCK }));
			if (effect < 0)
				release(&held, lock);
		}
	}
	vec_deinit(&held);
}

/* Does b hold what a wants, in a way that keeps a waiting? */
static bool waits_for(const struct nested *a, const struct nested *b)
{
	for (uint32_t i = 0; i < b->nheld; i++)
		if (b->held[i] == a->lock && !(a->shared && b->held_shared[i]))
			return true;
	return false;
}

static bool share_a_lock(const struct nested *a, const struct nested *b)
{
	for (uint32_t i = 0; i < a->nheld; i++)
		for (uint32_t k = 0; k < b->nheld; k++)
			if (a->held[i] == b->held[k] && !(a->held_shared[i] && b->held_shared[k]))
				return true;
	return false;
}

struct cycles {
	struct base *b;
	struct nesteds all;
	struct map seen; /* places of a cycle -> 1 */
	uint32_t stack[MAX_GOALS], n;
	size_t found, looks;
};

static void add_cycle(struct cycles *c)
{
	struct chance new = { .condition = ORDER_NONE, .ngoals = c->n };
	uint64_t key = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct nested *x = &c->all.data[c->stack[i]];

		key += hash_u64(hash_u64(x->site) ^ hash_u64(x->thread << 20 ^ x->lock) ^
				hash_u64(x->index + 5));
		new.goals[i] = (struct order_goal){ x->thread, x->index, UINT32_MAX, false };
	}
	if (*map_put(&c->seen, key, 0))
		return;
	*map_put(&c->seen, key, 0) = 1;
	vec_push(&c->b->chances, new);
	c->found++;
}

static bool fits(const struct cycles *c, const struct nested *next)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct nested *x = &c->all.data[c->stack[i]];

		if (x->thread == next->thread || share_a_lock(x, next))
			return false;
	}
	return waits_for(&c->all.data[c->stack[c->n - 1]], next);
}

/* Each cycle once: it begins with its lowest number. */
static void extend(struct cycles *c)
{
	const struct nested *last = &c->all.data[c->stack[c->n - 1]];

	if (c->found >= MOST_CYCLES || c->looks > MOST_LOOKS)
		return;
	if (c->n > 1 && waits_for(last, &c->all.data[c->stack[0]]))
		add_cycle(c);
	if (c->n == MAX_GOALS)
		return;
	for (uint32_t i = c->stack[0] + 1; i < c->all.len; i++, c->looks++)
		if (fits(c, &c->all.data[i])) {
			c->stack[c->n++] = i;
			extend(c);
			c->n--;
		}
}

static void find_cycles(struct base *b)
{
	struct cycles c = { .b = b, .n = 1 };

	find_nested(b->l.built.m, &c.all);
	for (uint32_t i = 0; i < c.all.len; i++) {
		c.stack[0] = i;
		extend(&c);
	}
	b->may_stick |= c.found >= MOST_CYCLES || c.looks > MOST_LOOKS;
	vec_deinit(&c.all);
	map_deinit(&c.seen);
}

/* ---- signals ---- */

static bool is_signal(const struct order_event *e, uint32_t cond)
{
	return (e->kind == ORDER_SIGNAL || e->kind == ORDER_BROADCAST) && e->object == cond;
}

/* Behind its last signal; 0: it never signals. */
static uint32_t behind_signals(const struct order_model *m, uint32_t thread, uint32_t cond)
{
	const struct order_thread *t = &m->threads.data[thread];

	for (uint32_t i = (uint32_t)t->len; i-- > 0;)
		if (is_signal(&m->events.data[t->data[i]], cond))
			return i + 1;
	return 0;
}

static void add_wait(struct base *b, const struct order_event *wait)
{
	const struct order_model *m = b->l.built.m;
	struct chance new = { .condition = ORDER_NONE, .ngoals = 1 };

	new.goals[0] = (struct order_goal){ wait->thread, wait->index, UINT32_MAX, false };
	for (uint32_t t = 0; t < m->threads.len; t++) {
		uint32_t index = t == wait->thread ? 0 : behind_signals(m, t, wait->object);

		if (!index)
			continue;
		if (new.ngoals == MAX_GOALS)
			return; /* too many signal */
		new.goals[new.ngoals++] = (struct order_goal){ t, index, UINT32_MAX, true };
	}
	if (new.ngoals > 1)
		vec_push(&b->chances, new);
}

static void find_waits(struct base *b)
{
	const struct order_model *m = b->l.built.m;
	size_t before = b->chances.len;

	for (size_t i = 0; i < m->events.len && b->chances.len < before + MOST_CYCLES; i++)
		if (m->events.data[i].kind == ORDER_WAKE)
			add_wait(b, &m->events.data[m->threads.data[m->events.data[i].thread]
							    .data[m->events.data[i].index - 1]]);
}

/* Waits of which we do not ask in which ways they can last for ever. */
static bool has_other_waits(const struct order_model *m)
{
	for (size_t i = 0; i < m->events.len; i++) {
		enum order_object_kind kind =
			order_kind_object((enum order_kind)m->events.data[i].kind);

		if (kind == ORDER_OBJECT_SEM || kind == ORDER_OBJECT_BARRIER ||
		    kind == ORDER_OBJECT_COND || kind == ORDER_OBJECT_RWLOCK ||
		    (m->events.data[i].synthetic && kind == ORDER_OBJECT_MUTEX))
			return true;
	}
	return false;
}

void targets_find(struct base *b, uint32_t targets)
{
	if (!(targets & PREDICT_DEADLOCK))
		return;
	find_cycles(b);
	find_waits(b);
	b->may_stick |= has_other_waits(b->l.built.m);
}
