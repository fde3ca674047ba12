/* order/model/problem.c - what the solvers work on (see problem.h): lowered events (lower.c) with
 * everything that is asked of them again and again in lists. */
#include "order/model/problem.h"

#include "base/err.h"
#include "order/model/lower.h"

/* ---- reads that return a constant ---- */

struct folding {
	struct terms terms;
	term_id *plain, *folded; /* old term -> new, without and with the pinned reads replaced */
};

/* Rebuild every term twice over: always with reads of cells nobody writes as constants, and in
 * `folded` also with those reads that `value` has one for. */
static void fold_terms(struct problem *p, struct folding *f, const uint8_t *pinned,
		       const uint64_t *pin)
{
	uint8_t *written = xcalloc(p->ncells + 1, 1);

	f->plain = xcalloc(p->terms.len + 1, sizeof(*f->plain));
	f->folded = xcalloc(p->terms.len + 1, sizeof(*f->folded));
	for (uint32_t e = 0; e < p->ne; e++)
		if (p->ev[e].value != TERM_NONE)
			written[p->ev[e].cell] = 1;
	for (term_id id = 0; id < p->terms.len; id++) {
		struct term t = p->terms.data[id], u;
		unsigned n = term_arity(&t);
		uint32_t r = t.op == TERM_SYMBOL ? p->reader[t.value] : NONE;

		if (r != NONE && !written[p->ev[r].cell])
			t = (struct term){ .op = TERM_CONST,
					   .width = t.width,
					   .value = p->initial[p->ev[r].cell] };
		u = t;
		if (r != NONE && pinned && pinned[r])
			u = (struct term){ .op = TERM_CONST, .width = t.width, .value = pin[r] };
		u.a = n > 0 ? f->folded[t.a] : 0;
		u.b = n > 1 ? f->folded[t.b] : 0;
		u.c = n > 2 ? f->folded[t.c] : 0;
		t.a = n > 0 ? f->plain[t.a] : 0;
		t.b = n > 1 ? f->plain[t.b] : 0;
		t.c = n > 2 ? f->plain[t.c] : 0;
		f->plain[id] = term_build(&f->terms, t);
		f->folded[id] = term_build(&f->terms, u);
	}
	free(written);
}

/* Conditions on one read are what pins reads: they stay as they are. */
static void use_folding(struct problem *p, struct folding *f)
{
	for (uint32_t e = 0; e < p->ne; e++)
		if (p->ev[e].value != TERM_NONE)
			p->ev[e].value = f->folded[p->ev[e].value];
	for (size_t i = 0; i < p->conditions.len; i++) {
		struct condition *c = &p->conditions.data[i];
		bool one = p->info && p->info[c->term].symbol != MANY;
		c->term = one ? f->plain[c->term] : f->folded[c->term];
	}
	terms_deinit(&p->terms);
	p->terms = f->terms;
	free(f->plain);
	free(f->folded);
}

static void fold_unwritten(struct problem *p)
{
	struct folding f = { 0 };

	fold_terms(p, &f, NULL, NULL);
	use_folding(p, &f);
}

static void gather_info(struct problem *p);
static void list_conditions(struct problem *p);
static void constant_conditions(struct problem *p);
static void lists_deinit(struct lists *l);

bool problem_fold(struct problem *p, const uint8_t *pinned, const uint64_t *pin)
{
	struct folding f = { 0 };
	uint8_t *useful = xcalloc(p->terms.len + 1, 1);
	bool news = false;

	/* which pinned reads occur in conditions on several reads, or in writes? */
	for (size_t i = 0; i < p->conditions.len; i++)
		useful[p->conditions.data[i].term] =
			p->info[p->conditions.data[i].term].symbol == MANY;
	for (uint32_t e = 0; e < p->ne; e++)
		if (p->ev[e].value != TERM_NONE && p->info[p->ev[e].value].symbol == MANY)
			useful[p->ev[e].value] = 1;
	for (term_id id = (term_id)p->terms.len; id-- > 0;) {
		struct term t = p->terms.data[id];
		if (!useful[id])
			continue;
		for (unsigned i = 0; i < term_arity(&t); i++)
			useful[i == 0 ? t.a : i == 1 ? t.b : t.c] = 1;
		if (t.op != TERM_SYMBOL || p->reader[t.value] == NONE ||
		    !pinned[p->reader[t.value]])
			continue;
		uint64_t v = pin[p->reader[t.value]];
		term_id same =
			term_binary(&p->terms, TERM_EQ, id, term_const(&p->terms, t.width, v));
		vec_push(&p->conditions, (struct condition){ .term = same });
		news = true;
	}
	free(useful);
	if (!news)
		return false;
	free(p->info);
	gather_info(p); /* with the new conditions */
	fold_terms(p, &f, pinned, pin);
	use_folding(p, &f);
	free(p->info);
	gather_info(p);
	lists_deinit(&p->checks);
	lists_deinit(&p->unary);
	list_conditions(p);
	constant_conditions(p);
	p->nconds = (uint32_t)p->conditions.len;
	return true;
}

