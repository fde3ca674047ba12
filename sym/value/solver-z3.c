/* sym/value/solver-z3.c - the last link of the chain: expressions into Z3's terms and back.
 *
 * One context for the life of the machine, which keeps every term; a term is built once per
 * expression. Each question is a fresh scope: constraints go in as assumptions, so that an
 * unsatisfiable answer names the few that clash. Reads of snapshots become trees of if-then-else
 * over the index: no arrays are needed, and Z3's fast bit-vector solver can be used whenever there
 * is no floating point. */
#include "base/mem.h"
#include "base/vec.h"
#include "sym/value/solver.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <z3.h>

struct z3_link {
	struct exprs *e;
	Z3_context ctx;
	Z3_solver solver;    /* of the question at hand: one of the two */
	Z3_solver bits, any; /* for bit-vectors alone, and with floating point */
	Z3_ast *terms;	     /* per expression, NULL = not built */
	uint32_t nterms;
	Z3_ast *bools; /* the one-bit constraint as a truth value */
	uint8_t *fp;   /* per expression: 1 = contains floating point */
	FILE *log;
	uint64_t logged;
};

static void on_error(Z3_context c, Z3_error_code code)
{
	(void)c;
	(void)code; /* looked at where it matters */
}

static void set_timeout(struct z3_link *z, Z3_solver s, uint32_t query_ms)
{
	Z3_params params = Z3_mk_params(z->ctx);

	Z3_params_inc_ref(z->ctx, params);
	Z3_params_set_uint(z->ctx, params, Z3_mk_string_symbol(z->ctx, "timeout"), query_ms);
	Z3_solver_set_params(z->ctx, s, params);
	Z3_params_dec_ref(z->ctx, params);
}

static Z3_solver new_solver(struct z3_link *z, const char *logic, uint32_t query_ms)
{
	Z3_solver s = Z3_mk_solver_for_logic(z->ctx, Z3_mk_string_symbol(z->ctx, logic));

	Z3_solver_inc_ref(z->ctx, s); /* before anything else is made: Z3 keeps only the latest */
	set_timeout(z, s, query_ms);
	return s;
}

void z3_link_set_timeout(struct z3_link *z, uint32_t query_ms)
{
	set_timeout(z, z->bits, query_ms);
	set_timeout(z, z->any, query_ms);
}

struct z3_link *z3_link_new(struct exprs *e, uint32_t query_ms, const char *log)
{
	struct z3_link *z = xcalloc(1, sizeof(*z));
	Z3_config cfg = Z3_mk_config();

	z->e = e;
	Z3_set_param_value(cfg, "model", "true");
	z->ctx = Z3_mk_context(cfg);
	Z3_del_config(cfg);
	Z3_set_error_handler(z->ctx, on_error);
	z->bits = new_solver(z, "QF_BV", query_ms);
	z->any = new_solver(z, "QF_FPBV", query_ms);
	if (log)
		z->log = fopen(log, "w");
	return z;
}

void z3_link_free(struct z3_link *z)
{
	if (!z)
		return;
	Z3_solver_dec_ref(z->ctx, z->bits);
	Z3_solver_dec_ref(z->ctx, z->any);
	Z3_del_context(z->ctx);
	if (z->log)
		fclose(z->log);
	free(z->fp);
	free(z->terms);
	free(z->bools);
	free(z);
}

static Z3_sort bv(struct z3_link *z, unsigned w)
{
	return Z3_mk_bv_sort(z->ctx, w);
}

static Z3_ast number(struct z3_link *z, unsigned w, uint64_t v)
{
	return Z3_mk_unsigned_int64(z->ctx, v, bv(z, w));
}

static Z3_ast bit(struct z3_link *z, Z3_ast b)
{
	return Z3_mk_ite(z->ctx, b, number(z, 1, 1), number(z, 1, 0));
}

static Z3_ast truth(struct z3_link *z, Z3_ast v)
{
	return Z3_mk_eq(z->ctx, v, number(z, 1, 1));
}

static Z3_ast keep(struct z3_link *z, Z3_ast a)
{
	Z3_inc_ref(z->ctx, a);
	return a;
}

static Z3_ast snapshot_byte(struct z3_link *z, const struct snapshot *s, uint32_t i)
{
	return s->sym && s->sym[i] ? z->terms[s->sym[i]] : number(z, 8, s->bytes[i]);
}

/* A byte of the snapshot whose term is not built yet. */
static bool push_missing(struct z3_link *z, const struct snapshot *s, expr_id *missing)
{
	for (uint32_t i = 0; s->sym && i < s->size; i++)
		if (s->sym[i] && !z->terms[s->sym[i]]) {
			*missing = s->sym[i];
			return true;
		}
	return false;
}

