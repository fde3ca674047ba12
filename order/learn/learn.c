/* order/learn/learn.c - atoms about orders, and how the clause learner decides them.
 *
 * A read mentioned by a lemma gets a choice: a clause over what it may observe. Sources that
 * saturation listed are all in it; a read with very many gets them in batches, nearest in the
 * witness first, with one atom standing for the rest. Order atoms are decided only when a lemma
 * needs one of them; everything else about the order is left to the witness.
 *
 * A literal that becomes true adds its edges to the graph. Two atoms of one choice, or two wakes on
 * one signal, are conflicts the theory reports itself instead of listing all pairs as clauses. */
#include "order/learn/learn.h"

#define BATCH 12

/* ---- atoms ---- */

static uint64_t atom_key(enum atom_kind kind, uint32_t a, uint32_t b, uint64_t v)
{
	return hash_u64(hash_u64((uint64_t)a << 32 | b) + hash_u64(v ^ (uint64_t)kind << 56));
}

uint32_t learner_atom(struct learner *l, enum atom_kind kind, uint32_t a, uint32_t b, uint64_t v,
		      bool create)
{
	uint64_t key = atom_key(kind, a, b, v);
	uint64_t *head = map_find(&l->index, key);

	for (uint32_t x = head ? (uint32_t)*head : NONE; x != NONE; x = l->chain.data[x]) {
		const struct atom *t = &l->atoms.data[x];
		if (t->kind == kind && t->a == a && t->b == b && t->v == v)
			return x;
	}
	if (!create)
		return NONE;
	uint32_t x = sat_new_var(&l->sat);
	head = map_put(&l->index, key, NONE);
	vec_push(&l->atoms, (struct atom){ kind, a, b, v });
	vec_push(&l->chain, (uint32_t)*head);
	vec_push(&l->activity, l->step * 0.5);
	vec_push(&l->order_place, NONE);
	*head = x;
	if (l->wanted_cap <= x) {
		size_t cap = l->wanted_cap ? 2 * l->wanted_cap : 256;
		l->wanted = xreallocarray(l->wanted, cap, 1);
		l->wanted_cap = cap;
	}
	l->wanted[x] = 0;
	return x;
}

lit section_lit(struct learner *l, uint32_t i, uint32_t j)
{
	const struct section *x = &l->p->sections.data[i], *y = &l->p->sections.data[j];

	if (x->thread == y->thread)
		return x->open < y->open ? LIT_TRUE : LIT_FALSE;
	if (x->close == NONE || must_precede(l->p, y->open, x->close))
		return LIT_FALSE; /* saturation has added the edge */
	if (y->close == NONE || must_precede(l->p, x->open, y->close))
		return LIT_TRUE;
	if (i < j)
		return lit_pos(learner_atom(l, ATOM_SECTION, i, j, 0, true));
	return lit_not(lit_pos(learner_atom(l, ATOM_SECTION, j, i, 0, true)));
}

lit order_lit(struct learner *l, uint32_t a, uint32_t b)
{
	uint32_t i, j;

	if (must_precede(l->p, a, b))
		return LIT_TRUE;
	if (a == b || must_precede(l->p, b, a))
		return LIT_FALSE;
	if (common_lock(l->p, a, b, &i, &j))
		return section_lit(l, i, j);
	if (a < b)
		return lit_pos(learner_atom(l, ATOM_ORDER, a, b, 0, true));
	return lit_not(lit_pos(learner_atom(l, ATOM_ORDER, b, a, 0, true)));
}

/* ---- heaps by activity ---- */

static double *choice_key(struct learner *l, uint32_t x)
{
	return &l->choices[x].activity;
}
static uint32_t *choice_place(struct learner *l, uint32_t x)
{
	return &l->choices[x].place;
}
static double *order_key(struct learner *l, uint32_t x)
{
	return &l->activity.data[x];
}
static uint32_t *order_place(struct learner *l, uint32_t x)
{
	return &l->order_place.data[x];
}

struct heap_ops {
	double *(*key)(struct learner *l, uint32_t x);
	uint32_t *(*place)(struct learner *l, uint32_t x);
};
static const struct heap_ops choice_ops = { choice_key, choice_place };
static const struct heap_ops order_ops = { order_key, order_place };

