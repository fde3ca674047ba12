/* order/search/reference-z3.c - the published encoding (000 section 4.1.3), handed to Z3.
 *
 * One integer per event (its place), one bit-vector per read (its value); program order; partial
 * order of fork, join and signals; for each lock pair "first, or right after some other pair"; for
 * each read a disjunction over the writes it may observe, each saying where all other writes are.
 * It is quadratic to cubic and slow, and that is its use: tests compare answers, the scoreboard
 * compares times. order_solve also asks it when free inputs leave our solver without an answer.
 *
 * The published encoding leaves a cell's initial value free for each thread, so its schedules can
 * be spurious. Here the initial value is one more source. The counts are those of the paper: two
 * constraints for each pair of candidate writes of a read (2 k^2; the own thread's writes but the
 * last one do not count), one per place, one per fork, join and condition, and 1 + n (2 n - 1) for
 * a lock taken n > 1 times. */
#include "order/model/problem.h"
#include "order/search/reference.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "base/log.h"

#include <stdio.h>
#include <z3.h>

struct asts VEC_FIELDS(Z3_ast);

struct encoder {
	const struct problem *p;
	Z3_context z3;
	Z3_solver solver;
	Z3_sort integer;
	Z3_ast *place; /* by event */
	Z3_ast *value; /* by symbol */
	Z3_ast *term;  /* by term */
};

static Z3_ast name(struct encoder *x, char kind, uint32_t n, Z3_sort sort)
{
	char buffer[24];

	snprintf(buffer, sizeof(buffer), "%c%u", kind, n);
	return Z3_mk_const(x->z3, Z3_mk_string_symbol(x->z3, buffer), sort);
}

/* ---- terms ---- */

static Z3_ast bit(struct encoder *x, Z3_ast condition)
{
	Z3_sort one = Z3_mk_bv_sort(x->z3, 1);

	return Z3_mk_ite(x->z3, condition, Z3_mk_unsigned_int64(x->z3, 1, one),
			 Z3_mk_unsigned_int64(x->z3, 0, one));
}

static Z3_ast truth(struct encoder *x, term_id id)
{
	Z3_sort one = Z3_mk_bv_sort(x->z3, 1);

	return Z3_mk_eq(x->z3, x->term[id], Z3_mk_unsigned_int64(x->z3, 1, one));
}

static Z3_ast translate(struct encoder *x, const struct term *t)
{
	Z3_context c = x->z3;
	Z3_ast a = term_arity(t) > 0 ? x->term[t->a] : NULL;
	Z3_ast b = term_arity(t) > 1 ? x->term[t->b] : NULL;
	unsigned from = term_arity(t) > 0 ? x->p->terms.data[t->a].width : 0;

	switch ((enum term_op)t->op) {
	case TERM_CONST:
		return Z3_mk_unsigned_int64(c, t->value, Z3_mk_bv_sort(c, t->width));
	case TERM_SYMBOL:
		return x->value[t->value];
	case TERM_NEG:
		return Z3_mk_bvneg(c, a);
	case TERM_NOT:
		return Z3_mk_bvnot(c, a);
	case TERM_ZEXT:
		return Z3_mk_zero_ext(c, t->width - from, a);
	case TERM_SEXT:
		return Z3_mk_sign_ext(c, t->width - from, a);
	case TERM_EXTRACT:
		return Z3_mk_extract(c, (unsigned)t->value + t->width - 1, (unsigned)t->value, a);
	case TERM_ADD:
		return Z3_mk_bvadd(c, a, b);
	case TERM_SUB:
		return Z3_mk_bvsub(c, a, b);
	case TERM_MUL:
		return Z3_mk_bvmul(c, a, b);
	case TERM_UDIV:
		return Z3_mk_bvudiv(c, a, b);
	case TERM_SDIV:
		return Z3_mk_bvsdiv(c, a, b);
	case TERM_UREM:
		return Z3_mk_bvurem(c, a, b);
	case TERM_SREM:
		return Z3_mk_bvsrem(c, a, b);
	case TERM_AND:
		return Z3_mk_bvand(c, a, b);
	case TERM_OR:
		return Z3_mk_bvor(c, a, b);
	case TERM_XOR:
		return Z3_mk_bvxor(c, a, b);
	case TERM_SHL:
		return Z3_mk_bvshl(c, a, b);
	case TERM_LSHR:
		return Z3_mk_bvlshr(c, a, b);
	case TERM_ASHR:
		return Z3_mk_bvashr(c, a, b);
	case TERM_CONCAT:
		return Z3_mk_concat(c, a, b);
	case TERM_EQ:
		return bit(x, Z3_mk_eq(c, a, b));
	case TERM_NE:
		return bit(x, Z3_mk_not(c, Z3_mk_eq(c, a, b)));
	case TERM_ULT:
		return bit(x, Z3_mk_bvult(c, a, b));
	case TERM_ULE:
		return bit(x, Z3_mk_bvule(c, a, b));
	case TERM_SLT:
		return bit(x, Z3_mk_bvslt(c, a, b));
	case TERM_SLE:
		return bit(x, Z3_mk_bvsle(c, a, b));
	case TERM_ITE:
		return Z3_mk_ite(c, truth(x, t->a), b, x->term[t->c]);
	case TERM_NOPS:
		break;
	}
	BUG("unknown term");
}

