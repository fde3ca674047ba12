/* order/search/relevance.c - what a search need not look at.
 *
 * A cell matters when what is read from it reaches a condition, directly or through writes to cells
 * that matter; statistics counters and the like do not, and events on them can run at any time. A
 * cell that is only compared with constants has as many different values as these comparisons can
 * tell apart. A thread that reads a cell and soon writes back what it computed, or soon compares it
 * with another one, probably did so undisturbed. */
#include "order/search/relevance.h"

#define WIDE	     64 /* terms with more leaves do not make their reads precious */
#define MOST_CLASSES 6
#define SEQUENCE     8 /* events between the read and the write of a read-modify-write */

/* Mark everything below the marked terms; report cells whose reads were reached. */
static bool reach_cells(const struct problem *p, uint8_t *marked, uint8_t *cells)
{
	bool news = false;

	for (term_id id = (term_id)p->terms.len; id-- > 0;) {
		const struct term *t = &p->terms.data[id];
		if (!marked[id])
			continue;
		for (unsigned i = 0; i < term_arity(t); i++)
			marked[i == 0 ? t->a : i == 1 ? t->b : t->c] = 1;
		if (t->op != TERM_SYMBOL || p->reader[t->value] == NONE)
			continue;
		uint32_t cell = p->ev[p->reader[t->value]].cell;
		news |= !cells[cell];
		cells[cell] = 1;
	}
	return news;
}

static void mark_writes(const struct problem *p, const uint8_t *cells, uint8_t *marked)
{
	for (uint32_t c = 0; c < p->ncells; c++)
		for (uint32_t i = p->writes.first[c]; cells[c] && i < p->writes.first[c + 1]; i++)
			marked[p->ev[p->writes.item[i]].value] = 1;
}

static void find_matters(struct relevance *r, const struct problem *p)
{
	uint8_t *marked = xcalloc(p->terms.len + 1, 1);

	for (size_t i = 0; i < p->conditions.len; i++)
		marked[p->conditions.data[i].term] = 1;
	while (reach_cells(p, marked, r->matters))
		mark_writes(p, r->matters, marked);
	memset(marked, 0, p->terms.len);
	for (size_t i = 0; i < p->conditions.len; i++)
		if (p->conditions.data[i].symbol == NONE)
			marked[p->conditions.data[i].term] = 1;
	mark_writes(p, r->matters, marked);
	reach_cells(p, marked, r->flows);
	free(marked);
}

static void use_at(uint32_t *use, term_id id, uint32_t e)
{
	if (use[id] == NONE || use[id] < e)
		use[id] = e;
}

/* One sweep down the DAG. */
static void find_last_uses(struct relevance *r, const struct problem *p)
{
	const struct terms *ts = &p->terms;
	uint32_t *use = xcalloc(ts->len + 1, sizeof(*use));
	uint32_t *leaves = xcalloc(ts->len + 1, sizeof(*leaves));

	for (term_id id = 0; id < ts->len; id++) {
		const struct term *t = &ts->data[id];
		use[id] = NONE;
		leaves[id] = t->op == TERM_SYMBOL;
		for (unsigned i = 0; i < term_arity(t); i++)
			leaves[id] += leaves[i == 0 ? t->a : i == 1 ? t->b : t->c];
		leaves[id] = MIN(leaves[id], 2 * WIDE);
	}
	for (uint32_t e = 0; e < p->ne; e++) {
		if (p->ev[e].value != TERM_NONE && r->matters[p->ev[e].cell])
			use_at(use, p->ev[e].value, e);
		for (uint32_t i = p->checks.first[e]; i < p->checks.first[e + 1]; i++) {
			const struct condition *c = &p->conditions.data[p->checks.item[i]];
			use_at(use, c->term, c->cross ? p->ne : e);
		}
	}
	for (term_id id = (term_id)ts->len; id-- > 0;) {
		const struct term *t = &ts->data[id];
		if (t->op == TERM_SYMBOL && p->reader[t->value] != NONE && use[id] != NONE)
			r->last_use[p->reader[t->value]] = use[id];
		if (use[id] == NONE || leaves[id] > WIDE)
			continue;
		for (unsigned i = 0; i < term_arity(t); i++)
			use_at(use, i == 0 ? t->a : i == 1 ? t->b : t->c, use[id]);
	}
	free(use);
	free(leaves);
}

