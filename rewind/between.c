/* rewind/between.c - see between.h.
 *
 * Candidates come from the interleaving that was found:
 *   - two accesses of one thread to one place, and an access of another thread between them that no order of the
 *     two without an interruption can explain (read-write-write, read-write-read, write-write-read,
 *     write-read-write);
 *   - two writes of one thread to two places, and another thread that saw the first but not the second;
 *   - if it is none of these, two accesses of two threads, one of which reads what the other writes: the wrong order. There
 *     must be a run with the other order, too.
 * A candidate is the cause when the failure cannot happen any more if nobody may come in between, everything
 * else being the same. The order engine decides that; a pattern alone is no cause. */
#include "rewind/between.h"

#include "base/log.h"
#include "base/mem.h"
#include "rewind/cause.h"

#include <stdlib.h>

enum { MOST_CANDIDATES = 16, MOST_COMBINATIONS = 32, MOST_REVERSED = 8 };

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
	for (uint32_t i = 0; (q->bad || q->reaches) && i < s->in->n; i++) {
		const struct track *t = s->in->tracks[i];

		if (q->reaches && q->reaches != i + 1)
			continue;
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
		    (b.z || s->candidates.data[i].y == b.y) &&
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

/* Does the thread have to wait for others between two of its accesses? Then nobody can be kept out there. */
static bool waits_between(const struct search *s, const struct seen *x, const struct seen *z)
{
	const struct track *t = s->in->tracks[x->track];

	for (uint32_t i = x->event; i < z->event && i < t->events.len; i++) {
		const struct ahead_event *e = &t->events.data[i];

		if (e->kind == AHEAD_JOIN)
			return true;
		if (e->kind == AHEAD_UNLOCK && i + 1 < t->events.len && e[1].kind == AHEAD_LOCK &&
		    e[1].step == e->step)
			return true;
	}
	return false;
}

static void add_triple(struct search *s, const struct seen *x, const struct seen *y,
		       const struct seen *z)
{
	enum cause_kind kind;

	if (waits_between(s, x, z))
		return;
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
			    a->unit == c->unit || waits_between(s, a, c))
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

/* ---- two accesses in the wrong order ---- */

/* How many accesses of the same instruction come before this one. */
static uint32_t nth_of(const struct track *t, uint32_t event)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < event; i++)
		n += t->events.data[i].insn == t->events.data[event].insn &&
		     t->events.data[i].kind == t->events.data[event].kind &&
		     t->events.data[i].address == t->events.data[event].address;
	return n;
}

/* The access on another way of the same thread; UINT32_MAX: it does not come to it. */
static uint32_t event_like(const struct track *t, uint64_t insn, uint64_t place, uint32_t nth)
{
	for (uint32_t i = 0; i < t->events.len && !t->events.data[i].future; i++) {
		const struct ahead_event *e = &t->events.data[i];

		if (e->kind <= AHEAD_WRITE && e->insn == insn && e->address == place &&
		    nth_of(t, i) == nth)
			return i;
	}
	return UINT32_MAX;
}

/* What one thread wrote and another read, next to each other in the order that was found; the latest first. */
static void find_pairs(struct search *s)
{
	for (size_t y = s->seen.len; y-- > 0;) {
		const struct seen *c = &s->seen.data[y], *a = NULL;

		if (c->future || !s->relevant[c->unit])
			continue;
		for (size_t x = y; x-- > 0 && !a;)
			if (s->seen.data[x].unit == c->unit)
				a = &s->seen.data[x];
		if (!a || a->track == c->track || a->writes == c->writes)
			continue;
		add(s, (struct between){ .kind = CAUSE_WRONG_ORDER,
					 .a = a->track,
					 .b = c->track,
					 .x = a->insn,
					 .y = c->insn,
					 .nth_x = nth_of(s->in->tracks[a->track], a->event),
					 .nth_y = nth_of(s->in->tracks[c->track], c->event),
					 .writes = a->writes,
					 .place = event_of(s, a)->address });
	}
}

/* ---- the decision ---- */

/* Can it fail in this combination of ways when nobody comes in between? */
static struct err *fails_so(struct search *s, const struct weave_input *in,
			    struct weave_question *q, double deadline, bool *ret)
{
	size_t failed = s->t->failed;
	struct weave w;
	struct err *err;

	if (q->bad)
		q->bad = in->tracks[failed]->end[s->t->bad_register];
	err = weave_solve(in, q, MAX(deadline - work_seconds(), 0.1), &w);
	*ret = w.answer.status != ORDER_UNSAT;
	weave_deinit(&w);
	return err;
}

