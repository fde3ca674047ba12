/* order/why/projection.c - differential schedule projections; see projection.h.
 *
 * Everything is linear but the hashing: an access is part of an inverted pair exactly when some
 * conflicting access before it in the first run comes after it in the second (a running maximum of
 * second positions tells) or the other way round (a running minimum from the end). */
#include "order/why/projection.h"

#include "order/model/eval.h"

struct side {
	const struct projected_event *ev;
	size_t n;
	size_t *source; /* by position: the write a read observes */
	size_t *other;	/* by position: where the same event is in the other run */
};

#define ABSENT (SIZE_MAX - 1)

static uint64_t identity(const struct projected_event *e)
{
	return (uint64_t)e->thread << 32 | e->index;
}

static void find_sources(struct side *s)
{
	struct map last = { 0 };

	for (size_t i = 0; i < s->n; i++) {
		const struct projected_event *e = &s->ev[i];
		s->source[i] = ABSENT;
		if (!e->memory)
			continue;
		if (e->reads)
			s->source[i] = map_get_or(&last, e->object, PROJECTION_INITIAL);
		if (e->writes)
			*map_put(&last, e->object, i) = i;
	}
	map_deinit(&last);
}

static void find_others(struct side *a, const struct side *b)
{
	struct map at = { 0 };

	for (size_t i = 0; i < b->n; i++)
		map_put(&at, identity(&b->ev[i]), i);
	for (size_t i = 0; i < a->n; i++)
		a->other[i] = map_get_or(&at, identity(&a->ev[i]), ABSENT);
	map_deinit(&at);
}

static void show(struct order_projection *p, int side, size_t i)
{
	p->nshown[side] += !p->shown[side][i];
	p->shown[side][i] = true;
}

/* Flows of a that b does not have. */
static void compare_flows(const struct side *a, const struct side *b, int side,
			  struct order_projection *p)
{
	for (size_t i = 0; i < a->n; i++) {
		size_t from = a->source[i], twin = a->other[i];
		if (from == ABSENT)
			continue;
		p->total_flows[side]++;
		if (twin != ABSENT) {
			size_t there = b->source[twin];
			bool same = from == PROJECTION_INITIAL ? there == PROJECTION_INITIAL
							       : a->other[from] == there;
			if (same)
				continue;
		}
		vec_push(&p->flows, (struct order_flow){ side == 1, from, i });
		show(p, side, i);
		if (from != PROJECTION_INITIAL)
			show(p, side, from);
	}
}

/* Extreme second positions of the accesses to one object so far: of writes, of all. */
struct extreme {
	size_t write[2], any[2]; /* best, and best of another thread than the best's */
	uint32_t write_thread, any_thread;
};

static bool beats(size_t a, size_t b, bool low)
{
	return b == ABSENT || (low ? a < b : a > b);
}

static void remember(size_t *best, uint32_t *thread, size_t at, uint32_t t, bool low)
{
	if (best[0] != ABSENT && *thread == t) {
		if (beats(at, best[0], low))
			best[0] = at;
	} else if (beats(at, best[0], low)) {
		best[1] = best[0];
		best[0] = at;
		*thread = t;
	} else if (beats(at, best[1], low)) {
		best[1] = at;
	}
}

static bool inverted(const size_t *best, uint32_t thread, size_t at, uint32_t t, bool low)
{
	size_t b = thread == t ? best[1] : best[0];

	return b != ABSENT && (low ? b < at : b > at);
}

static void find_inversions(const struct side *a, bool backwards, struct order_projection *p)
{
	struct map index = { 0 };
	VEC(struct extreme) all = { 0 };

	for (size_t k = 0; k < a->n; k++) {
		size_t i = backwards ? a->n - 1 - k : k, at = a->other[i];
		const struct projected_event *e = &a->ev[i];
		if (at == ABSENT || (!e->reads && !e->writes))
			continue;
		size_t n = *map_put(&index, e->object, all.len);
		if (n == all.len)
			vec_push(&all, (struct extreme){ .write = { ABSENT, ABSENT },
							 .any = { ABSENT, ABSENT } });
		struct extreme *x = &all.data[n];
		if (e->writes ? inverted(x->any, x->any_thread, at, e->thread, backwards)
			      : inverted(x->write, x->write_thread, at, e->thread, backwards)) {
			show(p, 0, i);
			show(p, 1, at);
		}
		remember(x->any, &x->any_thread, at, e->thread, backwards);
		if (e->writes)
			remember(x->write, &x->write_thread, at, e->thread, backwards);
	}
	map_deinit(&index);
	vec_deinit(&all);
}

