/* order/learn/check.c - simulate the witness; what goes wrong becomes a lemma.
 *
 * Every choice made so far is in the graph, the rest of the order is arbitrary. So the simulation
 * may find
 *   - two critical sections of one lock that overlap: their order must be decided;
 *   - a read that sees another write than it chose: that write belongs before the chosen one or
 *     after the read (a clause, made only for writes that really intervene);
 *   - a wake without a signal: it gets a choice among the signals;
 *   - a condition that does not hold: values.c says which choices make it false.
 * Reads that see the wrong write taint what depends on them: no use in explaining values that will
 * change anyway. No finding at all: the witness is a solution. */
#include "order/learn/learn.h"

#include "order/model/eval.h"

#define MOST_VIOLATIONS 100

struct learner_check {
	struct eval ev;
	uint64_t *mem;
	uint32_t *last; /* by cell: the write to be seen now, INITIAL */
	struct open_sections VEC_FIELDS(uint32_t) * open; /* by lock */
	struct waiting VEC_FIELDS(uint32_t) * waiting;	  /* by condition variable: wakes */
	uint8_t *served;				  /* by wake */
	VEC(uint32_t) violated;				  /* conditions */
	size_t problems;
	bool tainted; /* scratch */
};

void learner_check_init(struct learner *l)
{
	struct learner_check *c = l->check = xcalloc(1, sizeof(*c));
	const struct problem *p = l->p;

	eval_init(&c->ev, &p->terms, p->nsymbols);
	c->mem = xcalloc(p->ncells + 1, sizeof(*c->mem));
	c->last = xcalloc(p->ncells + 1, sizeof(*c->last));
	c->open = xcalloc(p->nlocks + 1, sizeof(*c->open));
	c->waiting = xcalloc(p->nlocks + 1, sizeof(*c->waiting));
	c->served = xcalloc(p->ne + 1, 1);
}

void learner_check_deinit(struct learner *l)
{
	struct learner_check *c = l->check;

	eval_deinit(&c->ev);
	for (uint32_t i = 0; i < l->p->nlocks; i++) {
		vec_deinit(&c->open[i]);
		vec_deinit(&c->waiting[i]);
	}
	free(c->mem);
	free(c->last);
	free(c->open);
	free(c->waiting);
	free(c->served);
	vec_deinit(&c->violated);
	free(c);
}

static void reset(struct learner *l)
{
	struct learner_check *c = l->check;
	const struct problem *p = l->p;

	eval_undo(&c->ev, 0);
	for (uint32_t i = 0; i < p->nsymbols; i++)
		if (p->reader[i] == NONE)
			eval_set(&c->ev, i, p->input[i]);
	memcpy(c->mem, p->initial, p->ncells * sizeof(*c->mem));
	for (uint32_t i = 0; i < p->ncells; i++)
		c->last[i] = INITIAL;
	for (uint32_t i = 0; i < p->nlocks; i++)
		c->open[i].len = c->waiting[i].len = 0;
	memset(c->served, 0, p->ne);
	c->violated.len = 0;
	c->problems = 0;
}

/* ---- locks ---- */

static void check_open(struct learner *l, uint32_t id)
{
	struct learner_check *c = l->check;
	const struct section *s = &l->p->sections.data[id];
	struct open_sections *open = &c->open[s->lock];

	for (size_t i = 0; i < open->len; i++) {
		const struct section *x = &l->p->sections.data[open->data[i]];
		if (x->thread == s->thread || (x->shared && s->shared))
			continue;
		c->problems++;
		want_order(l, section_lit(l, open->data[i], id));
	}
	vec_push(open, id);
}

static void check_close(struct learner *l, uint32_t id)
{
	struct open_sections *open = &l->check->open[l->p->sections.data[id].lock];
	size_t kept = 0;

	for (size_t i = 0; i < open->len; i++)
		if (open->data[i] != id)
			open->data[kept++] = open->data[i];
	open->len = kept;
}