static bool same_byte(const struct snapshot *s, uint32_t i, uint32_t k)
{
	expr_id x = s->sym ? s->sym[i] : 0, y = s->sym ? s->sym[k] : 0;

	return x == y && (x || s->bytes[i] == s->bytes[k]);
}

/* Bytes lo..hi selected by the index: halves, and halves of halves; equal runs are one leaf. */
static Z3_ast mux(struct z3_link *z, const struct snapshot *s, Z3_ast index, uint32_t lo,
		  uint32_t hi)
{
	uint32_t mid = lo + (hi - lo) / 2, i = lo;

	while (i < hi && same_byte(s, lo, i + 1))
		i++;
	if (i == hi)
		return snapshot_byte(z, s, lo);
	return Z3_mk_ite(z->ctx, Z3_mk_bvule(z->ctx, index, number(z, 32, mid)),
			 mux(z, s, index, lo, mid), mux(z, s, index, mid + 1, hi));
}

/* The machine has already made sure that the index is inside. */
static Z3_ast read_term(struct z3_link *z, const struct expr *x)
{
	const struct snapshot *s = &z->e->snapshots.data[x->imm];
	Z3_ast index = z->terms[x->a];

	if (!s->size)
		return number(z, 8, 0);
	return Z3_mk_ite(z->ctx, Z3_mk_bvult(z->ctx, index, number(z, 64, s->size)),
			 mux(z, s, Z3_mk_extract(z->ctx, 31, 0, index), 0, s->size - 1),
			 number(z, 8, 0));
}

static Z3_sort fp_sort(struct z3_link *z, unsigned w)
{
	return w == 32 ? Z3_mk_fpa_sort_32(z->ctx) : Z3_mk_fpa_sort_64(z->ctx);
}

static Z3_ast to_fp(struct z3_link *z, Z3_ast bits, unsigned w)
{
	return Z3_mk_fpa_to_fp_bv(z->ctx, bits, fp_sort(z, w));
}

static Z3_ast fp_compare(struct z3_link *z, Z3_ast a, Z3_ast b, uint64_t pred)
{
	Z3_ast parts[4], un[2] = { Z3_mk_fpa_is_nan(z->ctx, a), Z3_mk_fpa_is_nan(z->ctx, b) };
	unsigned n = 0;

	if (pred & 1)
		parts[n++] = Z3_mk_fpa_eq(z->ctx, a, b);
	if (pred & 2)
		parts[n++] = Z3_mk_fpa_gt(z->ctx, a, b);
	if (pred & 4)
		parts[n++] = Z3_mk_fpa_lt(z->ctx, a, b);
	if (pred & 8)
		parts[n++] = Z3_mk_or(z->ctx, 2, un);
	return n ? Z3_mk_or(z->ctx, n, parts) : Z3_mk_false(z->ctx);
}

static Z3_ast fp_term(struct z3_link *z, const struct expr *x)
{
	Z3_context c = z->ctx;
	unsigned wa = expr_get(z->e, x->a)->w;
	Z3_ast rne = Z3_mk_fpa_rne(c), rtz = Z3_mk_fpa_rtz(c), a = z->terms[x->a],
	       b = x->b ? z->terms[x->b] : NULL, r;

	switch (x->op) {
	case EX_STOF:
		return Z3_mk_fpa_to_ieee_bv(c, Z3_mk_fpa_to_fp_signed(c, rne, a, fp_sort(z, x->w)));
	case EX_UTOF:
		return Z3_mk_fpa_to_ieee_bv(c,
					    Z3_mk_fpa_to_fp_unsigned(c, rne, a, fp_sort(z, x->w)));
	default:
		break;
	}
	a = to_fp(z, a, wa);
	if (b)
		b = to_fp(z, b, wa);
	switch (x->op) {
	case EX_FADD:
		r = Z3_mk_fpa_add(c, rne, a, b);
		break;
	case EX_FSUB:
		r = Z3_mk_fpa_sub(c, rne, a, b);
		break;
	case EX_FMUL:
		r = Z3_mk_fpa_mul(c, rne, a, b);
		break;
	case EX_FDIV:
		r = Z3_mk_fpa_div(c, rne, a, b);
		break;
	case EX_FCMP:
		return bit(z, fp_compare(z, a, b, x->imm));
	case EX_FCAST:
		r = Z3_mk_fpa_to_fp_float(c, rne, a, fp_sort(z, x->w));
		break;
	case EX_FTOS:
		return Z3_mk_fpa_to_sbv(c, rtz, a, x->w);
	case EX_FTOU:
		return Z3_mk_fpa_to_ubv(c, rtz, a, x->w);
	default:
		BUG("floating-point operation %d", x->op);
	}
	return Z3_mk_fpa_to_ieee_bv(c, r);
}