static void encode_terms(struct encoder *x)
{
	const struct problem *p = x->p;

	for (uint32_t s = 0; s < p->nsymbols; s++) {
		unsigned width = p->reader[s] != NONE ? p->cell_width[p->ev[p->reader[s]].cell]
						      : p->m->symbols.data[s].width;
		x->value[s] = name(x, 'r', s, Z3_mk_bv_sort(x->z3, width));
	}
	for (term_id i = 0; i < p->terms.len; i++)
		x->term[i] = translate(x, &p->terms.data[i]);
}

/* ---- orders ---- */

static void require(struct encoder *x, Z3_ast a)
{
	Z3_solver_assert(x->z3, x->solver, a);
}

static Z3_ast before(struct encoder *x, uint32_t a, uint32_t b)
{
	return Z3_mk_lt(x->z3, x->place[a], x->place[b]);
}

static Z3_ast either(struct encoder *x, Z3_ast a, Z3_ast b)
{
	return Z3_mk_or(x->z3, 2, (Z3_ast[]){ a, b });
}

static Z3_ast conjunction(struct encoder *x, const struct asts *v)
{
	return v->len ? Z3_mk_and(x->z3, (unsigned)v->len, v->data) : Z3_mk_true(x->z3);
}

static Z3_ast disjunction(struct encoder *x, const struct asts *v)
{
	return v->len ? Z3_mk_or(x->z3, (unsigned)v->len, v->data) : Z3_mk_false(x->z3);
}

static void encode_program_order(struct encoder *x)
{
	const struct problem *p = x->p;

	for (uint32_t e = 0; e < p->ne; e++)
		if (!last_of_thread(p, e))
			require(x, before(x, e, e + 1));
	for (size_t i = 0; i < p->edges.len; i++)
		require(x, before(x, p->edges.data[i].from, p->edges.data[i].to));
}

static Z3_ast section_before(struct encoder *x, uint32_t i, uint32_t j)
{
	const struct section *s = x->p->sections.data;

	if (s[i].close == NONE)
		return Z3_mk_false(x->z3);
	return before(x, s[i].close, s[j].open);
}

static bool excludes(const struct problem *p, uint32_t i, uint32_t j)
{
	const struct section *s = p->sections.data;

	return i != j && s[i].lock == s[j].lock && !(s[i].shared && s[j].shared);
}

