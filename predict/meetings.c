/* predict/meetings.c - two accesses that a run which went well had in a harmless order.
 *
 * Memory. One thread uses what another gives back. The chance: the one has given it back, the other
 * is about to use it. Under control such a use ends the run, at the use.
 *
 * Data races. Two threads access one cell, at least one writes, not both accesses are atomic, and
 * the threads hold no lock in common. The chance: both are about to make their access.
 *
 * Most such pairs are ordered by the creation of a thread or by its end; those are not asked about.
 * Of equal pairs (same threads, same places in the source) the first and the last use are. */
#include "predict/base.h"

#include "base/map.h"
#include "debug/names.h"

#include <stdlib.h>

enum { MOST_PAIRS = 400, MOST_HELD = 8, MOST_LOOKED_AT = 200000 };

/* ---- what creation and end of threads decide ---- */

/* Per thread: where it is created (ORDER_NONE: at the start), and by whom. */
struct births {
	const struct order_model *m;
	uint32_t *parent, *index;
};

static void births_init(struct births *b, const struct order_model *m)
{
	*b = (struct births){ .m = m,
			      .parent = xcalloc(m->threads.len + 1, sizeof(uint32_t)),
			      .index = xcalloc(m->threads.len + 1, sizeof(uint32_t)) };
	for (size_t t = 0; t < m->threads.len; t++)
		b->parent[t] = ORDER_NONE;
	for (size_t i = 0; i < m->events.len; i++) {
		const struct order_event *e = &m->events.data[i];

		if (e->kind == ORDER_FORK && e->object < m->threads.len) {
			b->parent[e->object] = e->thread;
			b->index[e->object] = e->index;
		}
	}
}

static void births_deinit(struct births *b)
{
	free(b->parent);
	free(b->index);
}

/* Must this thread have come to an end before `thread` can do its event number `index`? */
static bool has_ended(const struct births *b, uint32_t ended, uint32_t thread, uint32_t index,
		      unsigned depth)
{
	const struct order_thread *t = &b->m->threads.data[thread];

	for (uint32_t i = 0; i < index && i < t->len; i++) {
		const struct order_event *e = &b->m->events.data[t->data[i]];

		if (e->kind != ORDER_JOIN)
			continue;
		if (e->object == ended ||
		    (depth && e->object < b->m->threads.len && e->object != thread &&
		     has_ended(b, ended, e->object, (uint32_t)b->m->threads.data[e->object].len,
			       depth - 1)))
			return true;
	}
	/* what its creator had waited for before */
	return depth && b->parent[thread] != ORDER_NONE && b->parent[thread] != ended &&
	       has_ended(b, ended, b->parent[thread], b->index[thread], depth - 1);
}

/* Must the creator have done its event number `index` before this thread begins? */
static bool begins_behind(const struct births *b, uint32_t thread, uint32_t creator, uint32_t index)
{
	for (size_t i = 0; i < b->m->threads.len && b->parent[thread] != ORDER_NONE; i++) {
		if (b->parent[thread] == creator)
			return b->index[thread] >= index;
		thread = b->parent[thread];
	}
	return false;
}

/* Can `first` have happened while `second` has not? */
static bool can_come_first(const struct births *b, const struct order_event *first,
			   const struct order_event *second)
{
	enum { DEPTH = 4 };

	return !has_ended(b, second->thread, first->thread, first->index, DEPTH) &&
	       !begins_behind(b, first->thread, second->thread, second->index);
}

/* ---- memory ---- */

struct pairs {
	struct base *b;
	struct births births;
	struct map seen; /* key -> 1: there is one; 2 and more: the place of its last, + 2 */
	size_t found;
};

static uint64_t pair_key(const struct order_event *a, const struct order_event *b)
{
	return hash_u64(hash_u64((uint64_t)a->thread << 32 | b->thread) ^ hash_u64(a->site) * 3 ^
			hash_u64(b->site));
}

static struct order_goal before(const struct order_event *e)
{
	return (struct order_goal){ e->thread, e->index, UINT32_MAX, false };
}

static struct order_goal behind(const struct order_event *e)
{
	return (struct order_goal){ e->thread, e->index + 1, UINT32_MAX, true };
}

/* The first of equal pairs is kept, and the latest takes the place of the one before it. */
static void add_pair(struct pairs *p, uint64_t key, const struct chance *c)
{
	uint64_t *place = map_put(&p->seen, key, 0);

	if (*place > 1) {
		p->b->chances.data[*place - 2] = *c;
		return;
	}
	if (p->found++ >= MOST_PAIRS)
		return;
	vec_push(&p->b->chances, *c);
	*place = *place ? p->b->chances.len + 1 : 1;
}