/* Is this the comparison `old` of another read? Then one of them is enough. */
static bool same_question(const struct problem *p, term_id x, term_id y)
{
	const struct term *s = &p->terms.data[x], *t = &p->terms.data[y];
	unsigned n = term_arity(s);

	if (s->op == TERM_SYMBOL || t->op == TERM_SYMBOL)
		return s->op == t->op;
	if (s->op != t->op || s->width != t->width || s->value != t->value)
		return false;
	return (n < 1 || same_question(p, s->a, t->a)) && (n < 2 || same_question(p, s->b, t->b)) &&
	       (n < 3 || same_question(p, s->c, t->c));
}

static void find_classes(struct relevance *r, const struct problem *p)
{
	term_id(*list)[MOST_CLASSES] = xcalloc(p->ncells + 1, sizeof(*list));
	uint8_t *n = xcalloc(p->ncells + 1, 1);
	uint32_t total = 0;

	for (size_t i = 0; i < p->conditions.len; i++) {
		const struct condition *c = &p->conditions.data[i];
		if (c->symbol == NONE || p->reader[c->symbol] == NONE)
			continue;
		uint32_t cell = p->ev[p->reader[c->symbol]].cell;
		bool known = n[cell] > MOST_CLASSES;
		for (uint8_t k = 0; k < n[cell] && !known; k++)
			known = same_question(p, list[cell][k], c->term);
		if (known)
			continue;
		if (n[cell] < MOST_CLASSES)
			list[cell][n[cell]] = c->term;
		n[cell]++;
	}
	r->classes.first = xcalloc(p->ncells + 2, sizeof(uint32_t));
	r->classes.item = xcalloc((size_t)p->ncells * MOST_CLASSES + 1, sizeof(uint32_t));
	for (uint32_t c = 0; c < p->ncells; c++) {
		r->classes.first[c] = total;
		for (uint8_t k = 0; k < n[c] && n[c] <= MOST_CLASSES && !r->flows[c]; k++)
			r->classes.item[total++] = list[c][k];
	}
	r->classes.first[p->ncells] = total;
	free(list);
	free(n);
}

static bool synchronises(const struct problem *p, uint32_t from, uint32_t to)
{
	for (uint32_t e = from; e <= to; e++)
		if (p->ev[e].opens != NONE || p->ev[e].closes != NONE || p->ev[e].cond != NONE)
			return true;
	return false;
}

static void find_sequences(struct relevance *r, const struct problem *p)
{
	for (uint32_t e = p->ne; e-- > 0;) {
		const struct ev *v = &p->ev[e];
		r->whole[e] = e + 1;
		if (v->symbol == NONE || v->value != TERM_NONE || !r->matters[v->cell] ||
		    p->held.first[e] < p->held.first[e + 1])
			continue;
		uint32_t end = MIN(e + SEQUENCE, p->first[v->thread + 1]);
		for (uint32_t x = e + 1; x < end; x++) {
			const struct ev *w = &p->ev[x];
			if (w->opens != NONE || w->closes != NONE || w->cond != NONE)
				break;
			if (w->cell != v->cell || w->value == TERM_NONE)
				continue;
			struct term_linear t = term_linear(&p->terms, w->value);
			if (t.ok && t.has_symbol && t.symbol == v->symbol)
				r->whole[e] = x + 1;
			break;
		}
		if (r->last_use[e] > e && r->last_use[e] < end &&
		    !synchronises(p, e, r->last_use[e]))
			r->whole[e] = MAX(r->whole[e], r->last_use[e] + 1);
		for (uint32_t x = e + 1; x < r->whole[e]; x++)
			r->whole[e] = MAX(r->whole[e], r->whole[x]);
	}
}

void relevance_init(struct relevance *r, const struct problem *p)
{
	r->matters = xcalloc(p->ncells + 1, 1);
	r->flows = xcalloc(p->ncells + 1, 1);
	r->last_use = xcalloc(p->ne + 1, sizeof(*r->last_use));
	r->whole = xcalloc(p->ne + 1, sizeof(*r->whole));
	find_matters(r, p);
	find_last_uses(r, p);
	find_classes(r, p);
	find_sequences(r, p);
}

void relevance_deinit(struct relevance *r)
{
	free(r->matters);
	free(r->flows);
	free(r->last_use);
	free(r->whole);
	free(r->classes.first);
	free(r->classes.item);
}