static Z3_ast node_term(struct z3_link *z, const struct expr *x)
{
	Z3_context c = z->ctx;
	Z3_ast a = x->a ? z->terms[x->a] : NULL, b = x->b ? z->terms[x->b] : NULL;
	unsigned wa = expr_get(z->e, x->a)->w;

	switch (x->op) {
	case EX_CONST:
		return number(z, x->w, x->imm);
	case EX_SYMBOL:
		return Z3_mk_const(c, Z3_mk_int_symbol(c, (int)x->imm), bv(z, x->w));
	case EX_ADD:
		return Z3_mk_bvadd(c, a, b);
	case EX_SUB:
		return Z3_mk_bvsub(c, a, b);
	case EX_MUL:
		return Z3_mk_bvmul(c, a, b);
	case EX_UDIV:
		return Z3_mk_bvudiv(c, a, b);
	case EX_SDIV:
		return Z3_mk_bvsdiv(c, a, b);
	case EX_UREM:
		return Z3_mk_bvurem(c, a, b);
	case EX_SREM:
		return Z3_mk_bvsrem(c, a, b);
	case EX_AND:
		return Z3_mk_bvand(c, a, b);
	case EX_OR:
		return Z3_mk_bvor(c, a, b);
	case EX_XOR:
		return Z3_mk_bvxor(c, a, b);
	case EX_SHL:
		return Z3_mk_bvshl(c, a, b);
	case EX_LSHR:
		return Z3_mk_bvlshr(c, a, b);
	case EX_ASHR:
		return Z3_mk_bvashr(c, a, b);
	case EX_EQ:
		return bit(z, Z3_mk_eq(c, a, b));
	case EX_ULT:
		return bit(z, Z3_mk_bvult(c, a, b));
	case EX_ULE:
		return bit(z, Z3_mk_bvule(c, a, b));
	case EX_SLT:
		return bit(z, Z3_mk_bvslt(c, a, b));
	case EX_SLE:
		return bit(z, Z3_mk_bvsle(c, a, b));
	case EX_ITE:
		return Z3_mk_ite(c, truth(z, a), b, z->terms[x->c]);
	case EX_ZEXT:
		return Z3_mk_zero_ext(c, x->w - wa, a);
	case EX_SEXT:
		return Z3_mk_sign_ext(c, x->w - wa, a);
	case EX_EXTRACT:
		return Z3_mk_extract(c, (unsigned)x->imm + x->w - 1, (unsigned)x->imm, a);
	case EX_CONCAT:
		return Z3_mk_concat(c, a, b);
	case EX_READ:
		return read_term(z, x);
	default:
		return fp_term(z, x);
	}
}

static void grow(struct z3_link *z)
{
	uint32_t n = (uint32_t)z->e->nodes.len * 2;

	if (z->nterms >= z->e->nodes.len)
		return;
	z->terms = xreallocarray(z->terms, n, sizeof(Z3_ast));
	z->bools = xreallocarray(z->bools, n, sizeof(Z3_ast));
	memset(z->terms + z->nterms, 0, (n - z->nterms) * sizeof(Z3_ast));
	memset(z->bools + z->nterms, 0, (n - z->nterms) * sizeof(Z3_ast));
	z->fp = xreallocarray(z->fp, n, 1);
	memset(z->fp + z->nterms, 0, n - z->nterms);
	z->nterms = n;
}

static bool snapshot_has_fp(struct z3_link *z, const struct snapshot *s)
{
	for (uint32_t i = 0; s->sym && i < s->size; i++)
		if (z->fp[s->sym[i]])
			return true;
	return false;
}

static Z3_ast term_of(struct z3_link *z, expr_id id)
{
	VEC(expr_id) stack = { 0 };

	vec_push(&stack, id);
	while (stack.len) {
		expr_id cur = *vec_last(&stack), kids[3], missing;
		const struct expr *x = expr_get(z->e, cur);
		size_t before = stack.len;

		if (z->terms[cur]) {
			stack.len--;
			continue;
		}
		kids[0] = x->a;
		kids[1] = x->b;
		kids[2] = x->c;
		for (int k = 0; k < 3; k++)
			if (kids[k] && !z->terms[kids[k]])
				vec_push(&stack, kids[k]);
		if (x->op == EX_READ && push_missing(z, &z->e->snapshots.data[x->imm], &missing))
			vec_push(&stack, missing);
		if (stack.len != before)
			continue;
		z->fp[cur] = x->op >= EX_FADD || z->fp[x->a] || z->fp[x->b] || z->fp[x->c];
		if (x->op == EX_READ)
			z->fp[cur] |= snapshot_has_fp(z, &z->e->snapshots.data[x->imm]);
		z->terms[cur] = keep(z, node_term(z, x));
		stack.len--;
	}
	vec_deinit(&stack);
	return z->terms[id];
}