static void count_flow_events(const struct side *sides, struct order_projection *p)
{
	struct map seen = { 0 };

	for (size_t i = 0; i < p->flows.len; i++) {
		const struct order_flow *f = &p->flows.data[i];
		const struct side *s = &sides[f->in_second];
		map_put(&seen, identity(&s->ev[f->to]), 1);
		if (f->from != PROJECTION_INITIAL)
			map_put(&seen, identity(&s->ev[f->from]), 1);
	}
	p->flow_events = seen.len;
	map_deinit(&seen);
}

void order_project(const struct projected_event *first, size_t nfirst,
		   const struct projected_event *second, size_t nsecond,
		   struct order_projection *ret)
{
	struct side s[2] = { { .ev = first, .n = nfirst }, { .ev = second, .n = nsecond } };

	*ret = (struct order_projection){ 0 };
	for (int i = 0; i < 2; i++) {
		s[i].source = xcalloc(s[i].n + 1, sizeof(*s[i].source));
		s[i].other = xcalloc(s[i].n + 1, sizeof(*s[i].other));
		ret->shown[i] = xcalloc(s[i].n + 1, sizeof(**ret->shown));
		find_sources(&s[i]);
	}
	find_others(&s[0], &s[1]);
	find_others(&s[1], &s[0]);
	while (ret->prefix < nfirst && ret->prefix < nsecond &&
	       identity(&first[ret->prefix]) == identity(&second[ret->prefix]))
		ret->prefix++;
	compare_flows(&s[0], &s[1], 0, ret);
	compare_flows(&s[1], &s[0], 1, ret);
	find_inversions(&s[0], false, ret);
	find_inversions(&s[0], true, ret);
	count_flow_events(s, ret);
	for (int i = 0; i < 2; i++) {
		free(s[i].source);
		free(s[i].other);
	}
}

void order_projection_deinit(struct order_projection *p)
{
	vec_deinit(&p->flows);
	free(p->shown[0]);
	free(p->shown[1]);
}

struct projected_event *order_projected_events(const struct order_model *m, const uint32_t *order,
					       size_t len)
{
	struct projected_event *r = xcalloc(len + 1, sizeof(*r));
	uint64_t *values = xcalloc(m->symbols.len + 1, sizeof(*values));
	struct eval ev;

	for (size_t i = 0; i < m->symbols.len; i++)
		values[i] = m->symbols.data[i].hint;
	order_validate(m, ORDER_ANY, order, len, values, NULL);
	eval_init(&ev, &m->terms, m->symbols.len);
	for (uint32_t i = 0; i < m->symbols.len; i++)
		eval_set(&ev, i, values[i]);
	for (size_t i = 0; i < len; i++) {
		const struct order_event *e = &m->events.data[order[i]];
		enum order_object_kind kind = order_kind_object((enum order_kind)e->kind);

		r[i] = (struct projected_event){ .thread = e->thread,
						 .index = e->index,
						 .object = e->object,
						 .site = e->site,
						 .memory = kind == ORDER_OBJECT_CELL };
		r[i].reads = e->symbol != ORDER_NONE;
		r[i].writes = e->value != TERM_NONE;
		if (r[i].writes)
			eval_get(&ev, e->value, &r[i].value);
		else if (r[i].reads)
			r[i].value = values[e->symbol];
		if (!r[i].memory && kind != ORDER_OBJECT_NONE && kind != ORDER_OBJECT_THREAD)
			r[i].writes = true; /* synchronisation: its order matters */
	}
	eval_deinit(&ev);
	free(values);
	return r;
}