/* Section i is the first on its lock, or follows some j that all others precede or i precedes. */
static Z3_ast published_section(struct encoder *x, uint32_t i)
{
	uint32_t n = (uint32_t)x->p->sections.len;
	struct asts cases = { 0 }, parts = { 0 };

	for (uint32_t j = 0; j < n; j++)
		if (excludes(x->p, i, j))
			vec_push(&parts, section_before(x, i, j));
	vec_push(&cases, conjunction(x, &parts));
	for (uint32_t j = 0; j < n; j++) {
		if (!excludes(x->p, i, j))
			continue;
		parts.len = 0;
		vec_push(&parts, section_before(x, j, i));
		for (uint32_t k = 0; k < n; k++)
			if (k != j && excludes(x->p, i, k))
				vec_push(&parts, either(x, section_before(x, i, k),
							section_before(x, k, j)));
		vec_push(&cases, conjunction(x, &parts));
	}
	Z3_ast r = disjunction(x, &cases);
	vec_deinit(&cases);
	vec_deinit(&parts);
	return r;
}

static void encode_locks(struct encoder *x)
{
	const struct problem *p = x->p;
	uint32_t n = (uint32_t)p->sections.len;
	uint8_t *shared = xcalloc(p->nlocks + 1, 1);

	for (uint32_t i = 0; i < n; i++)
		shared[p->sections.data[i].lock] |= p->sections.data[i].shared;
	for (uint32_t i = 0; i < n; i++) {
		if (!shared[p->sections.data[i].lock]) {
			require(x, published_section(x, i));
			continue;
		}
		for (uint32_t j = i + 1; j < n; j++) /* the paper has no read-write locks */
			if (excludes(p, i, j) &&
			    p->sections.data[i].thread != p->sections.data[j].thread)
				require(x, either(x, section_before(x, i, j),
						  section_before(x, j, i)));
	}
	free(shared);
}

static void encode_signals(struct encoder *x)
{
	const struct problem *p = x->p;
	struct asts *uses = xcalloc(p->ne + 1, sizeof(*uses));
	struct asts cases = { 0 };
	uint32_t matches = 0;

	for (uint32_t w = 0; w < p->ne; w++) {
		if (p->ev[w].cond_part != COND_WAKE)
			continue;
		cases.len = 0;
		for (uint32_t s = 0; s < p->ne; s++) {
			const struct ev *v = &p->ev[s];
			if (v->cond != p->ev[w].cond || v->thread == p->ev[w].thread ||
			    (v->cond_part != COND_SIGNAL && v->cond_part != COND_BROADCAST))
				continue;
			Z3_ast m = name(x, 'b', matches++, Z3_mk_bool_sort(x->z3));
			Z3_ast all[] = { m, before(x, w - 1, s), before(x, s, w) };
			vec_push(&cases, Z3_mk_and(x->z3, 3, all));
			if (v->cond_part == COND_SIGNAL)
				vec_push(&uses[s], m);
		}
		require(x, disjunction(x, &cases));
	}
	for (uint32_t s = 0; s < p->ne; s++) {
		if (uses[s].len > 1)
			require(x, Z3_mk_atmost(x->z3, (unsigned)uses[s].len, uses[s].data, 1));
		vec_deinit(&uses[s]);
	}
	vec_deinit(&cases);
	free(uses);
}

struct writes VEC_FIELDS(uint32_t);

/* Writes of other threads, and the last one of its own. */
static void candidate_writes(const struct problem *p, uint32_t r, struct writes *ret)
{
	uint32_t cell = p->ev[r].cell;

	ret->len = 0;
	for (uint32_t i = p->writes.first[cell]; i < p->writes.first[cell + 1]; i++) {
		uint32_t w = p->writes.item[i];
		if (p->ev[w].thread != p->ev[r].thread || w == p->prev_write[r])
			vec_push(ret, w);
	}
}