static void log_query(struct z3_link *z, Z3_lbool r)
{
	if (!z->log)
		return;
	fprintf(z->log, "; query %llu: %s\n(push)\n%s(check-sat)\n(pop)\n",
		(unsigned long long)++z->logged,
		r == Z3_L_TRUE	  ? "sat"
		: r == Z3_L_FALSE ? "unsat"
				  : "unknown",
		Z3_solver_to_string(z->ctx, z->solver));
}

static void read_model(struct z3_link *z, const expr_id *conds, uint32_t n, uint64_t *values,
		       uint32_t count)
{
	Z3_model model = Z3_solver_get_model(z->ctx, z->solver);

	Z3_model_inc_ref(z->ctx, model);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *set = expr_symbols(z->e, conds[i]);

		for (uint32_t k = 1; k <= set[0]; k++) {
			expr_id sym = z->e->symbol_exprs.data[set[k]];
			Z3_ast value;

			if (set[k] < count && z->terms[sym] &&
			    Z3_model_eval(z->ctx, model, z->terms[sym], true, &value))
				Z3_get_numeral_uint64(z->ctx, value, &values[set[k]]);
		}
	}
	Z3_model_dec_ref(z->ctx, model);
}

static uint32_t read_core(struct z3_link *z, const expr_id *conds, uint32_t n, expr_id *core)
{
	Z3_ast_vector v = Z3_solver_get_unsat_core(z->ctx, z->solver);
	uint32_t len = 0;

	Z3_ast_vector_inc_ref(z->ctx, v);
	for (unsigned i = 0; i < Z3_ast_vector_size(z->ctx, v); i++)
		for (uint32_t k = 0; k < n; k++)
			if (z->bools[conds[k]] == Z3_ast_vector_get(z->ctx, v, i) && len < n) {
				core[len++] = conds[k];
				break;
			}
	if (len != Z3_ast_vector_size(z->ctx, v))
		len = 0; /* not understood: no core rather than a wrong one */
	Z3_ast_vector_dec_ref(z->ctx, v);
	return len;
}

/* Each constraint is guarded by a literal of its own (the assumption that a core consists of). */
enum answer z3_link_check(struct z3_link *z, const expr_id *conds, uint32_t n, uint64_t *values,
			  uint32_t count, expr_id *core, uint32_t *ncore)
{
	Z3_ast *assumptions = xmalloc((n + 1) * sizeof(*assumptions));
	enum answer answer;
	Z3_lbool r;

	grow(z);
	z->solver = z->bits;
	for (uint32_t i = 0; i < n; i++) {
		term_of(z, conds[i]);
		if (z->fp[conds[i]])
			z->solver = z->any;
	}
	Z3_solver_push(z->ctx, z->solver);
	for (uint32_t i = 0; i < n; i++) {
		if (!z->bools[conds[i]])
			z->bools[conds[i]] =
				keep(z, Z3_mk_fresh_const(z->ctx, "c", Z3_mk_bool_sort(z->ctx)));
		Z3_solver_assert(
			z->ctx, z->solver,
			Z3_mk_implies(z->ctx, z->bools[conds[i]], truth(z, term_of(z, conds[i]))));
		assumptions[i] = z->bools[conds[i]];
	}
	r = Z3_solver_check_assumptions(z->ctx, z->solver, n, assumptions);
	if (r == Z3_L_UNDEF && strstr(Z3_solver_get_reason_unknown(z->ctx, z->solver), "keyboard"))
		raise(SIGINT); /* Ctrl-C ended the query; the code that waits for it must hear of it */
	log_query(z, r);
	*ncore = 0;
	answer = r == Z3_L_TRUE ? ANSWER_YES : r == Z3_L_FALSE ? ANSWER_NO : ANSWER_UNKNOWN;
	if (answer == ANSWER_YES)
		read_model(z, conds, n, values, count);
	else if (answer == ANSWER_NO)
		*ncore = read_core(z, conds, n, core);
	Z3_solver_pop(z->ctx, z->solver, 1);
	free(assumptions);
	return answer;
}
