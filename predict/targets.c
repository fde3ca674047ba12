/* predict/targets.c - ways to stop each other that a run which went well shows.
 *
 * Cycles of locks. A thread that takes a lock while it holds another has an edge from the one to
 * the other. Edges of different threads that form a cycle, with no lock held by two of them, are a
 * chance: each thread comes to the point where it takes its second lock. Whether they can be there
 * at once is for the order engine to say. A semaphore that begins with 1, and that every thread takes
 * and gives back in turn, is a lock, too.
 *
 * Waits with a lock in hand. A thread waits for a semaphore, a signal, a barrier or another thread's
 * end while it holds a lock, and the one that would help takes that lock first. The chance: the one
 * is about to wait, the other about to take the lock.
 *
 * Signals that come too early. A wait that was woken by a signal may wait for ever if every thread
 * that signals has done so before. The chance: the thread is about to wait, and the others are
 * behind their last signal. A loop around the wait that looks at a flag under the lock makes that
 * impossible, and the answer is no.
 *
 * Loops that nobody ends. A decision that a thread takes again and again goes the other way, and
 * those who write what it looks at have all done their last write. */
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

/* Semaphores that are used as locks, by object. */
static bool *find_lock_sems(const struct order_model *m)
{
	bool *is = xcalloc(m->objects.len + 1, sizeof(*is));
	uint32_t *held = xcalloc(m->objects.len + 1, sizeof(*held));

	for (size_t o = 0; o < m->objects.len; o++)
		is[o] = m->objects.data[o].kind == ORDER_OBJECT_SEM &&
			m->objects.data[o].initial == 1;
	for (size_t t = 0; t < m->threads.len; t++) {
		memset(held, 0, m->objects.len * sizeof(*held));
		for (size_t i = 0; i < m->threads.data[t].len; i++) {
			const struct order_event *e = &m->events.data[m->threads.data[t].data[i]];

			if (e->kind == ORDER_SEM_WAIT)
				is[e->object] &= held[e->object]++ == 0;
			if (e->kind == ORDER_SEM_POST)
				is[e->object] &= held[e->object]-- == 1;
		}
	}
	free(held);
	return is;
}

