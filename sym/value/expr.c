/* sym/value/expr.c - the expression store: hash-consing, folding, canonical forms.
 *
 * Canonical forms: a constant operand of a commutative operation stands right; otherwise the
 * smaller id stands left; x - c is x + (-c); "not" of a bit is x == 0; comparisons of zero-extended
 * values are narrowed; extracts are pushed through extensions and concatenations. The point is that
 * a branch condition met twice is one id, which the solver's caches then recognise for free. */
#include "sym/value/expr.h"

#include "base/map.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

void exprs_init(struct exprs *e)
{
	*e = (struct exprs){ .nslots = 1 << 12 };
	e->slots = xcalloc(e->nslots, sizeof(*e->slots));
	vec_push(&e->nodes, ((struct expr){ 0 }));
	vec_push(&e->sets, NULL);
}

void exprs_deinit(struct exprs *e)
{
	for (size_t i = 0; i < e->symbols.len; i++)
		free((char *)e->symbols.data[i].name);
	for (size_t i = 0; i < e->snapshots.len; i++) {
		free(e->snapshots.data[i].bytes);
		free(e->snapshots.data[i].sym);
	}
	for (size_t i = 0; i < e->sets.len; i++)
		free(e->sets.data[i]);
	vec_deinit(&e->nodes);
	vec_deinit(&e->symbols);
	vec_deinit(&e->symbol_exprs);
	vec_deinit(&e->snapshots);
	vec_deinit(&e->set_of);
	vec_deinit(&e->sets);
	free(e->slots);
	free(e->memo);
	free(e->memo_round);
}

static uint64_t hash_expr(const struct expr *x)
{
	return hash_u64(x->op | (uint64_t)x->w << 8 | (uint64_t)x->a << 32) ^
	       hash_u64((x->b | (uint64_t)x->c << 32) + 0x9e3779b97f4a7c15ull) ^
	       hash_u64(x->imm * 3 + 1);
}

static void grow(struct exprs *e)
{
	e->nslots *= 2;
	free(e->slots);
	e->slots = xcalloc(e->nslots, sizeof(*e->slots));
	for (uint32_t i = 1; i < e->nodes.len; i++) {
		uint64_t h = hash_expr(&e->nodes.data[i]);

		while (e->slots[h & (e->nslots - 1)])
			h++;
		e->slots[h & (e->nslots - 1)] = i;
	}
}

static expr_id intern(struct exprs *e, struct expr x)
{
	uint64_t h = hash_expr(&x);
	unsigned depth = 0;

	for (;; h++) {
		uint32_t id = e->slots[h & (e->nslots - 1)];
		const struct expr *y = &e->nodes.data[id];

		if (!id)
			break;
		if (y->op == x.op && y->w == x.w && y->a == x.a && y->b == x.b && y->c == x.c &&
		    y->imm == x.imm)
			return id;
	}
	depth = MAX(e->nodes.data[x.a].depth, e->nodes.data[x.b].depth);
	depth = MAX(depth, e->nodes.data[x.c].depth) + 1u;
	x.depth = (uint16_t)MIN(depth, 65535u);
	e->slots[h & (e->nslots - 1)] = (uint32_t)e->nodes.len;
	vec_push(&e->nodes, x);
	if (e->nodes.len * 2 > e->nslots)
		grow(e);
	return (expr_id)e->nodes.len - 1;
}

expr_id expr_const(struct exprs *e, unsigned w, uint64_t value)
{
	return intern(e,
		      (struct expr){ .op = EX_CONST, .w = (uint8_t)w, .imm = value & mask_of(w) });
}

expr_id expr_symbol(struct exprs *e, unsigned w, const char *name, uint32_t *number)
{
	uint32_t n = (uint32_t)e->symbols.len;
	expr_id id = intern(e, (struct expr){ .op = EX_SYMBOL, .w = (uint8_t)w, .imm = n });

	vec_push(&e->symbols, ((struct symbol){ .name = xstrdup(name), .w = (uint8_t)w }));
	vec_push(&e->symbol_exprs, id);
	if (number)
		*number = n;
	return id;
}