/* ---- condition variables ---- */

static void serve(struct learner_check *c, uint32_t cond, size_t i)
{
	struct waiting *w = &c->waiting[cond];

	c->served[w->data[i]] = 1;
	w->data[i] = w->data[--w->len];
}

/* A signal goes to the wake that chose it; else to the next wake that has no signal of its own. */
static void check_signal(struct learner *l, uint32_t e)
{
	struct learner_check *c = l->check;
	uint32_t cond = l->p->ev[e].cond, wants = NONE;
	struct waiting *w = &c->waiting[cond];
	size_t best = SIZE_MAX;

	if (l->used_by[e] != NONE)
		wants = l->atoms.data[l->used_by[e]].a;
	for (size_t i = 0; i < w->len; i++) {
		uint32_t x = w->data[i];
		if (x == wants) {
			best = i;
			break;
		}
		if (wants == NONE && l->choices[x].taken == NONE &&
		    (best == SIZE_MAX || l->topology.pos[x] < l->topology.pos[w->data[best]]))
			best = i;
	}
	if (best != SIZE_MAX)
		serve(c, cond, best);
}

static void check_wake(struct learner *l, uint32_t e)
{
	struct learner_check *c = l->check;
	const struct problem *p = l->p;
	uint32_t cond = p->ev[e].cond;
	struct waiting *w = &c->waiting[cond];

	if (c->served[e])
		return;
	for (size_t i = 0; i < w->len; i++)
		if (w->data[i] == e)
			w->data[i] = w->data[--w->len];
	c->problems++;
	if (l->choices[e].exists)
		return;
	struct lits clause = { 0 };
	for (uint32_t s = 0; s < p->ne; s++) {
		const struct ev *v = &p->ev[s];
		if (v->cond != cond || v->thread == p->ev[e].thread ||
		    (v->cond_part != COND_SIGNAL && v->cond_part != COND_BROADCAST) ||
		    must_precede(p, s, e - 1) || must_precede(p, e, s))
			continue;
		add_match(l, e, s);
		vec_push(&clause, lit_pos(learner_atom(l, ATOM_MATCH, e, s, 0, false)));
	}
	l->choices[e].exists = true;
	sat_add(&l->sat, clause.data, clause.len);
	vec_deinit(&clause);
}

static void check_cond(struct learner *l, uint32_t e)
{
	struct learner_check *c = l->check;
	const struct ev *v = &l->p->ev[e];

	switch (v->cond_part) {
	case COND_WAIT:
		if (!last_of_thread(l->p, e) && l->p->ev[e + 1].cond_part == COND_WAKE)
			vec_push(&c->waiting[v->cond], e + 1);
		break;
	case COND_WAKE:
		check_wake(l, e);
		break;
	case COND_SIGNAL:
		check_signal(l, e);
		break;
	case COND_BROADCAST:
		while (c->waiting[v->cond].len)
			serve(c, v->cond, 0);
		break;
	default:
		break;
	}
}

/* ---- memory ---- */

/* Read r chose q (why: the literal, LIT_TRUE when q is its only source) but sees w. */
static void wrong_write(struct learner *l, uint32_t r, uint32_t q, uint32_t w, lit why)
{
	uint64_t key = hash_u64(hash_u64((uint64_t)r << 32 | w) + q);
	lit before = q == INITIAL ? LIT_FALSE : order_lit(l, w, q);
	lit after = order_lit(l, r, w);

	l->check->problems++;
	l->taint[r] = 1;
	if (*map_put(&l->done, key, 0) == 0) {
		*map_find(&l->done, key) = 1;
		sat_add_lits(&l->sat, lit_not(why), before, after);
		l->lemmas++;
	}
	want_order(l, before);
	want_order(l, after);
}

static void taint_symbol(void *ctx, uint32_t symbol)
{
	struct learner *l = ctx;
	uint32_t r = l->p->reader[symbol];

	if (r != NONE && l->taint[r])
		l->check->tainted = true;
}