static void encode_read(struct encoder *x, uint32_t r, struct writes *w)
{
	const struct problem *p = x->p;
	const struct ev *v = &p->ev[r];
	struct asts cases = { 0 }, parts = { 0 };

	candidate_writes(p, r, w);
	for (size_t i = 0; i < w->len; i++) {
		parts.len = 0;
		vec_push(&parts,
			 Z3_mk_eq(x->z3, x->value[v->symbol], x->term[p->ev[w->data[i]].value]));
		vec_push(&parts, before(x, w->data[i], r));
		for (size_t k = 0; k < w->len; k++)
			if (k != i)
				vec_push(&parts, either(x, before(x, w->data[k], w->data[i]),
							before(x, r, w->data[k])));
		vec_push(&cases, conjunction(x, &parts));
	}
	if (p->prev_write[r] == NONE) {
		parts.len = 0;
		vec_push(&parts, Z3_mk_eq(x->z3, x->value[v->symbol],
					  Z3_mk_unsigned_int64(
						  x->z3, p->initial[v->cell],
						  Z3_mk_bv_sort(x->z3, p->cell_width[v->cell]))));
		for (size_t k = 0; k < w->len; k++)
			vec_push(&parts, before(x, r, w->data[k]));
		vec_push(&cases, conjunction(x, &parts));
	}
	require(x, disjunction(x, &cases));
	vec_deinit(&cases);
	vec_deinit(&parts);
}

static void encode(struct encoder *x)
{
	const struct problem *p = x->p;
	struct writes w = { 0 };

	encode_terms(x);
	for (uint32_t e = 0; e < p->ne; e++)
		x->place[e] = name(x, 'o', e, x->integer);
	encode_program_order(x);
	encode_locks(x);
	encode_signals(x);
	for (uint32_t e = 0; e < p->ne; e++)
		if (p->ev[e].symbol != NONE)
			encode_read(x, e, &w);
	for (size_t i = 0; i < p->conditions.len; i++)
		require(x, truth(x, p->conditions.data[i].term));
	vec_deinit(&w);
}

/* ---- counting as the paper counts ---- */

static void count(const struct problem *p, struct order_reference *ret)
{
	struct writes w = { 0 };
	size_t *taken = xcalloc(p->nlocks + 1, sizeof(*taken)), reads = 0;

	ret->constraints = p->ne + p->edges.len + p->conditions.len;
	for (uint32_t e = 0; e < p->ne; e++) {
		if (p->ev[e].symbol == NONE)
			continue;
		candidate_writes(p, e, &w);
		ret->constraints += w.len ? 2 * w.len * w.len : 1;
		reads++;
	}
	for (size_t i = 0; i < p->sections.len; i++)
		taken[p->sections.data[i].lock]++;
	for (uint32_t l = 0; l < p->nlocks; l++)
		if (taken[l] > 1)
			ret->constraints += 1 + taken[l] * (2 * taken[l] - 1);
	ret->variables = p->ne + reads;
	free(taken);
	vec_deinit(&w);
}

/* ---- solving ---- */

static uint64_t bits(struct encoder *x, Z3_model model, Z3_ast a)
{
	Z3_ast v = NULL;
	uint64_t r = 0;

	if (Z3_model_eval(x->z3, model, a, true, &v))
		Z3_get_numeral_uint64(x->z3, v, &r);
	return r;
}

struct placed {
	int64_t place;
	uint32_t event;
};

static int by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

static void read_model(struct encoder *x, struct order_reference *ret)
{
	const struct problem *p = x->p;
	Z3_model model = Z3_solver_get_model(x->z3, x->solver);
	VEC(struct placed) all = { 0 };

	Z3_model_inc_ref(x->z3, model);
	for (uint32_t e = 0; e < p->ne; e++) {
		Z3_ast v = NULL;
		int64_t place = 0;
		if (Z3_model_eval(x->z3, model, x->place[e], true, &v))
			Z3_get_numeral_int64(x->z3, v, &place);
		vec_push(&all, (struct placed){ place, e });
	}
	vec_sort(&all, by_place);
	ret->order = xcalloc(p->ne + 1, sizeof(*ret->order));
	ret->values = xcalloc(p->m->symbols.len + 1, sizeof(*ret->values));
	for (uint32_t i = 0; i < p->ne; i++)
		ret->order[i] = p->ev[all.data[i].event].model;
	for (uint32_t s = 0; s < p->m->symbols.len; s++)
		ret->values[s] = bits(x, model, x->value[s]);
	vec_deinit(&all);
	Z3_model_dec_ref(x->z3, model);
}