uint64_t expr_fold(enum expr_op op, unsigned w, uint64_t a, uint64_t b)
{
	uint64_t m = mask_of(w);
	int64_t sa = sext_of(a, w), sb = sext_of(b, w);

	switch (op) {
	case EX_ADD:
		return (a + b) & m;
	case EX_SUB:
		return (a - b) & m;
	case EX_MUL:
		return (a * b) & m;
	case EX_UDIV:
		return b ? a / b : m;
	case EX_UREM:
		return b ? a % b : a;
	case EX_SDIV:
		if (!b)
			return sa < 0 ? 1 : m;
		return sb == -1 ? (0 - a) & m : (uint64_t)(sa / sb) & m;
	case EX_SREM:
		if (!b)
			return a;
		return sb == -1 ? 0 : (uint64_t)(sa % sb) & m;
	case EX_AND:
		return a & b;
	case EX_OR:
		return a | b;
	case EX_XOR:
		return a ^ b;
	case EX_SHL:
		return b >= w ? 0 : (a << b) & m;
	case EX_LSHR:
		return b >= w ? 0 : a >> b;
	case EX_ASHR:
		return (uint64_t)(sa >> (b >= w ? w - 1 : b)) & m;
	case EX_EQ:
		return a == b;
	case EX_ULT:
		return a < b;
	case EX_ULE:
		return a <= b;
	case EX_SLT:
		return sa < sb;
	case EX_SLE:
		return sa <= sb;
	default:
		BUG("fold of operation %d", (int)op);
	}
}

static bool is_compare(enum expr_op op)
{
	return op >= EX_EQ && op <= EX_SLE;
}

static bool is_commutative(enum expr_op op)
{
	return op == EX_ADD || op == EX_MUL || op == EX_AND || op == EX_OR || op == EX_XOR ||
	       op == EX_EQ;
}

/* a == c, said about what a is made of; 0: nothing simpler. */
static expr_id equals_const(struct exprs *e, expr_id a, uint64_t c, unsigned w)
{
	const struct expr x = *expr_get(e, a);
	uint64_t m = mask_of(w);

	if (w == 1 && c == 1)
		return a;
	if (w == 1 && x.op == EX_EQ && x.w == 1 && expr_get(e, x.a)->w == 1 &&
	    expr_is_const(e, x.b) && !expr_get(e, x.b)->imm)
		return x.a; /* not not */
	if (x.op == EX_ZEXT) {
		unsigned n = expr_get(e, x.a)->w;

		if (c > mask_of(n))
			return expr_const(e, 1, 0);
		return expr_binary(e, EX_EQ, x.a, expr_const(e, n, c));
	}
	if (x.op == EX_SEXT) {
		unsigned n = expr_get(e, x.a)->w;

		if (((uint64_t)sext_of(c & mask_of(n), n) & m) != c)
			return expr_const(e, 1, 0);
		return expr_binary(e, EX_EQ, x.a, expr_const(e, n, c));
	}
	if (x.op == EX_ADD && expr_is_const(e, x.b))
		return expr_binary(e, EX_EQ, x.a, expr_const(e, w, c - expr_get(e, x.b)->imm));
	if (x.op == EX_CONCAT && expr_is_const(e, x.b)) {
		unsigned n = expr_get(e, x.b)->w;

		if ((c & mask_of(n)) != expr_get(e, x.b)->imm)
			return expr_const(e, 1, 0);
		return expr_binary(e, EX_EQ, x.a, expr_const(e, w - n, c >> n));
	}
	if (x.op == EX_ITE && expr_is_const(e, x.b) && expr_is_const(e, x.c)) {
		bool yes = expr_get(e, x.b)->imm == c, no = expr_get(e, x.c)->imm == c;

		return yes == no ? expr_const(e, 1, yes) : yes ? x.a : expr_not(e, x.a);
	}
	return 0;
}