static void heap_up(struct learner *l, struct heap *h, const struct heap_ops *o, uint32_t i)
{
	uint32_t x = h->data[i];

	for (; i && *o->key(l, h->data[(i - 1) / 2]) < *o->key(l, x); i = (i - 1) / 2) {
		h->data[i] = h->data[(i - 1) / 2];
		*o->place(l, h->data[i]) = i;
	}
	h->data[i] = x;
	*o->place(l, x) = i;
}

static void heap_insert(struct learner *l, struct heap *h, const struct heap_ops *o, uint32_t x)
{
	if (*o->place(l, x) != NONE)
		return;
	vec_push(h, x);
	heap_up(l, h, o, (uint32_t)h->len - 1);
}

static void heap_drop(struct learner *l, struct heap *h, const struct heap_ops *o)
{
	uint32_t top = h->data[0], x = vec_pop(h), i = 0;

	*o->place(l, top) = NONE;
	if (!h->len)
		return;
	for (;;) {
		uint32_t c = 2 * i + 1;
		if (c >= h->len)
			break;
		if (c + 1 < h->len && *o->key(l, h->data[c + 1]) > *o->key(l, h->data[c]))
			c++;
		if (*o->key(l, h->data[c]) <= *o->key(l, x))
			break;
		h->data[i] = h->data[c];
		*o->place(l, h->data[i]) = i;
		i = c;
	}
	h->data[i] = x;
	*o->place(l, x) = i;
}

void want_order(struct learner *l, lit z)
{
	uint32_t v;

	if (z < 0 || sat_value(&l->sat, z))
		return;
	v = lit_var(z);
	l->wanted[v] = 1;
	heap_insert(l, &l->order_heap, &order_ops, v);
}

static void bump(void *ctx, uint32_t v)
{
	struct learner *l = ctx;
	const struct atom *t = &l->atoms.data[v];
	bool chosen = t->kind == ATOM_SOURCE || t->kind == ATOM_MATCH || t->kind == ATOM_OTHER;
	double *key = chosen ? &l->choices[t->a].activity : &l->activity.data[v];

	*key += l->step;
	if (*key > 1e100) {
		for (uint32_t e = 0; e < l->p->ne; e++)
			l->choices[e].activity *= 1e-100;
		for (size_t i = 0; i < l->activity.len; i++)
			l->activity.data[i] *= 1e-100;
		l->step *= 1e-100;
	}
	if (chosen && l->choices[t->a].place != NONE)
		heap_up(l, &l->choice_heap, &choice_ops, l->choices[t->a].place);
	else if (!chosen && l->order_place.data[v] != NONE)
		heap_up(l, &l->order_heap, &order_ops, l->order_place.data[v]);
}

static void decay(void *ctx)
{
	struct learner *l = ctx;

	l->step *= 1.05;
}

/* ---- choices ---- */

static lit add_source(struct learner *l, uint32_t r, uint32_t w)
{
	uint32_t old = learner_atom(l, ATOM_SOURCE, r, w, 0, false);

	if (old != NONE)
		return lit_pos(old);
	uint32_t v = learner_atom(l, ATOM_SOURCE, r, w, 0, true);
	vec_push(&l->choices[r].vars, v);
	heap_insert(l, &l->choice_heap, &choice_ops, r);
	return lit_pos(v);
}

void add_match(struct learner *l, uint32_t wake, uint32_t signal)
{
	uint32_t v = learner_atom(l, ATOM_MATCH, wake, signal, 0, true);

	l->choices[wake].exists = l->choices[wake].complete = true;
	l->choices[wake].other = LIT_FALSE;
	vec_push(&l->choices[wake].vars, v);
	heap_insert(l, &l->choice_heap, &choice_ops, wake);
}

struct ranked {
	uint64_t distance;
	uint32_t write;
};

static int farthest_first(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance > y->distance ? -1 : 1;
	return x->write > y->write ? -1 : x->write < y->write;
}

static uint64_t distance(const struct learner *l, uint32_t r, uint32_t w)
{
	const uint32_t *pos = l->topology.pos;

	if (w == INITIAL)
		return pos[r];
	return pos[w] < pos[r] ? pos[r] - pos[w] : 2 * (uint64_t)(pos[w] - pos[r]);
}