bool between_forbid(const struct between *b, const struct track *const *tracks,
		    struct weave_question *q)
{
	uint32_t x, y;

	if (b->kind != CAUSE_WRONG_ORDER) {
		q->first = b->x;
		q->last = b->future ? 0 : b->z;
		q->places[0] = b->place;
		q->places[1] = b->place2;
		return true;
	}
	x = event_like(tracks[b->a], b->x, b->place, b->nth_x);
	y = event_like(tracks[b->b], b->y, b->place, b->nth_y);
	q->nedges = x != UINT32_MAX && y != UINT32_MAX;
	q->edges[0] = (struct weave_edge){ b->b, y, b->a, x };
	return q->nedges;
}

/* Can it still fail? Asked about every way of every thread. */
static struct err *still_fails(struct search *s, const struct weave_question *q,
			       const struct between *b, double deadline, bool *ret)
{
	const struct track **tracks = xcalloc(s->in->n + 1u, sizeof(*tracks));
	struct weave_input in = *s->in;
	uint32_t at[MOST_THREADS] = { 0 }, n = 0;
	struct err *err = NULL;

	*ret = false;
	for (bool more = true; !err && !*ret && more; n++) {
		struct weave_question without = *q;

		without.dump = false;
		between_forbid(b, in.tracks, &without);
		err = fails_so(s, &in, &without, deadline, ret);
		more = !n || threads_next(s->t, at); /* the ways that were found first, then all */
		in.tracks = tracks;
		for (uint32_t i = 0; i < in.n; i++)
			tracks[i] = s->t->tracks[i].all.data[at[i]];
		*ret |= more && (n == MOST_COMBINATIONS || work_seconds() > deadline);
	}
	free(tracks);
	return err;
}

/* Is there a run at all with the two accesses the other way round? The thread that failed takes another way then. */
static struct err *can_be_reversed(struct search *s, const struct between *b, double deadline,
				   bool *ret)
{
	const struct tracks *failed = s->t->failed < s->in->n ? &s->t->tracks[s->t->failed] : NULL;
	const struct track **tracks = xcalloc(s->in->n + 1u, sizeof(*tracks));
	struct weave_input in = *s->in;
	struct err *err = NULL;
	unsigned asked = 0;

	*ret = false;
	for (uint32_t i = 0; i < in.n; i++)
		tracks[i] = s->in->tracks[i];
	in.tracks = tracks;
	for (size_t i = 0;
	     failed && i < failed->dropped.len && asked < MOST_REVERSED && !*ret && !err; i++) {
		struct weave_question other = { 0 };
		struct weave w;

		tracks[s->t->failed] = failed->dropped.data[i];
		if (!between_forbid(b, tracks, &other))
			continue;
		asked++;
		err = weave_solve(&in, &other, MAX(deadline - work_seconds(), 0.1), &w);
		*ret = !err && w.answer.status == ORDER_SAT;
		weave_deinit(&w);
	}
	free(tracks);
	return err;
}

/* The first candidate without which it cannot fail. */
static struct err *decide(struct search *s, const struct weave_question *q, double deadline)
{
	struct err *err = NULL;

	for (size_t i = 0; i < MIN(s->candidates.len, (size_t)MOST_CANDIDATES) && !err; i++) {
		const struct between *b = &s->candidates.data[i];
		bool fails, reversed = true;

		err = still_fails(s, q, b, deadline, &fails);
		if (!err && !fails && b->kind == CAUSE_WRONG_ORDER)
			err = can_be_reversed(s, b, deadline, &reversed);
		if (err || fails || !reversed)
			continue;
		s->t->cause = *b;
		break;
	}
	return err;
}

struct err *between_find(struct threads *t, const struct weave_input *in,
			 const struct weave_question *q, double deadline)
{
	struct search s = { .t = t, .in = in };
	struct err *err;

	s.relevant = xcalloc(t->weave.units.len + 1, sizeof(*s.relevant));
	collect(&s);
	find_relevant(&s, q);
	find_triples(&s);
	find_halves(&s);
	vec_sort(&s.candidates, by_kind);
	err = decide(&s, q, deadline);
	if (!err && !t->cause.x) {
		vec_clear(&s.candidates);
		find_pairs(&s);
		err = decide(&s, q, deadline);
	}
	free(s.relevant);
	vec_deinit(&s.seen);
	vec_deinit(&s.candidates);
	return err;
}