/* x op c where c is a constant: the cheap identities. 0 = none applies. */
static expr_id with_const(struct exprs *e, enum expr_op op, expr_id a, uint64_t c, unsigned w)
{
	const struct expr x = *expr_get(e, a);
	uint64_t m = mask_of(w);

	switch (op) {
	case EX_ADD:
		if (!c)
			return a;
		if (x.op == EX_ADD && expr_is_const(e, x.b))
			return expr_binary(e, EX_ADD, x.a,
					   expr_const(e, w, expr_get(e, x.b)->imm + c));
		return 0;
	case EX_XOR:
	case EX_OR:
		if (!c)
			return a;
		if (op == EX_OR && c == m)
			return expr_const(e, w, m);
		if (op == EX_XOR && w == 1)
			return expr_not(e, a);
		return 0;
	case EX_SHL:
	case EX_LSHR:
	case EX_ASHR:
		if (!c)
			return a;
		if (c >= w && op != EX_ASHR)
			return expr_const(e, w, 0);
		if (op == EX_LSHR)
			return expr_zext(e, expr_extract(e, a, (unsigned)c, w - (unsigned)c), w);
		if (op == EX_SHL)
			return expr_concat(e, expr_extract(e, a, 0, w - (unsigned)c),
					   expr_const(e, (unsigned)c, 0));
		return 0;
	case EX_AND:
		if (!c)
			return expr_const(e, w, 0);
		if (c == m)
			return a;
		if ((c & (c + 1)) == 0) /* a low mask is an extract */
			return expr_zext(
				e, expr_extract(e, a, 0, (unsigned)__builtin_popcountll(c)), w);
		return 0;
	case EX_MUL:
		if (!c)
			return expr_const(e, w, 0);
		if (c == 1)
			return a;
		if ((c & (c - 1)) == 0)
			return expr_binary(e, EX_SHL, a,
					   expr_const(e, w, (uint64_t)__builtin_ctzll(c)));
		return 0;
	case EX_UDIV:
		if (c && (c & (c - 1)) == 0)
			return expr_binary(e, EX_LSHR, a,
					   expr_const(e, w, (uint64_t)__builtin_ctzll(c)));
		return 0;
	case EX_SDIV:
		return c == 1 ? a : 0;
	case EX_UREM:
		if (c && (c & (c - 1)) == 0)
			return expr_binary(e, EX_AND, a, expr_const(e, w, c - 1));
		return 0;
	case EX_EQ:
		return equals_const(e, a, c, w);
	case EX_ULT: /* x < c */
		if (!c)
			return expr_const(e, 1, 0);
		if (c == 1)
			return expr_binary(e, EX_EQ, a, expr_const(e, w, 0));
		if (x.op == EX_ZEXT) {
			unsigned n = expr_get(e, x.a)->w;

			return c > mask_of(n) ? expr_const(e, 1, 1)
					      : expr_binary(e, EX_ULT, x.a, expr_const(e, n, c));
		}
		return 0;
	case EX_ULE:
		if (c == m)
			return expr_const(e, 1, 1);
		return expr_binary(e, EX_ULT, a, expr_const(e, w, c + 1));
	default:
		return 0;
	}
}

/* c op x */
static expr_id const_with(struct exprs *e, enum expr_op op, uint64_t c, expr_id b, unsigned w)
{
	const struct expr x = *expr_get(e, b);
	unsigned n;

	if (op == EX_ULT || op == EX_ULE) {
		if (op == EX_ULT && c == mask_of(w))
			return expr_const(e, 1, 0);
		if (op == EX_ULE && c == 0)
			return expr_const(e, 1, 1);
		if (x.op == EX_ZEXT) {
			n = expr_get(e, x.a)->w;
			if (c > mask_of(n))
				return expr_const(e, 1, 0);
			return expr_binary(e, op, expr_const(e, n, c), x.a);
		}
	}
	if ((op == EX_SHL || op == EX_LSHR || op == EX_UDIV) && !c && op != EX_UDIV)
		return expr_const(e, w, 0);
	return 0;
}