static void list_sources(struct learner *l, uint32_t r)
{
	struct choice *c = &l->choices[r];
	const struct problem *p = l->p;
	uint32_t cell = p->ev[r].cell;
	VEC(struct ranked) all = { 0 };

	for (uint32_t i = p->writes.first[cell]; i < p->writes.first[cell + 1]; i++)
		if (can_supply(l->f, r, p->writes.item[i]))
			vec_push(&all, (struct ranked){ distance(l, r, p->writes.item[i]),
							p->writes.item[i] });
	if (can_supply(l->f, r, INITIAL))
		vec_push(&all, (struct ranked){ distance(l, r, INITIAL), INITIAL });
	vec_sort(&all, farthest_first);
	for (size_t i = 0; i < all.len; i++)
		vec_push(&c->rest, all.data[i].write);
	vec_deinit(&all);
}

void list_more(struct learner *l, uint32_t r)
{
	struct choice *c = &l->choices[r];
	struct lits clause = { 0 };
	size_t n = c->batches ? 2 * BATCH : BATCH;

	if (c->batches)
		vec_push(&clause, lit_not(c->other));
	while (c->rest.len && n--)
		vec_push(&clause, add_source(l, r, vec_pop(&c->rest)));
	if (c->rest.len) {
		c->other = lit_pos(learner_atom(l, ATOM_OTHER, r, c->batches, 0, true));
		vec_push(&clause, c->other);
	} else {
		c->other = LIT_FALSE;
		c->complete = true;
	}
	c->batches++;
	heap_insert(l, &l->choice_heap, &choice_ops, r);
	sat_add(&l->sat, clause.data, clause.len);
	vec_deinit(&clause);
}

void need_choice(struct learner *l, uint32_t r)
{
	struct choice *c = &l->choices[r];
	const struct sources *known = &l->f->sources[r];

	if (c->exists)
		return;
	c->exists = true;
	c->activity = MAX(c->activity, l->step * 0.5);
	if (!l->f->listed[r]) {
		list_sources(l, r);
		list_more(l, r);
		return;
	}
	struct lits clause = { 0 };
	for (size_t i = 0; i < known->len; i++)
		vec_push(&clause, add_source(l, r, known->data[i]));
	c->complete = true;
	c->other = LIT_FALSE;
	sat_add(&l->sat, clause.data, clause.len);
	vec_deinit(&clause);
}

lit source_lit(struct learner *l, uint32_t r, uint32_t w)
{
	uint32_t v;

	if (l->f->source[r] != OPEN)
		return l->f->source[r] == w ? LIT_TRUE : LIT_FALSE;
	need_choice(l, r);
	v = learner_atom(l, ATOM_SOURCE, r, w, 0, false);
	if (v != NONE)
		return lit_pos(v);
	if (l->choices[r].complete || !can_supply(l->f, r, w))
		return LIT_FALSE;
	return add_source(l, r, w);
}

/* ---- theory ---- */

/* The edge for "a before b", widened to critical sections. */
static bool add_order(struct learner *l, uint32_t a, uint32_t b, lit why, struct lits *conflict)
{
	uint32_t i, j;

	if (l->thread[a] != l->thread[b] && common_lock(l->p, a, b, &i, &j)) {
		a = l->p->sections.data[i].close;
		b = l->p->sections.data[j].open;
	}
	if (a != NONE && topology_add(&l->topology, a, b, why))
		return true;
	vec_push(conflict, lit_not(why));
	for (size_t k = 0; a != NONE && k < l->topology.cycle.len; k++)
		vec_push(conflict, lit_not(l->topology.cycle.data[k]));
	return false;
}

static bool take_choice(struct learner *l, lit x, struct lits *conflict)
{
	uint32_t v = lit_var(x);
	const struct atom *t = &l->atoms.data[v];
	uint32_t *taken = &l->choices[t->a].taken;

	if (*taken != NONE && *taken != v) {
		vec_push(conflict, lit_not(x));
		vec_push(conflict, lit_not(lit_pos(*taken)));
		return false;
	}
	*taken = v;
	if (t->kind != ATOM_MATCH || l->p->ev[t->b].cond_part == COND_BROADCAST)
		return true;
	if (l->used_by[t->b] != NONE && l->used_by[t->b] != v) {
		vec_push(conflict, lit_not(x));
		vec_push(conflict, lit_not(lit_pos(l->used_by[t->b])));
		return false;
	}
	l->used_by[t->b] = v;
	return true;
}