/* ---- what terms depend on ---- */

static void join_info(const struct problem *p, struct term_info *r, const struct term_info *x)
{
	if (x->last != NONE) {
		if (r->last == NONE)
			r->last = x->last;
		else if (p->ev[r->last].thread != p->ev[x->last].thread)
			r->cross = true;
		else if (x->last > r->last)
			r->last = x->last;
	}
	r->cross |= x->cross;
	if (x->symbol != NONE && r->symbol == NONE)
		r->symbol = x->symbol;
	else if (x->symbol != NONE && x->symbol != r->symbol)
		r->symbol = MANY;
}

static void gather_info(struct problem *p)
{
	p->info = xcalloc(p->terms.len + 1, sizeof(*p->info));
	for (term_id id = 0; id < p->terms.len; id++) {
		const struct term *t = &p->terms.data[id];
		struct term_info *r = &p->info[id];
		term_id operand[3] = { t->a, t->b, t->c };

		*r = (struct term_info){ .last = NONE, .symbol = NONE };
		if (t->op == TERM_SYMBOL)
			*r = (struct term_info){ .last = p->reader[t->value],
						 .symbol = (uint32_t)t->value };
		for (unsigned i = 0; i < term_arity(t); i++)
			join_info(p, r, &p->info[operand[i]]);
	}
}

/* ---- lists by key ---- */

static void lists_build(struct lists *l, uint32_t keys, const uint32_t *pair, size_t n)
{
	l->first = xcalloc(keys + 2, sizeof(uint32_t));
	l->item = xcalloc(n + 1, sizeof(uint32_t));
	for (size_t i = 0; i < n; i++)
		l->first[pair[2 * i] + 2]++;
	for (uint32_t k = 0; k < keys; k++)
		l->first[k + 2] += l->first[k + 1];
	for (size_t i = 0; i < n; i++)
		l->item[l->first[pair[2 * i] + 1]++] = pair[2 * i + 1];
}

static void lists_deinit(struct lists *l)
{
	free(l->first);
	free(l->item);
}

struct pairs VEC_FIELDS(uint32_t);

static void pair_push(struct pairs *v, uint32_t key, uint32_t item)
{
	vec_push(v, key);
	vec_push(v, item);
}

struct support {
	struct problem *p;
	struct pairs *out;
	uint32_t condition;
	uint32_t *last; /* per thread */
};

static void note_symbol(void *ctx, uint32_t symbol)
{
	struct support *s = ctx;
	uint32_t e = s->p->reader[symbol];

	if (e == NONE)
		return;
	uint32_t *last = &s->last[s->p->ev[e].thread];
	if (*last == NONE || e > *last)
		*last = e;
}

/* Where does each condition become known? After the last of its reads; when its reads are of
 * several threads, after the last read of whichever thread comes last. */
static void list_conditions(struct problem *p)
{
	struct pairs checks = { 0 }, unary = { 0 };
	uint32_t *last = xcalloc(p->nt + 1, sizeof(*last));

	for (uint32_t i = 0; i < p->conditions.len; i++) {
		struct condition *c = &p->conditions.data[i];
		const struct term_info *info = &p->info[c->term];

		c->symbol = info->symbol < MANY ? info->symbol : NONE;
		c->cross = info->cross;
		if (info->last == NONE)
			continue;
		if (c->symbol != NONE)
			pair_push(&unary, info->last, i);
		if (!c->cross) {
			pair_push(&checks, info->last, i);
			continue;
		}
		for (uint32_t t = 0; t < p->nt; t++)
			last[t] = NONE;
		struct support s = { p, &checks, i, last };
		term_each_symbol(&p->terms, c->term, note_symbol, &s);
		for (uint32_t t = 0; t < p->nt; t++)
			if (last[t] != NONE)
				pair_push(&checks, last[t], i);
	}
	lists_build(&p->checks, p->ne, checks.data, checks.len / 2);
	lists_build(&p->unary, p->ne, unary.data, unary.len / 2);
	free(last);
	vec_deinit(&checks);
	vec_deinit(&unary);
}