/* Both operands zero-extended from the same width: compare there. */
static expr_id narrowed(struct exprs *e, enum expr_op op, expr_id a, expr_id b)
{
	const struct expr x = *expr_get(e, a), y = *expr_get(e, b);

	if (x.op == EX_ZEXT && y.op == EX_ZEXT && expr_get(e, x.a)->w == expr_get(e, y.a)->w) {
		if (op == EX_EQ || op == EX_ULT || op == EX_ULE)
			return expr_binary(e, op, x.a, y.a);
		if (op == EX_SLT || op == EX_SLE) /* both non-negative */
			return expr_binary(e, op == EX_SLT ? EX_ULT : EX_ULE, x.a, y.a);
	}
	if (x.op == EX_SEXT && y.op == EX_SEXT && expr_get(e, x.a)->w == expr_get(e, y.a)->w &&
	    (op == EX_EQ || op == EX_SLT || op == EX_SLE))
		return expr_binary(e, op, x.a, y.a);
	/* a signed comparison of a zero-extended value with a constant */
	if ((op == EX_SLT || op == EX_SLE) && x.op == EX_ZEXT && y.op == EX_CONST) {
		if (sext_of(y.imm, y.w) < 0)
			return expr_const(e, 1, 0);
		return expr_binary(e, op == EX_SLT ? EX_ULT : EX_ULE, a, b);
	}
	if ((op == EX_SLT || op == EX_SLE) && y.op == EX_ZEXT && x.op == EX_CONST) {
		if (sext_of(x.imm, x.w) < 0)
			return expr_const(e, 1, 1);
		return expr_binary(e, op == EX_SLT ? EX_ULT : EX_ULE, a, b);
	}
	return 0;
}

expr_id expr_binary(struct exprs *e, enum expr_op op, expr_id a, expr_id b)
{
	unsigned w = expr_get(e, a)->w;
	expr_id r;

	assert(expr_get(e, b)->w == w);
	if (expr_is_const(e, a) && expr_is_const(e, b))
		return expr_const(e, is_compare(op) ? 1 : w,
				  expr_fold(op, w, expr_get(e, a)->imm, expr_get(e, b)->imm));
	if (is_commutative(op) && (expr_is_const(e, a) || (a > b && !expr_is_const(e, b)))) {
		r = a;
		a = b;
		b = r;
	}
	if (op == EX_SUB && expr_is_const(e, b))
		return expr_binary(e, EX_ADD, a, expr_const(e, w, 0 - expr_get(e, b)->imm));
	if (a == b) {
		switch (op) {
		case EX_SUB:
		case EX_XOR:
			return expr_const(e, w, 0);
		case EX_AND:
		case EX_OR:
			return a;
		case EX_EQ:
		case EX_ULE:
		case EX_SLE:
			return expr_const(e, 1, 1);
		case EX_ULT:
		case EX_SLT:
			return expr_const(e, 1, 0);
		default:
			break;
		}
	}
	if (expr_is_const(e, b)) {
		r = with_const(e, op, a, expr_get(e, b)->imm, w);
		if (r)
			return r;
	}
	if (expr_is_const(e, a)) {
		r = const_with(e, op, expr_get(e, a)->imm, b, w);
		if (r)
			return r;
	}
	if (is_compare(op)) {
		r = narrowed(e, op, a, b);
		if (r)
			return r;
	}
	return intern(e, (struct expr){ .op = (uint8_t)op,
					.w = is_compare(op) ? 1 : (uint8_t)w,
					.a = a,
					.b = b });
}

expr_id expr_not(struct exprs *e, expr_id a)
{
	const struct expr x = *expr_get(e, a);

	assert(x.w == 1);
	if (x.op == EX_ULT) /* not (a < b) is b <= a */
		return expr_binary(e, EX_ULE, x.b, x.a);
	if (x.op == EX_ULE)
		return expr_binary(e, EX_ULT, x.b, x.a);
	if (x.op == EX_SLT)
		return expr_binary(e, EX_SLE, x.b, x.a);
	if (x.op == EX_SLE)
		return expr_binary(e, EX_SLT, x.b, x.a);
	return expr_binary(e, EX_EQ, a, expr_const(e, 1, 0));
}