static bool assert_lit(void *ctx, lit x, struct lits *conflict)
{
	struct learner *l = ctx;
	struct atom t = l->atoms.data[lit_var(x)];
	const struct section *s = l->p->sections.data;

	switch (t.kind) {
	case ATOM_ORDER:
		return x & 1 ? add_order(l, t.b, t.a, x, conflict)
			     : add_order(l, t.a, t.b, x, conflict);
	case ATOM_SECTION:
		return x & 1 ? add_order(l, s[t.b].close, s[t.a].open, x, conflict)
			     : add_order(l, s[t.a].close, s[t.b].open, x, conflict);
	case ATOM_SOURCE:
		if (x & 1)
			return true;
		return take_choice(l, x, conflict) &&
		       (t.b == INITIAL || add_order(l, t.b, t.a, x, conflict));
	case ATOM_MATCH:
		if (x & 1)
			return true;
		return take_choice(l, x, conflict) && add_order(l, t.a - 1, t.b, x, conflict) &&
		       add_order(l, t.b, t.a, x, conflict);
	default:
		return true;
	}
}

static void retract(void *ctx, lit x)
{
	struct learner *l = ctx;
	uint32_t v = lit_var(x);
	const struct atom *t = &l->atoms.data[v];

	switch (t->kind) {
	case ATOM_MATCH:
		if (l->used_by[t->b] == v)
			l->used_by[t->b] = NONE;
		/* fallthrough */
	case ATOM_SOURCE:
		if (l->choices[t->a].taken == v)
			l->choices[t->a].taken = NONE;
		/* fallthrough */
	case ATOM_OTHER:
		heap_insert(l, &l->choice_heap, &choice_ops, t->a);
		break;
	case ATOM_ORDER:
	case ATOM_SECTION:
		if (l->wanted[v])
			heap_insert(l, &l->order_heap, &order_ops, v);
		break;
	default:
		break;
	}
}

static void push(void *ctx)
{
	struct learner *l = ctx;

	vec_push(&l->marks, topology_mark(&l->topology));
}

static void pop(void *ctx, uint32_t level)
{
	struct learner *l = ctx;

	topology_undo(&l->topology, l->marks.data[level]);
	l->marks.len = level;
}

/* ---- decisions ---- */

static bool choice_open(const struct learner *l, uint32_t x)
{
	const struct choice *c = &l->choices[x];

	return c->taken == NONE && sat_value(&l->sat, c->other) <= 0;
}

static uint64_t match_distance(const struct learner *l, uint32_t wake, uint32_t signal)
{
	const uint32_t *pos = l->topology.pos;
	uint64_t far = l->p->ne;

	if (pos[signal] < pos[wake - 1])
		return far + pos[wake - 1] - pos[signal];
	return pos[signal] < pos[wake] ? pos[signal] - pos[wake - 1]
				       : far + pos[signal] - pos[wake];
}

/* The nearest alternative in the witness that is still open. */
static lit pick(struct learner *l, uint32_t x)
{
	const struct choice *c = &l->choices[x];
	uint64_t least = UINT64_MAX;
	lit best = LIT_NONE;

	for (size_t i = 0; i < c->vars.len; i++) {
		uint32_t v = c->vars.data[i];
		const struct atom *t = &l->atoms.data[v];
		if (l->sat.value[v])
			continue;
		uint64_t d =
			t->kind == ATOM_MATCH ? match_distance(l, x, t->b) : distance(l, x, t->b);
		if (d < least) {
			least = d;
			best = lit_pos(v);
		}
	}
	if (best == LIT_NONE && c->other >= 0 && !sat_value(&l->sat, c->other))
		best = c->other;
	return best;
}

static lit phase(const struct learner *l, uint32_t v)
{
	const struct atom *t = &l->atoms.data[v];
	const uint32_t *pos = l->topology.pos;
	const struct section *s = l->p->sections.data;
	bool first = t->kind == ATOM_SECTION ? pos[s[t->a].open] < pos[s[t->b].open]
					     : pos[t->a] < pos[t->b];

	return first ? lit_pos(v) : lit_not(lit_pos(v));
}