/* As order_lock_effect, with these semaphores. */
static int effect_of(const bool *lock_sems, const struct order_event *e, uint32_t *lock)
{
	if ((e->kind == ORDER_SEM_WAIT || e->kind == ORDER_SEM_POST) && lock_sems[e->object]) {
		*lock = e->object;
		return e->kind == ORDER_SEM_WAIT ? 1 : -1;
	}
	return order_lock_effect(e, lock);
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

/* Waits for something that another thread does. */
static bool is_wait(const bool *lock_sems, const struct order_event *e)
{
	return (e->kind == ORDER_SEM_WAIT && !lock_sems[e->object]) || e->kind == ORDER_WAKE ||
	       e->kind == ORDER_JOIN || e->kind == ORDER_BARRIER_LEAVE;
}

/* Where locks are taken with others in hand, and where something else is waited for with one. */
static void find_nested(const struct order_model *m, const bool *lock_sems, struct nesteds *locks,
			struct nesteds *waits)
{
	struct held_locks held = { 0 };

	for (size_t t = 0; t < m->threads.len; t++) {
		held.len = 0;
		for (size_t i = 0; i < m->threads.data[t].len; i++) {
			const struct order_event *e = &m->events.data[m->threads.data[t].data[i]];
			uint32_t lock;
			int effect = effect_of(lock_sems, e, &lock);

			if (e->synthetic)
				break;
			if (is_wait(lock_sems, e) && held.len)
				note_nested(e, e->object, &held, waits);
			if (effect > 0 && held.len && !holds(&held, lock))
				note_nested(e, lock, &held, locks);
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
	struct chance new = { .target = PREDICT_DEADLOCK, .condition = ORDER_NONE, .ngoals = c->n };
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

static void find_cycles(struct base *b, struct nesteds *all)
{
	struct cycles c = { .b = b, .n = 1, .all = *all };

	for (uint32_t i = 0; i < c.all.len; i++) {
		c.stack[0] = i;
		extend(&c);
	}
	b->may_stick |= c.found >= MOST_CYCLES || c.looks > MOST_LOOKS;
	map_deinit(&c.seen);
}

/* ---- waits with a lock in hand ---- */

/* Is `thread` the one waited for, or one that it waits for itself? */
static bool is_joined(const struct order_model *m, uint32_t joined, uint32_t thread, unsigned depth)
{
	const struct order_thread *t = &m->threads.data[joined];

	for (size_t i = 0; i < t->len && depth && joined != thread; i++) {
		const struct order_event *e = &m->events.data[t->data[i]];

		if (e->kind == ORDER_JOIN && is_joined(m, e->object, thread, depth - 1))
			return true;
	}
	return joined == thread;
}

/* Does this event help one that waits at `wait`? */
static bool helps(const struct order_model *m, const struct nested *wait,
		  const struct order_event *e)
{
	const struct order_event *w =
		&m->events.data[m->threads.data[wait->thread].data[wait->index]];

	switch (w->kind) {
	case ORDER_SEM_WAIT:
		return e->kind == ORDER_SEM_POST && e->object == w->object;
	case ORDER_WAKE:
		return (e->kind == ORDER_SIGNAL || e->kind == ORDER_BROADCAST) &&
		       e->object == w->object;
	case ORDER_BARRIER_LEAVE:
		return e->kind == ORDER_BARRIER_ENTER && e->object == w->object;
	default: /* a join */
		return e->kind == ORDER_EXIT && is_joined(m, w->object, e->thread, 4);
	}
}

static bool is_held(const struct nested *n, uint32_t lock)
{
	for (uint32_t i = 0; i < n->nheld; i++)
		if (n->held[i] == lock)
			return true;
	return false;
}

static void add_waiting(struct base *b, const struct nested *wait, uint32_t thread, uint32_t index)
{
	const struct order_event *w =
		&b->l.built.m->events
			 .data[b->l.built.m->threads.data[wait->thread].data[wait->index]];
	/* a thread that has begun to wait or entered the barrier is not stopped in between */
	uint32_t at = w->kind == ORDER_WAKE || w->kind == ORDER_BARRIER_LEAVE ? wait->index - 1
									      : wait->index;

	vec_push(&b->chances,
		 ((struct chance){ .target = PREDICT_DEADLOCK,
				   .key = hash_u64(wait->site ^ hash_u64(thread * 77u + index)),
				   .condition = ORDER_NONE,
				   .ngoals = 2,
				   .goals = { { wait->thread, at, UINT32_MAX, false },
					      { thread, index, UINT32_MAX, false } } }));
}

/* Where u takes a lock that the waiting thread holds and helps it later: the first and the last such
 * place. */
static void find_helper(struct base *b, const bool *lock_sems, const struct nested *wait,
			uint32_t u)
{
	const struct order_model *m = b->l.built.m;
	const struct order_thread *t = &m->threads.data[u];
	uint32_t first = ORDER_NONE, last = ORDER_NONE, open = ORDER_NONE;

	for (uint32_t i = 0; i < t->len; i++) {
		const struct order_event *e = &m->events.data[t->data[i]];
		uint32_t lock;

		if (effect_of(lock_sems, e, &lock) > 0 && is_held(wait, lock))
			open = i;
		if (!helps(m, wait, e) || open == ORDER_NONE)
			continue;
		if (first == ORDER_NONE)
			first = open;
		last = open;
	}
	if (first != ORDER_NONE)
		add_waiting(b, wait, u, first);
	if (last != first)
		add_waiting(b, wait, u, last);
}

/* Other ways to wait in a circle than these may exist, as soon as somebody else takes such a lock. */
static bool is_wanted(const struct order_model *m, const bool *lock_sems, const struct nested *wait)
{
	for (size_t i = 0; i < m->events.len; i++) {
		uint32_t lock;

		if (m->events.data[i].thread != wait->thread &&
		    effect_of(lock_sems, &m->events.data[i], &lock) > 0 && is_held(wait, lock))
			return true;
	}
	return false;
}

static void find_waiting(struct base *b, const bool *lock_sems, const struct nesteds *waits)
{
	size_t before = b->chances.len;

	for (size_t i = 0; i < waits->len; i++) {
		if (!is_wanted(b->l.built.m, lock_sems, &waits->data[i]))
			continue;
		b->may_stick = true;
		for (uint32_t u = 0; u < b->l.built.m->threads.len; u++)
			if (u != waits->data[i].thread && b->chances.len < before + MOST_CYCLES)
				find_helper(b, lock_sems, &waits->data[i], u);
	}
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
	struct chance new = { .target = PREDICT_DEADLOCK, .condition = ORDER_NONE, .ngoals = 1 };

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

/* ---- loops ---- */

/* Behind its last write to one of these cells; 0: it never writes there. */
static uint32_t behind_writes(const struct order_model *m, uint32_t thread, const struct map *cells)
{
	const struct order_thread *t = &m->threads.data[thread];

	for (uint32_t i = (uint32_t)t->len; i-- > 0;) {
		const struct order_event *e = &m->events.data[t->data[i]];

		if (e->value != TERM_NONE && !e->synthetic && map_find(cells, e->object))
			return i + 1;
	}
	return 0;
}

static void add_loop(struct base *b, uint32_t condition)
{
	const struct order_model *m = b->l.built.m;
	const struct order_place *at = &m->places.data[condition];
	struct chance new = { .target = PREDICT_HANG,
			      .key = hash_u64(at->site * 31 + at->thread),
			      .condition = condition,
			      .behind = (uint32_t)m->threads.data[at->thread].len - at->index,
			      .ngoals = 1,
			      .goals = { { at->thread, at->index, at->nth, false } } };
	struct order_cells blamed;
	struct map cells = { 0 };

	order_reach_blame(m, m->conditions.data[condition], &blamed);
	for (size_t i = 0; i < blamed.len; i++)
		map_put(&cells, blamed.data[i], 1);
	for (uint32_t t = 0; t < m->threads.len; t++) {
		uint32_t index = t == at->thread ? 0 : behind_writes(m, t, &cells);

		if (index && new.ngoals < MAX_GOALS)
			new.goals[new.ngoals++] = (struct order_goal){ t, index, UINT32_MAX, true };
	}
	if (new.ngoals > 1)
		vec_push(&b->chances, new);
	map_deinit(&cells);
	vec_deinit(&blamed);
}

/* The last time that a thread takes a decision which it has taken before. */
static void find_loops(struct base *b)
{
	const struct order_model *m = b->l.built.m;
	struct map last = { 0 }, times = { 0 };

	for (uint32_t c = 0; c < m->conditions.len; c++) {
		const struct order_place *at = &m->places.data[c];
		uint64_t key = hash_u64(at->site) ^ at->thread;

		if (at->thread == ORDER_NONE || !at->site || at->pin)
			continue;
		++*map_put(&times, key, 0);
		*map_put(&last, key, 0) = c;
	}
	for (uint32_t c = 0; c < m->conditions.len; c++) {
		const struct order_place *at = &m->places.data[c];
		uint64_t key = hash_u64(at->site) ^ at->thread;

		if (at->thread != ORDER_NONE && at->site && !at->pin &&
		    map_get_or(&times, key, 0) > 1 && map_get_or(&last, key, 0) == c)
			add_loop(b, c);
	}
	map_deinit(&last);
	map_deinit(&times);
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
	struct nesteds locks = { 0 }, waits = { 0 };
	bool *lock_sems = find_lock_sems(b->l.built.m);

	if (targets & PREDICT_DEADLOCK) {
		find_nested(b->l.built.m, lock_sems, &locks, &waits);
		find_cycles(b, &locks);
		find_waits(b);
		find_waiting(b, lock_sems, &waits);
	} else {
		b->may_stick = true;
	}
	if (targets & PREDICT_HANG)
		find_loops(b);
	b->may_stick |= has_other_waits(b->l.built.m);
	vec_deinit(&locks);
	vec_deinit(&waits);
	free(lock_sems);
}