static void encoder_init(struct encoder *x, const struct problem *p, double seconds)
{
	Z3_config config = Z3_mk_config();

	*x = (struct encoder){ .p = p };
	if (seconds > 0 && seconds < 1e6) {
		char ms[32];
		snprintf(ms, sizeof(ms), "%.0f", seconds * 1000 + 1);
		Z3_set_param_value(config, "timeout", ms);
	}
	x->z3 = Z3_mk_context(config);
	Z3_del_config(config);
	x->solver = Z3_mk_solver(x->z3);
	Z3_solver_inc_ref(x->z3, x->solver);
	x->integer = Z3_mk_int_sort(x->z3);
	x->place = xcalloc(p->ne + 1, sizeof(*x->place));
	x->value = xcalloc(p->nsymbols + 1, sizeof(*x->value));
	x->term = xcalloc(p->terms.len + 1, sizeof(*x->term));
}

static void encoder_deinit(struct encoder *x)
{
	Z3_solver_dec_ref(x->z3, x->solver);
	Z3_del_context(x->z3);
	free(x->place);
	free(x->value);
	free(x->term);
}

static enum order_status check(struct encoder *x)
{
	switch (Z3_solver_check(x->z3, x->solver)) {
	case Z3_L_TRUE:
		return ORDER_SAT;
	case Z3_L_FALSE:
		return ORDER_UNSAT;
	default:
		return ORDER_UNKNOWN;
	}
}

static struct err *referee(const struct order_model *m, enum order_want want,
			   const struct order_reference *r)
{
	struct strbuf why = { 0 };
	struct err *err = NULL;

	if (!order_validate(m, want, r->order, m->events.len, r->values, &why))
		err = err_new(ERR_ENV, "the published encoding gave an order that is none: %s",
			      strbuf_str(&why));
	strbuf_deinit(&why);
	return err;
}

struct err *order_reference(const struct order_model *m, enum order_want want, double seconds,
			    bool count_only, struct order_reference *ret)
{
	double start = clock_seconds();
	struct encoder x;
	struct problem p;
	struct err *err;

	*ret = (struct order_reference){ 0 };
	err = order_model_check(m);
	if (err)
		return err;
	err = problem_init(&p, m, want, NULL);
	if (!err)
		count(&p, ret);
	if (!err && !count_only) {
		encoder_init(&x, &p, seconds);
		encode(&x);
		ret->status = check(&x);
		if (ret->status == ORDER_SAT) {
			read_model(&x, ret);
			err = referee(m, want, ret);
		}
		encoder_deinit(&x);
	}
	problem_deinit(&p);
	ret->seconds = clock_seconds() - start;
	return err;
}

void order_reference_deinit(struct order_reference *r)
{
	free(r->order);
	free(r->values);
}

enum order_status reference_inputs(const struct order_model *m, enum order_want want,
				   uint64_t *values, double seconds)
{
	struct encoder x;
	struct problem p;
	enum order_status status;
	struct err *err = problem_init(&p, m, want, values);

	if (err) {
		err_free(err);
		problem_deinit(&p);
		return ORDER_UNKNOWN;
	}
	encoder_init(&x, &p, seconds);
	encode_terms(&x);
	for (size_t i = 0; i < p.conditions.len; i++)
		if (p.info[p.conditions.data[i].term].last == NONE)
			require(&x, truth(&x, p.conditions.data[i].term));
	status = check(&x);
	if (status == ORDER_SAT) {
		Z3_model model = Z3_solver_get_model(x.z3, x.solver);
		Z3_model_inc_ref(x.z3, model);
		for (uint32_t s = 0; s < m->symbols.len; s++)
			if (p.reader[s] == NONE)
				values[s] = bits(&x, model, x.value[s]);
		Z3_model_dec_ref(x.z3, model);
	}
	encoder_deinit(&x);
	problem_deinit(&p);
	return status;
}