static bool tainted(struct learner *l, term_id id)
{
	const struct term_info *i = &l->p->info[id];

	if (i->last == NONE)
		return false;
	if (i->symbol < MANY)
		return l->taint[i->last];
	l->check->tainted = false;
	term_each_symbol(&l->p->terms, id, taint_symbol, l);
	return l->check->tainted;
}

static void mark_tainted(void *ctx, uint32_t symbol)
{
	struct learner *l = ctx;

	if (l->p->reader[symbol] != NONE)
		l->taint[l->p->reader[symbol]] = 1;
}

static void check_conditions(struct learner *l, uint32_t e)
{
	struct learner_check *c = l->check;
	const struct problem *p = l->p;
	uint64_t v;

	for (uint32_t i = p->checks.first[e]; i < p->checks.first[e + 1]; i++) {
		uint32_t id = p->checks.item[i];
		term_id term = p->conditions.data[id].term;
		if (!eval_get(&c->ev, term, &v) || v)
			continue;
		c->problems++;
		if (!tainted(l, term) && c->violated.len < MOST_VIOLATIONS)
			vec_push(&c->violated, id);
		term_each_symbol(&p->terms, term, mark_tainted, l);
	}
}

static void check_memory(struct learner *l, uint32_t e)
{
	struct learner_check *c = l->check;
	const struct ev *v = &l->p->ev[e];

	if (v->symbol != NONE) {
		uint32_t w = c->last[v->cell], only = l->f->source[e];
		uint32_t taken = l->choices[e].taken;

		l->source[e] = w;
		l->seen[e] = c->mem[v->cell];
		l->taint[e] = w == INITIAL ? 0 : l->taint[w];
		eval_set(&c->ev, v->symbol, l->seen[e]);
		if (only != OPEN && only != w)
			wrong_write(l, e, only, w, LIT_TRUE);
		else if (taken != NONE && l->atoms.data[taken].b != w)
			wrong_write(l, e, l->atoms.data[taken].b, w, lit_pos(taken));
		check_conditions(l, e);
	}
	if (v->value != TERM_NONE) {
		uint64_t value = 0;
		eval_get(&c->ev, v->value, &value);
		c->mem[v->cell] = value;
		c->last[v->cell] = e;
		if (v->symbol == NONE)
			l->taint[e] = 0;
		if (!l->f->fixed[e] && tainted(l, v->value))
			l->taint[e] = 1;
	}
}

/* ---- all of it ---- */

/* A read whose sources are only partly listed chose "another one". */
static size_t list_others(struct learner *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->sat.trail.len; i++) {
		lit x = l->sat.trail.data[i];
		const struct atom *t = &l->atoms.data[lit_var(x)];
		if (t->kind != ATOM_OTHER || (x & 1) || l->choices[t->a].taken != NONE ||
		    l->choices[t->a].other != x)
			continue;
		list_more(l, t->a);
		n++;
	}
	return n;
}

enum sat_final learner_final(void *ctx)
{
	struct learner *l = ctx;
	struct learner_check *c = l->check;
	const struct problem *p = l->p;

	l->rounds++;
	if (list_others(l))
		return FINAL_CONTINUE;
	reset(l);
	for (uint32_t k = 0; k < p->ne; k++) {
		uint32_t e = l->topology.at[k];
		const struct ev *v = &p->ev[e];
		if (v->opens != NONE)
			check_open(l, v->opens);
		if (v->cell != NONE)
			check_memory(l, e);
		if (v->cond_part != COND_NOTHING)
			check_cond(l, e);
		if (v->closes != NONE)
			check_close(l, v->closes);
	}
	for (size_t i = 0; i < c->violated.len; i++)
		explain_condition(l, c->violated.data[i]);
	return c->problems ? FINAL_CONTINUE : FINAL_SOLVED;
}