expr_id expr_ite(struct exprs *e, expr_id c, expr_id a, expr_id b)
{
	assert(expr_get(e, c)->w == 1 && expr_get(e, a)->w == expr_get(e, b)->w);
	if (expr_is_const(e, c))
		return expr_get(e, c)->imm ? a : b;
	if (a == b)
		return a;
	if (expr_get(e, a)->w == 1 && expr_is_const(e, a) && expr_is_const(e, b))
		return expr_get(e, a)->imm ? c : expr_not(e, c);
	return intern(
		e, (struct expr){ .op = EX_ITE, .w = expr_get(e, a)->w, .a = c, .b = a, .c = b });
}

expr_id expr_zext(struct exprs *e, expr_id a, unsigned w)
{
	const struct expr x = *expr_get(e, a);

	assert(w >= x.w);
	if (w == x.w)
		return a;
	if (x.op == EX_CONST)
		return expr_const(e, w, x.imm);
	if (x.op == EX_ZEXT)
		return expr_zext(e, x.a, w);
	return intern(e, (struct expr){ .op = EX_ZEXT, .w = (uint8_t)w, .a = a });
}

expr_id expr_sext(struct exprs *e, expr_id a, unsigned w)
{
	const struct expr x = *expr_get(e, a);

	assert(w >= x.w);
	if (w == x.w)
		return a;
	if (x.op == EX_CONST)
		return expr_const(e, w, (uint64_t)sext_of(x.imm, x.w));
	if (x.op == EX_ZEXT)
		return expr_zext(e, x.a, w);
	if (x.op == EX_SEXT)
		return expr_sext(e, x.a, w);
	return intern(e, (struct expr){ .op = EX_SEXT, .w = (uint8_t)w, .a = a });
}

expr_id expr_extract(struct exprs *e, expr_id a, unsigned low, unsigned w)
{
	const struct expr x = *expr_get(e, a);
	unsigned n;

	assert(w && low + w <= x.w);
	if (w == x.w)
		return a;
	switch (x.op) {
	case EX_CONST:
		return expr_const(e, w, x.imm >> low);
	case EX_EXTRACT:
		return expr_extract(e, x.a, low + (unsigned)x.imm, w);
	case EX_ZEXT:
	case EX_SEXT:
		n = expr_get(e, x.a)->w;
		if (low + w <= n)
			return expr_extract(e, x.a, low, w);
		if (low >= n && x.op == EX_ZEXT)
			return expr_const(e, w, 0);
		if (low == 0 && w > n)
			return x.op == EX_ZEXT ? expr_zext(e, x.a, w) : expr_sext(e, x.a, w);
		break;
	case EX_CONCAT:
		n = expr_get(e, x.b)->w;
		if (low + w <= n)
			return expr_extract(e, x.b, low, w);
		if (low >= n)
			return expr_extract(e, x.a, low - n, w);
		return expr_concat(e, expr_extract(e, x.a, 0, low + w - n),
				   expr_extract(e, x.b, low, n - low));
	case EX_AND:
	case EX_OR:
	case EX_XOR:
		return expr_binary(e, x.op, expr_extract(e, x.a, low, w),
				   expr_extract(e, x.b, low, w));
	case EX_ADD:
	case EX_SUB:
	case EX_MUL:
		if (low == 0) /* the low bits depend on low bits only */
			return expr_binary(e, x.op, expr_extract(e, x.a, 0, w),
					   expr_extract(e, x.b, 0, w));
		break;
	case EX_ITE:
		if (expr_is_const(e, x.b) || expr_is_const(e, x.c))
			return expr_ite(e, x.a, expr_extract(e, x.b, low, w),
					expr_extract(e, x.c, low, w));
		break;
	default:
		break;
	}
	return intern(e, (struct expr){ .op = EX_EXTRACT, .w = (uint8_t)w, .a = a, .imm = low });
}

