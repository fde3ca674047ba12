/* order/reach/values.c - possible values of cells, as small sets: see values.h.
 *
 * The sets grow until no write adds anything: each write is evaluated with every combination of what
 * the reads below it may have returned. A set that grows beyond MOST values, or a write with too many
 * combinations, makes its cell open: it can have any value. Sets only grow and are small, so this
 * ends soon. */
#include "order/reach/values.h"

#include "base/mem.h"

#include <stdlib.h>

enum { MOST = 12, MOST_SYMBOLS = 4, MOST_COMBINATIONS = 64 };

struct value_set {
	uint64_t value[MOST];
	uint8_t n;
	bool open; /* any value */
};

struct reach_values {
	const struct order_model *m;
	struct value_set *cell; /* by object */
	uint64_t *scratch;	/* by symbol */
};

/* Does it add something? */
static bool add(struct value_set *s, uint64_t value)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->value[i] == value)
			return false;
	if (s->open)
		return false;
	if (s->n == MOST)
		s->open = true;
	else
		s->value[s->n++] = value;
	return true;
}

/* ---- combinations of what the reads below a term return ---- */

struct combinations {
	const struct reach_values *v;
	uint32_t symbol[MOST_SYMBOLS];
	unsigned n, at[MOST_SYMBOLS];
	bool too_many; /* symbols, or values of one */
	uint64_t count;
};

static const struct value_set *set_of(const struct reach_values *v, uint32_t symbol)
{
	uint32_t read = v->m->symbols.data[symbol].event;

	return read == ORDER_NONE ? NULL : &v->cell[v->m->events.data[read].object];
}

static void note_symbol(void *arg, uint32_t symbol)
{
	struct combinations *c = arg;
	const struct value_set *s = set_of(c->v, symbol);

	if (c->n == MOST_SYMBOLS || !s || s->open) {
		c->too_many = true;
		return;
	}
	c->count *= s->n;
	c->at[c->n] = 0;
	c->symbol[c->n++] = symbol;
}

static void combinations_init(struct combinations *c, const struct reach_values *v, term_id term)
{
	*c = (struct combinations){ .v = v, .count = 1 };
	term_each_symbol(&v->m->terms, term, note_symbol, c);
	c->too_many |= c->count > MOST_COMBINATIONS;
}

static void choose(const struct combinations *c)
{
	for (unsigned i = 0; i < c->n; i++)
		c->v->scratch[c->symbol[i]] = set_of(c->v, c->symbol[i])->value[c->at[i]];
}

/* The next combination; false: that was the last. */
static bool advance(struct combinations *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		if (++c->at[i] < set_of(c->v, c->symbol[i])->n)
			return true;
		c->at[i] = 0;
	}
	return false;
}

/* ---- cells ---- */

static bool add_write(struct reach_values *v, const struct order_event *e)
{
	struct value_set *cell = &v->cell[e->object];
	struct combinations c;
	bool more = false;

	if (cell->open)
		return false;
	combinations_init(&c, v, e->value);
	if (c.too_many) {
		cell->open = true;
		return true;
	}
	do {
		choose(&c);
		more |= add(cell, term_eval(&v->m->terms, e->value, v->scratch));
	} while (!cell->open && advance(&c));
	return more;
}

struct reach_values *reach_values_new(const struct order_model *m)
{
	struct reach_values *v = xcalloc(1, sizeof(*v));
	bool more = true;

	v->m = m;
	v->cell = xcalloc(m->objects.len + 1, sizeof(*v->cell));
	v->scratch = xcalloc(m->symbols.len + 1, sizeof(*v->scratch));
	for (size_t i = 0; i < m->objects.len; i++)
		if (m->objects.data[i].kind == ORDER_OBJECT_CELL)
			add(&v->cell[i],
			    m->objects.data[i].initial & term_mask(m->objects.data[i].width));
	while (more) {
		more = false;
		for (size_t i = 0; i < m->events.len; i++)
			if ((m->events.data[i].kind == ORDER_WRITE ||
			     m->events.data[i].kind == ORDER_RMW) &&
			    m->events.data[i].value != TERM_NONE)
				more |= add_write(v, &m->events.data[i]);
	}
	return v;
}

void reach_values_free(struct reach_values *v)
{
	if (!v)
		return;
	free(v->cell);
	free(v->scratch);
	free(v);
}

bool reach_values_allow(const struct reach_values *v, term_id condition)
{
	struct combinations c;

	combinations_init(&c, v, condition);
	if (c.too_many)
		return true;
	do {
		choose(&c);
		if (term_eval(&v->m->terms, condition, v->scratch))
			return true;
	} while (advance(&c));
	return false;
}