static void find_uses(struct pairs *p)
{
	const struct order_built *built = &p->b->l.built;

	for (size_t i = 0; i < built->uses.len; i++) {
		const struct order_event *gone = &built->m->events.data[built->uses.data[i].free];
		const struct order_event *use = &built->m->events.data[built->uses.data[i].use];
		uint64_t key = pair_key(use, gone);

		if (can_come_first(&p->births, gone, use))
			add_pair(p, key,
				 &(struct chance){ .target = PREDICT_MEMORY,
						   .key = key,
						   .condition = ORDER_NONE,
						   .ngoals = 2,
						   .goals = { before(use), behind(gone) } });
	}
}

/* ---- races ---- */

struct accesses VEC_FIELDS(uint32_t); /* events */

struct held {
	uint32_t lock[MOST_HELD], n;
};

static void note_lock(struct held *h, const struct order_event *e)
{
	uint32_t lock;
	int effect = order_lock_effect(e, &lock);

	if (effect > 0 && h->n < MOST_HELD)
		h->lock[h->n++] = lock;
	for (uint32_t i = h->n; effect < 0 && i-- > 0;)
		if (h->lock[i] == lock) {
			h->lock[i] = h->lock[--h->n];
			break;
		}
}

static bool share_a_lock(const struct held *a, const struct held *b)
{
	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t k = 0; k < b->n; k++)
			if (a->lock[i] == b->lock[k])
				return true;
	return false;
}

static bool is_atomic(const struct base *b, const struct order_event *e)
{
	struct code_point at;

	if (e->kind == ORDER_RMW || !b->symbols)
		return true;
	return symbols_site(b->symbols, (uint32_t)e->site, &at) && at.site &&
	       at.site->kind >= PLAIT_SITE_ATOMIC_READ && at.site->kind <= PLAIT_SITE_ATOMIC_RMW;
}

static void consider_race(struct pairs *p, const struct held *held, uint32_t x, uint32_t y)
{
	const struct order_model *m = p->b->l.built.m;
	const struct order_event *a = &m->events.data[x], *b = &m->events.data[y];
	uint64_t key;

	if (a->thread == b->thread || (a->kind == ORDER_READ && b->kind == ORDER_READ) ||
	    (is_atomic(p->b, a) && is_atomic(p->b, b)) || share_a_lock(&held[x], &held[y]) ||
	    !can_come_first(&p->births, a, b) || !can_come_first(&p->births, b, a))
		return;
	key = hash_u64(hash_u64(a->site) + hash_u64(b->site));
	add_pair(p, key,
		 &(struct chance){ .target = PREDICT_RACE,
				   .key = key,
				   .condition = ORDER_NONE,
				   .ngoals = 2,
				   .goals = { before(a), before(b) } });
}

static void find_races(struct pairs *p)
{
	const struct order_model *m = p->b->l.built.m;
	struct held *held = xcalloc(m->events.len + 1, sizeof(*held));
	struct accesses *of = xcalloc(m->objects.len + 1, sizeof(*of));
	size_t looked = 0;

	for (size_t t = 0; t < m->threads.len; t++) {
		struct held now = { 0 };

		for (size_t i = 0; i < m->threads.data[t].len; i++) {
			uint32_t e = m->threads.data[t].data[i];

			note_lock(&now, &m->events.data[e]);
			held[e] = now;
			if (order_kind_object((enum order_kind)m->events.data[e].kind) ==
				    ORDER_OBJECT_CELL &&
			    !m->events.data[e].synthetic && m->events.data[e].site)
				vec_push(&of[m->events.data[e].object], e);
		}
	}
	for (size_t o = 0; o < m->objects.len; o++)
		for (size_t i = 0; i < of[o].len; i++)
			for (size_t k = i + 1; k < of[o].len && looked < MOST_LOOKED_AT;
			     k++, looked++)
				consider_race(p, held, of[o].data[i], of[o].data[k]);
	for (size_t o = 0; o < m->objects.len; o++)
		vec_deinit(&of[o]);
	free(of);
	free(held);
}

void meetings_find(struct base *b, uint32_t targets)
{
	struct pairs p = { .b = b };

	if (!(targets & (PREDICT_MEMORY | PREDICT_RACE)))
		return;
	births_init(&p.births, b->l.built.m);
	if (targets & PREDICT_MEMORY)
		find_uses(&p);
	map_deinit(&p.seen);
	p.seen = (struct map){ 0 };
	p.found = 0;
	if (targets & PREDICT_RACE)
		find_races(&p);
	map_deinit(&p.seen);
	births_deinit(&p.births);
}