expr_id expr_concat(struct exprs *e, expr_id high, expr_id low)
{
	const struct expr x = *expr_get(e, high), y = *expr_get(e, low);

	assert(x.w + y.w <= 64);
	if (x.op == EX_CONST && y.op == EX_CONST)
		return expr_const(e, x.w + y.w, x.imm << y.w | y.imm);
	if (x.op == EX_CONST && !x.imm)
		return expr_zext(e, low, x.w + y.w);
	/* neighbouring pieces of one value grow together again */
	if (x.op == EX_EXTRACT && y.op == EX_EXTRACT && x.a == y.a && x.imm == y.imm + y.w)
		return expr_extract(e, x.a, (unsigned)y.imm, x.w + y.w);
	if (x.op == EX_EXTRACT && x.a == low && x.imm == y.w && x.imm + x.w == expr_get(e, x.a)->w)
		return low;
	if (x.op == EX_ZEXT) /* zeroes stay on top */
		return expr_zext(e, expr_concat(e, x.a, low), x.w + y.w);
	if (x.op == EX_CONCAT) /* lean right, so that pieces meet their neighbours */
		return expr_concat(e, x.a, expr_concat(e, x.b, low));
	if (y.op == EX_CONCAT) {
		const struct expr z = *expr_get(e, y.a);

		if (x.op == EX_EXTRACT && z.op == EX_EXTRACT && x.a == z.a && x.imm == z.imm + z.w)
			return expr_concat(e, expr_extract(e, x.a, (unsigned)z.imm, x.w + z.w),
					   y.b);
	}
	return intern(e, (struct expr){
				 .op = EX_CONCAT, .w = (uint8_t)(x.w + y.w), .a = high, .b = low });
}

uint32_t expr_snapshot(struct exprs *e, const uint8_t *bytes, const expr_id *sym, uint32_t size)
{
	uint64_t h = hash_bytes(bytes, size, 1);
	struct snapshot s = { .size = size };

	if (sym)
		h ^= hash_bytes(sym, size * sizeof(*sym), 2);
	for (size_t i = e->snapshots.len; i-- > 0;) {
		const struct snapshot *t = &e->snapshots.data[i];

		if (t->hash == h && t->size == size && !memcmp(t->bytes, bytes, size) &&
		    !t->sym == !sym && (!sym || !memcmp(t->sym, sym, size * sizeof(*sym))))
			return (uint32_t)i;
	}
	s.hash = h;
	s.bytes = xmemdup(bytes, size);
	s.sym = sym ? xmemdup(sym, size * sizeof(*sym)) : NULL;
	vec_push(&e->snapshots, s);
	return (uint32_t)e->snapshots.len - 1;
}

expr_id expr_read(struct exprs *e, uint32_t snapshot, expr_id index)
{
	const struct snapshot *s = &e->snapshots.data[snapshot];
	uint64_t i;

	if (expr_is_const(e, index)) {
		i = expr_get(e, index)->imm;
		if (i >= s->size)
			return expr_const(e, 8, 0);
		return s->sym && s->sym[i] ? s->sym[i] : expr_const(e, 8, s->bytes[i]);
	}
	return intern(e, (struct expr){ .op = EX_READ, .w = 8, .a = index, .imm = snapshot });
}

expr_id expr_fp(struct exprs *e, enum expr_op op, unsigned w, expr_id a, expr_id b, uint64_t imm)
{
	if (expr_is_const(e, a) && (!b || expr_is_const(e, b)))
		return expr_const(e, w,
				  expr_fold_fp(op, w, expr_get(e, a)->w, expr_get(e, a)->imm,
					       b ? expr_get(e, b)->imm : 0, imm));
	return intern(
		e, (struct expr){ .op = (uint8_t)op, .w = (uint8_t)w, .a = a, .b = b, .imm = imm });
}
