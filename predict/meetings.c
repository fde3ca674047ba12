/* predict/meetings.c - two accesses that a run which went well had in a harmless order.
 *
 * Memory. One thread uses what another gives back. The chance: the one has given it back, the other
 * is about to use it. Under control such a use ends the run, at the use.
 *
 * Data races. Two threads access one cell, at least one writes, not both accesses are atomic, and
 * the threads hold no lock in common. The chance: both are about to make their access.
 *
 * Updates that may be lost. Two threads read a cell and write it later, and hold no lock in common
 * meanwhile. The chance: both have read, and both are about to write. What becomes of it the run
 * shows. This finds failures that hang on recorded positions in arrays, of which the other questions
 * say "another value" only.
 *
 * Decisions in the middle of an update. A thread looks at a cell that another one has read and is about
 * to write. The chance: it decides otherwise than recorded while the other is there. (A thread checks
 * and acts, another checks before the first has acted.)
 *
 * Most such pairs are ordered by the creation of a thread or by its end; those are not asked about.
 * Of equal pairs (same threads, same places in the source) the first and the last use are. */
#include "predict/base.h"

#include "base/map.h"
#include "debug/names.h"
#include "sym/sym.h"

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

/* ---- races, and updates that may be lost ---- */

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

static bool is_race(const struct pairs *p, const struct order_event *a, const struct order_event *b)
{
	return (a->kind != ORDER_READ || b->kind != ORDER_READ) &&
	       !(is_atomic(p->b, a) && is_atomic(p->b, b));
}

static uint64_t writes_of(const struct base *b, const struct order_event *e)
{
	struct code_point at;

	return b->symbols && symbols_site(b->symbols, (uint32_t)e->site, &at) && at.site
		       ? sym_writes(at.site)
		       : 0;
}

/* Two accesses of one cell, by different threads, that nothing orders and no lock keeps apart. */
static void consider(struct pairs *p, const struct held *held, uint32_t target, uint32_t x,
		     uint32_t y)
{
	const struct order_model *m = p->b->l.built.m;
	const struct order_event *a = &m->events.data[x], *b = &m->events.data[y];
	uint64_t key;

	if (a->thread == b->thread || share_a_lock(&held[x], &held[y]) ||
	    (target == PREDICT_RACE && !is_race(p, a, b)) || !can_come_first(&p->births, a, b) ||
	    !can_come_first(&p->births, b, a))
		return;
	key = hash_u64(hash_u64(a->site) + hash_u64(b->site) + target);
	add_pair(p, key,
		 &(struct chance){ .target = target,
				   .key = key,
				   .condition = ORDER_NONE,
				   .writes = writes_of(p->b, a) | writes_of(p->b, b),
				   .ngoals = 2,
				   .goals = { before(a), before(b) } });
}

/* Per event: the locks held there. */
static struct held *find_held(const struct order_model *m)
{
	struct held *held = xcalloc(m->events.len + 1, sizeof(*held));

	for (size_t t = 0; t < m->threads.len; t++) {
		struct held now = { 0 };

		for (size_t i = 0; i < m->threads.data[t].len; i++) {
			uint32_t e = m->threads.data[t].data[i];

			note_lock(&now, &m->events.data[e]);
			held[e] = now;
		}
	}
	return held;
}

static bool is_access(const struct order_event *e)
{
	return order_kind_object((enum order_kind)e->kind) == ORDER_OBJECT_CELL && !e->synthetic &&
	       e->site;
}

/* A write to a cell that its thread has read since its last write there. */
static bool is_update(const struct order_model *m, uint32_t event)
{
	const struct order_event *e = &m->events.data[event];
	const struct order_thread *t = &m->threads.data[e->thread];

	for (uint32_t i = e->index; e->kind == ORDER_WRITE && i-- > 0;) {
		const struct order_event *x = &m->events.data[t->data[i]];

		if (is_access(x) && x->object == e->object)
			return x->kind == ORDER_READ;
	}
	return false;
}

/* A decision of one thread and the updates of what it looks at by others. */
struct look {
	struct pairs *p;
	const struct held *held;
	const struct accesses *updates; /* by object */
	uint32_t condition;
};

static void consider_decision(struct look *l, uint32_t read, uint32_t update)
{
	const struct order_model *m = l->p->b->l.built.m;
	const struct order_place *at = &m->places.data[l->condition];
	const struct order_event *a = &m->events.data[read], *b = &m->events.data[update];
	uint64_t key = hash_u64(hash_u64(at->site) * 3 + hash_u64(b->site));

	if (b->thread == at->thread || share_a_lock(&l->held[read], &l->held[update]) ||
	    !can_come_first(&l->p->births, a, b))
		return;
	add_pair(l->p, key,
		 &(struct chance){
			 .target = PREDICT_ASSERT,
			 .key = key,
			 .condition = l->condition,
			 .behind = (uint32_t)m->threads.data[at->thread].len - at->index,
			 .ngoals = 2,
			 .goals = { { at->thread, at->index, at->nth, false }, before(b) } });
}

static void look_at_symbol(void *arg, uint32_t symbol)
{
	struct look *l = arg;
	const struct order_model *m = l->p->b->l.built.m;
	uint32_t read = m->symbols.data[symbol].event;
	const struct accesses *u;

	if (read == ORDER_NONE ||
	    m->events.data[read].thread != m->places.data[l->condition].thread)
		return;
	u = &l->updates[m->events.data[read].object];
	for (size_t i = 0; i < u->len; i++)
		consider_decision(l, read, u->data[i]);
}

static void find_decisions(struct pairs *p, const struct held *held, const struct accesses *updates)
{
	const struct order_model *m = p->b->l.built.m;

	for (uint32_t c = 0; c < m->conditions.len && p->found < MOST_PAIRS; c++)
		if (m->places.data[c].thread != ORDER_NONE && m->places.data[c].site &&
		    !m->places.data[c].pin)
			term_each_symbol(&m->terms, m->conditions.data[c], look_at_symbol,
					 &(struct look){ p, held, updates, c });
}

static void find_pairs(struct pairs *p, uint32_t target)
{
	const struct order_model *m = p->b->l.built.m;
	struct held *held = find_held(m);
	struct accesses *of = xcalloc(m->objects.len + 1, sizeof(*of));
	size_t looked = 0;

	for (uint32_t e = 0; e < m->events.len; e++)
		if (is_access(&m->events.data[e]) && (target == PREDICT_RACE || is_update(m, e)))
			vec_push(&of[m->events.data[e].object], e);
	for (size_t o = 0; o < m->objects.len; o++)
		for (size_t i = 0; i < of[o].len; i++)
			for (size_t k = i + 1; k < of[o].len && looked < MOST_LOOKED_AT;
			     k++, looked++)
				consider(p, held, target, of[o].data[i], of[o].data[k]);
	if (target != PREDICT_RACE)
		find_decisions(p, held, of);
	for (size_t o = 0; o < m->objects.len; o++)
		vec_deinit(&of[o]);
	free(of);
	free(held);
}

static void find_all(struct pairs *p, uint32_t target)
{
	if (target == PREDICT_MEMORY)
		find_uses(p);
	else
		find_pairs(p, target);
	map_deinit(&p->seen);
	p->seen = (struct map){ 0 };
	p->found = 0;
}

void meetings_find(struct base *b, uint32_t targets)
{
	static const uint32_t kinds[] = { PREDICT_MEMORY, PREDICT_ASSERT, PREDICT_RACE };
	struct pairs p = { .b = b };

	births_init(&p.births, b->l.built.m);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (targets & kinds[i])
			find_all(&p, kinds[i]);
	births_deinit(&p.births);
}
