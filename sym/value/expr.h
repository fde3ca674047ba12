/* sym/value/expr.h - bit-vector expressions of 1 to 64 bits, each existing once.
 *
 * An expression is a 32-bit id; equal expressions have equal ids, so comparing is comparing
 * numbers. Id 0 is "no expression": the value is concrete and stands elsewhere. The store only
 * grows and is dropped as a whole. Construction folds constants and normalises; an operation on
 * concrete values never comes here at all. */
#ifndef SYM_VALUE_EXPR_H
#define SYM_VALUE_EXPR_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t expr_id;

enum expr_op {
	EX_NONE,
	EX_CONST,  /* imm */
	EX_SYMBOL, /* imm = symbol number */
	EX_ADD,
	EX_SUB,
	EX_MUL,
	EX_UDIV,
	EX_SDIV,
	EX_UREM,
	EX_SREM,
	EX_AND,
	EX_OR,
	EX_XOR,
	EX_SHL,
	EX_LSHR,
	EX_ASHR,
	EX_EQ,
	EX_ULT,
	EX_ULE,
	EX_SLT,
	EX_SLE, /* width 1 */
	EX_ITE, /* a ? b : c */
	EX_ZEXT,
	EX_SEXT,
	EX_EXTRACT, /* `w` bits of a from bit imm */
	EX_CONCAT,  /* a above b */
	EX_READ,    /* byte of array imm at index a (64 bits) */
	/* IEEE floating point on the bits; w of the operands is 32 or 64 */
	EX_FADD,
	EX_FSUB,
	EX_FMUL,
	EX_FDIV,
	EX_FCMP,  /* imm = LLVM's predicate, width 1 */
	EX_FCAST, /* float <-> double */
	EX_FTOS,
	EX_FTOU,
	EX_STOF,
	EX_UTOF,
};

struct expr {
	uint8_t op, w;
	uint16_t depth; /* saturating; for choosing cheap models first */
	expr_id a, b, c;
	uint64_t imm;
};

/* A free variable. */
struct symbol {
	const char *name; /* "arg1[0]", "stdin[3]"; owned by the store */
	uint8_t w;
};

/* The bytes of an object at the moment somebody read it at a symbolic offset. */
struct snapshot {
	uint32_t size;
	uint64_t hash;
	uint8_t *bytes;
	expr_id *sym; /* NULL, or per byte: 0 = the concrete byte */
};

struct exprs {
	VEC(struct expr) nodes;
	uint32_t *slots;
	uint32_t nslots;
	VEC(struct symbol) symbols;
	VEC(expr_id) symbol_exprs;
	VEC(struct snapshot) snapshots;
	/* evaluation memo: value and the round in which it was computed */
	uint64_t *memo;
	uint32_t *memo_round;
	uint32_t memo_cap, round;
	/* symbol sets: per expression an index into sets, 0 = not computed */
	VEC(uint32_t) set_of;
	VEC(uint32_t *) sets; /* [0] = count, then ascending symbol numbers */
};

void exprs_init(struct exprs *e);
void exprs_deinit(struct exprs *e);

static inline const struct expr *expr_get(const struct exprs *e, expr_id id)
{
	return &e->nodes.data[id];
}
static inline bool expr_is_const(const struct exprs *e, expr_id id)
{
	return e->nodes.data[id].op == EX_CONST;
}
static inline uint64_t mask_of(unsigned w)
{
	return w >= 64 ? ~0ull : (1ull << w) - 1;
}
static inline int64_t sext_of(uint64_t v, unsigned w)
{
	return w >= 64 ? (int64_t)v : (int64_t)(v << (64 - w)) >> (64 - w);
}

expr_id expr_const(struct exprs *e, unsigned w, uint64_t value);
/* A fresh symbol; the name is copied. Its expression; *number is its symbol number. */
expr_id expr_symbol(struct exprs *e, unsigned w, const char *name, uint32_t *number);
/* Arithmetic, bit and comparison operations on two operands of equal width. */
expr_id expr_binary(struct exprs *e, enum expr_op op, expr_id a, expr_id b);
expr_id expr_not(struct exprs *e, expr_id a); /* of one bit */
expr_id expr_ite(struct exprs *e, expr_id c, expr_id a, expr_id b);
expr_id expr_zext(struct exprs *e, expr_id a, unsigned w);
expr_id expr_sext(struct exprs *e, expr_id a, unsigned w);
expr_id expr_extract(struct exprs *e, expr_id a, unsigned low, unsigned w);
expr_id expr_concat(struct exprs *e, expr_id high, expr_id low);
/* Copy of an object's bytes; equal contents share a number. sym may be NULL. */
uint32_t expr_snapshot(struct exprs *e, const uint8_t *bytes, const expr_id *sym, uint32_t size);
expr_id expr_read(struct exprs *e, uint32_t snapshot, expr_id index);
expr_id expr_fp(struct exprs *e, enum expr_op op, unsigned w, expr_id a, expr_id b, uint64_t imm);

/* The value under an assignment of the symbols: values[n] for symbol n, 0 beyond count.
 * expr_eval_begin starts a new assignment, expr_eval_again goes on with the last one after expressions were made. */
void expr_eval_begin(struct exprs *e);
void expr_eval_again(struct exprs *e);
uint64_t expr_eval(struct exprs *e, expr_id id, const uint64_t *values, uint32_t count);
/* The symbols an expression depends on: [0] = count, then their numbers, ascending. */
const uint32_t *expr_symbols(struct exprs *e, expr_id id);
/* One operation on concrete values, as the machine defines it. */
uint64_t expr_fold(enum expr_op op, unsigned w, uint64_t a, uint64_t b);
uint64_t expr_fold_fp(enum expr_op op, unsigned w, unsigned wa, uint64_t a, uint64_t b,
		      uint64_t imm);

struct strbuf;
void expr_print(struct exprs *e, expr_id id, struct strbuf *out);

#endif
