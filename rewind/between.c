/* rewind/between.c - see between.h.
 *
 * Candidates come from the interleaving that was found:
 *   - two accesses of one thread to one place, and an access of another thread between them that no order of the
 *     two without an interruption can explain (read-write-write, read-write-read, write-write-read,
 *     write-read-write);
 *   - two writes of one thread to two places, and another thread that saw the first but not the second.
 * A candidate is the cause when the failure cannot happen any more if nobody may come in between, everything
 * else being the same. The order engine decides that; a pattern alone is no cause. */
#include "rewind/between.h"

#include "base/log.h"
#include "base/mem.h"
#include "rewind/cause.h"

#include <stdlib.h>

enum { MOST_CANDIDATES = 16, MOST_COMBINATIONS = 32 };

/* An access of the interleaving. */
struct seen {
	uint32_t track, event, unit;
	uint64_t insn;
	bool reads, writes;
	bool future; /* did not happen; behind everything */
};

struct search {
	struct threads *t;
	const struct weave_input *in;
	VEC(struct seen) seen; /* in the order found, then the future ones */
	VEC(struct between) candidates;
	bool *relevant; /* per unit */
};

static const struct ahead_event *event_of(const struct search *s, const struct seen *a)
{
	return &s->in->tracks[a->track]->events.data[a->event];
}

static uint32_t unit_at(const struct weave *w, uint64_t address)
{
	uint32_t n = (uint32_t)vec_upper(&w->units, address, address);

	if (!n || address >= w->units.data[n - 1].address + w->units.data[n - 1].bytes)
		return UINT32_MAX;
	return n - 1;
}

static void collect(struct search *s)
{
	const struct weave *w = &s->t->weave;

	for (size_t i = 0; i < w->answer.len; i++) {
		uint32_t id = w->answer.order[i];
		const struct order_event *e = &w->m->events.data[id];
		const struct woven *k = &w->woven.data[id];
		const struct ahead_event *a;

		if (k->track == UINT32_MAX || !weave_happens(w, id))
			continue;
		a = &s->in->tracks[k->track]->events.data[k->event];
		vec_push(&s->seen, ((struct seen){ .track = k->track,
						   .event = k->event,
						   .unit = k->unit,
						   .insn = a->insn,
						   .reads = a->kind == AHEAD_READ,
						   .writes = e->kind != ORDER_READ }));
	}
	for (uint32_t i = 0; i < s->in->n; i++)
		for (uint32_t k = 0; k < s->in->tracks[i]->events.len; k++) {
			const struct ahead_event *a = &s->in->tracks[i]->events.data[k];

			if (!a->future || a->kind != AHEAD_WRITE ||
			    unit_at(w, a->address) == UINT32_MAX)
				continue;
			vec_push(&s->seen, ((struct seen){ .track = i,
							   .event = k,
							   .unit = unit_at(w, a->address),
							   .insn = a->insn,
							   .writes = true,
							   .future = true }));
		}
}

/* ---- which places matter ---- */

/* The places from which the symbols of an expression were read. */
static bool mark_symbols(struct search *s, const struct track *t, expr_id e)
{
	struct exprs *x = &s->in->h->exprs;
	const uint32_t *set = e ? expr_symbols(x, e) : NULL;
	bool changed = false;

	for (uint32_t i = 1; set && i <= set[0]; i++)
		for (size_t k = 0; k < t->events.len; k++) {
			const struct ahead_event *a = &t->events.data[k];
			uint32_t u;

			if (a->kind != AHEAD_READ || a->future ||
			    expr_get(x, a->value)->imm != set[i])
				continue;
			u = unit_at(&s->t->weave, a->address);
			changed |= u != UINT32_MAX && !s->relevant[u];
			if (u != UINT32_MAX)
				s->relevant[u] = true;
		}
	return changed;
}

/* Whatever decides a value, an address, or whether a write to a place that matters happens, matters. */
static bool mark_round(struct search *s)
{
	bool changed = false;

	for (uint32_t i = 0; i < s->in->n; i++) {
		const struct track *t = s->in->tracks[i];

		for (size_t k = 0; k < t->events.len; k++) {
			const struct ahead_event *a = &t->events.data[k];
			uint32_t u = a->kind == AHEAD_WRITE ? unit_at(&s->t->weave, a->address)
							    : UINT32_MAX;

			if (u == UINT32_MAX || a->future || !s->relevant[u])
				continue;
			changed |= mark_symbols(s, t, a->value);
			changed |= mark_symbols(s, t, a->guard);
			for (size_t c = 0; c < t->decided; c++)
				if (t->conditions.data[c].after <= k)
					changed |= mark_symbols(s, t, t->conditions.data[c].bit);
		}
	}
	return changed;
}

static void find_relevant(struct search *s, const struct weave_question *q)
{
	uint32_t u = q->bad_at ? unit_at(&s->t->weave, q->bad_at) : UINT32_MAX;

	if (u != UINT32_MAX)
		s->relevant[u] = true;
	for (uint32_t i = 0; q->bad && i < s->in->n; i++) {
		const struct track *t = s->in->tracks[i];

		mark_symbols(s, t, q->bad);
		/* how that thread came to the failing instruction */
		for (size_t c = 0; t->fits && c < t->decided; c++)
			mark_symbols(s, t, t->conditions.data[c].bit);
	}
	while (mark_round(s))
		;
}