static lit decide(void *ctx)
{
	struct learner *l = ctx;

	for (;;) {
		while (l->order_heap.len && l->sat.value[l->order_heap.data[0]])
			heap_drop(l, &l->order_heap, &order_ops);
		while (l->choice_heap.len && !choice_open(l, l->choice_heap.data[0]))
			heap_drop(l, &l->choice_heap, &choice_ops);
		if (!l->order_heap.len && !l->choice_heap.len)
			return LIT_NONE;
		uint32_t v = l->order_heap.len ? l->order_heap.data[0] : NONE;
		uint32_t x = l->choice_heap.len ? l->choice_heap.data[0] : NONE;
		if (x == NONE || (v != NONE && l->activity.data[v] > l->choices[x].activity))
			return phase(l, v);
		lit d = pick(l, x);
		if (d != LIT_NONE)
			return d;
		heap_drop(l, &l->choice_heap, &choice_ops);
	}
}

/* ---- life ---- */

struct learner *learner_new(const struct problem *p, const struct facts *f)
{
	struct learner *l = xcalloc(1, sizeof(*l));
	size_t ne = p->ne + 1;

	l->p = p;
	l->f = f;
	l->step = 1;
	sat_init(&l->sat, (struct sat_theory){ .ctx = l,
					       .assert_lit = assert_lit,
					       .retract = retract,
					       .push = push,
					       .pop = pop,
					       .decide = decide,
					       .final = learner_final,
					       .bump = bump,
					       .decay = decay });
	l->thread = xcalloc(ne, sizeof(*l->thread));
	l->choices = xcalloc(ne, sizeof(*l->choices));
	l->used_by = xcalloc(ne, sizeof(*l->used_by));
	l->source = xcalloc(ne, sizeof(*l->source));
	l->seen = xcalloc(ne, sizeof(*l->seen));
	l->taint = xcalloc(ne, 1);
	for (uint32_t e = 0; e < p->ne; e++) {
		l->thread[e] = p->ev[e].thread;
		l->choices[e].taken = l->choices[e].place = l->used_by[e] = NONE;
		l->choices[e].other = LIT_FALSE;
		l->source[e] = NONE;
	}
	topology_init(&l->topology, p->ne, l->thread);
	for (size_t i = 0; i < p->edges.len; i++) {
		bool ok = topology_add(&l->topology, p->edges.data[i].from, p->edges.data[i].to,
				       LABEL_NONE);
		assert(ok);
		(void)ok;
	}
	learner_check_init(l);
	learner_values_init(l);
	return l;
}

void learner_free(struct learner *l)
{
	if (!l)
		return;
	learner_check_deinit(l);
	learner_values_deinit(l);
	for (uint32_t e = 0; e < l->p->ne; e++) {
		vec_deinit(&l->choices[e].vars);
		vec_deinit(&l->choices[e].rest);
	}
	sat_deinit(&l->sat);
	topology_deinit(&l->topology);
	map_deinit(&l->index);
	map_deinit(&l->done);
	vec_deinit(&l->atoms);
	vec_deinit(&l->chain);
	vec_deinit(&l->choice_heap);
	vec_deinit(&l->order_heap);
	vec_deinit(&l->activity);
	vec_deinit(&l->order_place);
	vec_deinit(&l->marks);
	free(l->thread);
	free(l->choices);
	free(l->used_by);
	free(l->source);
	free(l->seen);
	free(l->taint);
	free(l->wanted);
	free(l);
}

void learner_set_witness(struct learner *l, const uint32_t *order)
{
	uint32_t *key = xcalloc(l->p->ne + 1, sizeof(*key));

	sat_reset(&l->sat);
	for (uint32_t i = 0; i < l->p->ne; i++)
		key[order[i]] = i;
	topology_sort(&l->topology, key); /* facts learned at level 0 may object to parts of it */
	free(key);
}

const uint32_t *learner_witness(const struct learner *l)
{
	return l->topology.at;
}

enum sat_result learner_solve(struct learner *l, const lit *assumptions, size_t n, double deadline)
{
	return sat_solve(&l->sat, assumptions, n, deadline);
}