static void list_writes(struct problem *p)
{
	struct pairs writes = { 0 };
	uint32_t *last = xcalloc(p->ncells + 1, sizeof(*last));

	p->next_write = xcalloc(p->ne + 1, sizeof(uint32_t));
	p->prev_write = xcalloc(p->ne + 1, sizeof(uint32_t));
	for (uint32_t e = 0; e < p->ne; e++) {
		const struct ev *v = &p->ev[e];
		p->next_write[e] = p->prev_write[e] = NONE;
		if (v->index == 0)
			for (uint32_t c = 0; c < p->ncells; c++)
				last[c] = NONE;
		if (v->cell == NONE)
			continue;
		p->prev_write[e] = last[v->cell];
		if (v->value == TERM_NONE)
			continue;
		if (last[v->cell] != NONE)
			p->next_write[last[v->cell]] = e;
		last[v->cell] = e;
		pair_push(&writes, v->cell, e);
	}
	lists_build(&p->writes, p->ncells, writes.data, writes.len / 2);
	free(last);
	vec_deinit(&writes);
}

static void list_held(struct problem *p)
{
	struct pairs held = { 0 };
	VEC(uint32_t) open = { 0 };

	for (uint32_t e = 0; e < p->ne; e++) {
		const struct ev *v = &p->ev[e];
		if (v->index == 0)
			open.len = 0;
		if (v->opens != NONE)
			vec_push(&open, v->opens);
		for (size_t i = 0; i < open.len; i++)
			pair_push(&held, e, open.data[i]);
		size_t kept = 0;
		for (size_t i = 0; i < open.len; i++)
			if (open.data[i] != v->closes)
				open.data[kept++] = open.data[i];
		open.len = kept;
	}
	lists_build(&p->held, p->ne, held.data, held.len / 2);
	vec_deinit(&open);
	vec_deinit(&held);
}

static void constant_conditions(struct problem *p)
{
	for (size_t i = 0; i < p->conditions.len; i++) {
		const struct condition *c = &p->conditions.data[i];
		if (p->info[c->term].last != NONE)
			continue;
		if (!term_eval(&p->terms, c->term, p->input)) {
			p->impossible = true;
			p->impossible_why = c->outcome ? "the outcome" : "a path condition";
		}
	}
}

/* A write may use only what its own thread read before. */
static struct err *check_writes(const struct problem *p)
{
	for (uint32_t e = 0; e < p->ne; e++) {
		const struct ev *v = &p->ev[e];
		if (v->value == TERM_NONE)
			continue;
		const struct term_info *i = &p->info[v->value];
		if (i->cross ||
		    (i->last != NONE && (p->ev[i->last].thread != v->thread || i->last > e)))
			return err_new(ERR_ENV,
				       "order model: event %u writes what its thread did not read",
				       v->model);
	}
	return NULL;
}

struct err *problem_init(struct problem *p, const struct order_model *m, enum order_want want,
			 const uint64_t *inputs)
{
	size_t no = m->objects.len, ne = m->events.len;

	*p = (struct problem){ .m = m };
	terms_copy(&p->terms, &m->terms);
	p->nt = (uint32_t)m->threads.len;
	p->ne = (uint32_t)ne;
	p->nsymbols = (uint32_t)m->symbols.len;
	p->ev = xcalloc(ne + 1, sizeof(*p->ev));
	p->first = xcalloc(p->nt + 2, sizeof(*p->first));
	p->of_model = xcalloc(ne + 1, sizeof(*p->of_model));
	p->initial = xcalloc(no + 1, sizeof(*p->initial));
	p->cell_width = xcalloc(no + 1, 1);
	p->reader = xcalloc(m->symbols.len + ne + 1, sizeof(*p->reader));
	p->input = xcalloc(m->symbols.len + ne + 1, sizeof(*p->input));
	p->clock = xcalloc(ne * p->nt + 1, sizeof(*p->clock));
	for (size_t i = 0; i < m->symbols.len; i++) {
		p->reader[i] = NONE;
		p->input[i] = inputs ? inputs[i] : m->symbols.data[i].hint;
	}
	lower_model(p, want);
	fold_unwritten(p);
	gather_info(p);
	list_conditions(p);
	list_writes(p);
	list_held(p);
	constant_conditions(p);
	p->nconds = (uint32_t)p->conditions.len;
	return check_writes(p);
}

void problem_deinit(struct problem *p)
{
	terms_deinit(&p->terms);
	free(p->ev);
	free(p->first);
	free(p->of_model);
	free(p->initial);
	free(p->cell_width);
	free(p->reader);
	free(p->input);
	free(p->info);
	free(p->next_write);
	free(p->prev_write);
	free(p->clock);
	vec_deinit(&p->sections);
	vec_deinit(&p->conditions);
	vec_deinit(&p->edges);
	lists_deinit(&p->writes);
	lists_deinit(&p->held);
	lists_deinit(&p->checks);
	lists_deinit(&p->unary);
	memset(p, 0, sizeof(*p));
}

