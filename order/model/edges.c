/* order/model/edges.c - the edges of a total order; see edges.h. */
#include "order/model/edges.h"
#include "base/err.h"

struct err *placed_order_init(struct placed_order *o, struct engine *e, const struct order_model *m,
			      enum order_want want, const uint32_t *order, size_t len,
			      uint64_t seed)
{
	struct err *err;

	if (len != m->events.len)
		return err_new(ERR_ENV, "an order of %zu events for a model of %zu", len,
			       m->events.len);
	err = engine_init(e, m, want, NULL, seed);
	if (err)
		return err;
	o->order = xcalloc(len + 1, sizeof(*o->order));
	o->position = xcalloc(len + 1, sizeof(*o->position));
	for (uint32_t i = 0; i < len; i++) {
		o->order[i] = e->p.of_model[order[i]];
		o->position[o->order[i]] = i;
	}
	return NULL;
}

void placed_order_deinit(struct placed_order *o)
{
	free(o->order);
	free(o->position);
}

struct walker {
	struct engine *e;
	struct learner *l;
	const uint32_t *order;
	struct pinned_edges *out;
	struct map seen; /* literals */
	uint32_t *last_write;
	struct VEC_FIELDS(uint32_t) * readers;	/* by cell: since the last write */
	struct VEC_FIELDS(uint32_t) * sections; /* by lock: the last exclusive one, then shared */
	struct VEC_FIELDS(uint32_t) * waiting;	/* by condition variable: wakes */
};

static void add(struct walker *w, uint32_t a, uint32_t b, lit x)
{
	if (x == LIT_TRUE)
		return;
	if (x >= 0) {
		if (map_find(&w->seen, (uint64_t)x))
			return;
		map_put(&w->seen, (uint64_t)x, 1);
		const struct atom *t = &w->l->atoms.data[lit_var(x)];
		if (t->kind == ATOM_SECTION) {
			const struct section *s = w->e->p.sections.data;
			a = s[x & 1 ? t->b : t->a].close;
			b = s[x & 1 ? t->a : t->b].open;
		}
	}
	vec_push(w->out, (struct pinned_edge){ x, a, b });
}

static void conflict(struct walker *w, uint32_t a, uint32_t b)
{
	if (a != NONE && w->l->thread[a] != w->l->thread[b])
		add(w, a, b, order_lit(w->l, a, b));
}

static void memory(struct walker *w, uint32_t id)
{
	const struct ev *v = &w->e->p.ev[id];
	typeof(*w->readers) *readers = &w->readers[v->cell];

	if (v->symbol != NONE || v->value != TERM_NONE)
		conflict(w, w->last_write[v->cell], id);
	if (v->value == TERM_NONE) {
		vec_push(readers, id);
		return;
	}
	for (size_t i = 0; i < readers->len; i++)
		conflict(w, readers->data[i], id);
	readers->len = 0;
	w->last_write[v->cell] = id;
}

/* A new section follows those it excludes: after an exclusive one, or after the readers since. */
static void section(struct walker *w, uint32_t id)
{
	const struct section *s = w->e->p.sections.data;
	typeof(*w->sections) *before = &w->sections[s[id].lock];

	for (size_t i = 0; i < before->len; i++) {
		const struct section *x = &s[before->data[i]];
		if (x->thread != s[id].thread && !(x->shared && s[id].shared))
			add(w, x->open, s[id].open, section_lit(w->l, before->data[i], id));
	}
	if (!s[id].shared)
		before->len = 0;
	vec_push(before, id);
}

static void condition(struct walker *w, uint32_t id)
{
	const struct ev *v = &w->e->p.ev[id];
	typeof(*w->waiting) *waiting = &w->waiting[v->cond];

	switch (v->cond_part) {
	case COND_WAIT:
		if (!last_of_thread(&w->e->p, id) && w->e->p.ev[id + 1].cond_part == COND_WAKE)
			vec_push(waiting, id + 1);
		break;
	case COND_SIGNAL:
	case COND_BROADCAST: /* any waiter may be the one: keep this signal inside all their waits
			      */
		for (size_t i = 0; i < waiting->len; i++) {
			conflict(w, waiting->data[i] - 1, id);
			conflict(w, id, waiting->data[i]);
		}
		break;
	case COND_WAKE:
		for (size_t i = 0; i < waiting->len; i++)
			if (waiting->data[i] == id)
				waiting->data[i] = waiting->data[--waiting->len];
		break;
	default:
		break;
	}
}

void edges_of_order(struct engine *e, const uint32_t *order, struct pinned_edges *ret)
{
	const struct problem *p = &e->p;
	struct walker w = { .e = e, .l = e->learner, .order = order, .out = ret };

	w.last_write = xcalloc(p->ncells + 1, sizeof(*w.last_write));
	w.readers = xcalloc(p->ncells + 1, sizeof(*w.readers));
	w.sections = xcalloc(p->nlocks + 1, sizeof(*w.sections));
	w.waiting = xcalloc(p->nlocks + 1, sizeof(*w.waiting));
	for (uint32_t i = 0; i < p->ncells; i++)
		w.last_write[i] = NONE;
	for (uint32_t i = 0; i < p->ne; i++) {
		const struct ev *v = &p->ev[order[i]];
		if (v->opens != NONE)
			section(&w, v->opens);
		if (v->cell != NONE)
			memory(&w, order[i]);
		if (v->cond_part != COND_NOTHING)
			condition(&w, order[i]);
	}
	for (uint32_t i = 0; i < p->ncells; i++)
		vec_deinit(&w.readers[i]);
	for (uint32_t i = 0; i < p->nlocks; i++) {
		vec_deinit(&w.sections[i]);
		vec_deinit(&w.waiting[i]);
	}
	free(w.last_write);
	free(w.readers);
	free(w.sections);
	free(w.waiting);
	map_deinit(&w.seen);
}

uint64_t edge_distance(const struct pinned_edge *x, const uint32_t *position, uint32_t failure)
{
	uint64_t a = position[x->before], b = position[x->after], f = position[failure];

	/* what happens after the failure is as far away as what happens long before it */
	return (a > f ? a - f : f - a) + (b > f ? b - f : f - b);
}