/* ---- candidates ---- */

static void add(struct search *s, struct between b)
{
	for (size_t i = 0; i < s->candidates.len; i++)
		if (s->candidates.data[i].x == b.x && s->candidates.data[i].z == b.z &&
		    s->candidates.data[i].place == b.place)
			return;
	b.order = (uint32_t)s->candidates.len;
	vec_push(&s->candidates, b);
}

/* A lost update before what it may have led to; then the nearest to the failure first. */
static int by_kind(const void *a, const void *b)
{
	const struct between *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void add_triple(struct search *s, const struct seen *x, const struct seen *y,
		       const struct seen *z)
{
	enum cause_kind kind;

	if (x->reads && y->writes && z->writes)
		kind = CAUSE_LOST_UPDATE;
	else if (x->reads && y->writes && z->reads)
		kind = CAUSE_CHANGED_BETWEEN;
	else if (x->writes && y->writes && z->reads)
		kind = CAUSE_OVERWRITTEN;
	else if (x->writes && y->reads && z->writes)
		kind = CAUSE_HALF_UPDATE;
	else
		return;
	add(s, (struct between){ .kind = (uint8_t)kind,
				 .a = x->track,
				 .b = y->track,
				 .x = x->insn,
				 .y = y->insn,
				 .z = z->insn,
				 .place = event_of(s, x)->address });
}

/* Latest first: nearest to the failure. */
static void find_triples(struct search *s)
{
	for (size_t z = s->seen.len; z-- > 0;) {
		const struct seen *c = &s->seen.data[z], *a = NULL;
		size_t x = z;

		if (c->future || !s->relevant[c->unit])
			continue;
		while (x-- > 0 && !a)
			if (s->seen.data[x].track == c->track && s->seen.data[x].unit == c->unit)
				a = &s->seen.data[x];
		for (size_t y = (size_t)(a ? a - s->seen.data : (ptrdiff_t)z) + 1; a && y < z; y++)
			if (s->seen.data[y].unit == c->unit && s->seen.data[y].track != c->track)
				add_triple(s, a, &s->seen.data[y], c);
	}
}

/* b saw the first write of a, at x, but read the second place before a wrote it, at z. */
static void find_halves(struct search *s)
{
	for (size_t x = 0; x < s->seen.len; x++)
		for (size_t z = x + 1; z < s->seen.len; z++) {
			const struct seen *a = &s->seen.data[x], *c = &s->seen.data[z];
			const struct seen *old = NULL, *new = NULL;

			if (!a->writes || !c->writes || a->future || a->track != c->track ||
			    a->unit == c->unit)
				continue;
			for (size_t k = 0; k < z; k++) {
				const struct seen *b = &s->seen.data[k];

				if (b->track == a->track || !b->reads || b->future)
					continue;
				if (b->unit == a->unit && k > x && s->relevant[b->unit])
					new = b;
				if (b->unit == c->unit && s->relevant[b->unit])
					old = b;
			}
			if (old && new && old->track == new->track)
				add(s, (struct between){ .kind = CAUSE_HALF_UPDATE,
							 .a = a->track,
							 .b = new->track,
							 .x = a->insn,
							 .y = old->insn,
							 .y2 = new->insn,
							 .z = c->insn,
							 .place = event_of(s, a)->address,
							 .place2 = event_of(s, c)->address,
							 .future = c->future });
		}
}

/* ---- the decision ---- */

/* Can it still fail when nobody comes in between? Every way of every thread is asked about. */
static struct err *still_fails(struct search *s, const struct weave_question *q,
			       const struct between *b, double deadline, bool *ret)
{
	struct weave_question without = *q;
	struct weave w;
	struct err *err;

	without.dump = false;
	without.first = b->x;
	without.last = b->future ? 0 : b->z;
	without.places[0] = b->place;
	without.places[1] = b->place2;
	err = weave_solve(s->in, &without, MAX(deadline - work_seconds(), 0.1), &w);
	*ret = w.answer.status != ORDER_UNSAT;
	weave_deinit(&w);
	return err;
}

struct err *between_find(struct threads *t, const struct weave_input *in,
			 const struct weave_question *q, double deadline)
{
	struct search s = { .t = t, .in = in };
	struct err *err = NULL;

	s.relevant = xcalloc(t->weave.units.len + 1, sizeof(*s.relevant));
	collect(&s);
	find_relevant(&s, q);
	find_triples(&s);
	find_halves(&s);
	vec_sort(&s.candidates, by_kind);
	for (size_t i = 0; i < MIN(s.candidates.len, (size_t)MOST_CANDIDATES) && !err; i++) {
		bool fails;

		err = still_fails(&s, q, &s.candidates.data[i], deadline, &fails);
		if (err || fails)
			continue;
		t->cause = s.candidates.data[i];
		break;
	}
	free(s.relevant);
	vec_deinit(&s.seen);
	vec_deinit(&s.candidates);
	return err;
}