/* ---- questions ---- */

uint64_t unary_eval(const struct problem *p, term_id id, uint64_t x)
{
	const struct term *t = &p->terms.data[id];
	unsigned n = term_arity(t);

	if (t->op == TERM_CONST)
		return t->value;
	if (t->op == TERM_SYMBOL)
		return x & term_mask(t->width);
	return term_apply(t, p->terms.data[t->a].width, unary_eval(p, t->a, x),
			  n > 1 ? unary_eval(p, t->b, x) : 0, n > 2 ? unary_eval(p, t->c, x) : 0);
}

bool unary_accepts(const struct problem *p, uint32_t r, uint64_t value)
{
	for (uint32_t i = p->unary.first[r]; i < p->unary.first[r + 1]; i++)
		if (!unary_eval(p, p->conditions.data[p->unary.item[i]].term, value))
			return false;
	return true;
}

bool common_lock(const struct problem *p, uint32_t a, uint32_t b, uint32_t *sa, uint32_t *sb)
{
	const uint32_t *first = p->held.first;

	for (uint32_t i = first[a]; i < first[a + 1]; i++)
		for (uint32_t j = first[b]; j < first[b + 1]; j++) {
			const struct section *x = &p->sections.data[p->held.item[i]];
			const struct section *y = &p->sections.data[p->held.item[j]];
			if (x->lock != y->lock || x->thread == y->thread ||
			    (x->shared && y->shared))
				continue;
			*sa = p->held.item[i];
			*sb = p->held.item[j];
			return true;
		}
	return false;
}

uint32_t write_at_or_after(const struct problem *p, uint32_t cell, uint32_t e)
{
	uint32_t lo = p->writes.first[cell], hi = p->writes.first[cell + 1];

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (p->writes.item[mid] < e)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Sweep the events in topological order (or against it); the clock of an event is the maximum over
 * what directly precedes (follows) it. */
static bool sweep(const struct problem *p, bool backwards, int32_t *clock)
{
	struct pairs pairs = { 0 };
	struct lists out;
	uint32_t *missing = xcalloc(p->ne + 1, sizeof(*missing));
	VEC(uint32_t) ready = { 0 };
	uint32_t done = 0;

	for (size_t i = 0; i < p->edges.len; i++) {
		struct edge e = p->edges.data[i];
		pair_push(&pairs, backwards ? e.to : e.from, backwards ? e.from : e.to);
		missing[backwards ? e.from : e.to]++;
	}
	lists_build(&out, p->ne, pairs.data, p->edges.len);
	memset(clock, 0, sizeof(*clock) * (size_t)p->ne * p->nt);
	for (uint32_t e = 0; e < p->ne; e++) {
		missing[e] += backwards ? !last_of_thread(p, e) : p->ev[e].index > 0;
		if (!missing[e])
			vec_push(&ready, e);
	}
	while (ready.len) {
		uint32_t e = vec_pop(&ready), t = p->ev[e].thread, i = out.first[e];
		int32_t *mine = clock + (size_t)e * p->nt;
		bool po = backwards ? p->ev[e].index > 0 : !last_of_thread(p, e);

		done++;
		mine[t] = (int32_t)(backwards ? p->first[t + 1] - e : p->ev[e].index + 1);
		for (; po || i < out.first[e + 1]; po = false) {
			uint32_t next = !po ? out.item[i++] : backwards ? e - 1 : e + 1;
			int32_t *theirs = clock + (size_t)next * p->nt;
			for (uint32_t k = 0; k < p->nt; k++)
				theirs[k] = MAX(theirs[k], mine[k]);
			if (!--missing[next])
				vec_push(&ready, next);
		}
	}
	lists_deinit(&out);
	vec_deinit(&pairs);
	vec_deinit(&ready);
	free(missing);
	return done == p->ne;
}

bool problem_clocks(struct problem *p)
{
	return sweep(p, false, p->clock);
}

float *problem_estimate(const struct problem *p)
{
	int32_t *after = xcalloc((size_t)p->ne * p->nt + 1, sizeof(*after));
	float *r = xcalloc(p->ne + 1, sizeof(*r));

	sweep(p, true, after);
	for (uint32_t e = 0; e < p->ne; e++) {
		float before = 0, behind = 0;
		for (uint32_t t = 0; t < p->nt; t++) {
			before += (float)p->clock[(size_t)e * p->nt + t];
			behind += (float)after[(size_t)e * p->nt + t];
		}
		r[e] = before / (before + behind);
	}
	free(after);
	return r;
}
