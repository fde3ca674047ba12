/* order/model/term.h - expressions over what reads returned: a hash-consed DAG of bit-vector terms.
 *
 * A term is a 32-bit id into its `struct terms`; the same expression has the same id, and an
 * operand has a smaller id than whatever uses it. Widths are 1..64 bits, comparisons are 1 bit
 * wide, values travel as uint64_t with the unused high bits zero. Symbols are numbered by the code that
 * creates them: the order model gives one to each read and to each free input. */
#ifndef ORDER_MODEL_TERM_H
#define ORDER_MODEL_TERM_H

#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t term_id;
#define TERM_NONE UINT32_MAX

enum term_op {
#define TERM_OP(id, name, arity) TERM_##id,
#include "order/model/term-ops.def"
#undef TERM_OP
	TERM_NOPS
};

struct term {
	uint8_t op, width;
	term_id a, b, c;
	uint64_t value; /* constant; symbol number; low bit of an extract */
};

struct terms {
	struct term *data;
	size_t len, cap;
	struct map index; /* hash -> newest term with it, chained through next */
	uint32_t *next;
	size_t next_cap;
};

void terms_deinit(struct terms *ts);
/* to (empty) becomes a copy with the same ids. */
void terms_copy(struct terms *to, const struct terms *from);

term_id term_const(struct terms *ts, unsigned width, uint64_t value);
term_id term_symbol(struct terms *ts, unsigned width, uint32_t symbol);
/* Operations fold constants and a few identities. Operands of one operation share a width; the
 * logical operations of conditions are the bitwise ones at width 1. */
term_id term_unary(struct terms *ts, enum term_op op, term_id a);
term_id term_binary(struct terms *ts, enum term_op op, term_id a, term_id b);
term_id term_ite(struct terms *ts, term_id cond, term_id then, term_id otherwise);
/* Zero extension, sign extension, truncation to `width` bits from bit `low`. */
term_id term_zext(struct terms *ts, term_id a, unsigned width);
term_id term_sext(struct terms *ts, term_id a, unsigned width);
term_id term_extract(struct terms *ts, term_id a, unsigned low, unsigned width);
/* Any operation from its parts, constants folded. */
term_id term_build(struct terms *ts, struct term t);
/* A condition (width 1) and its opposite. */
term_id term_not(struct terms *ts, term_id a);

static inline const struct term *term_get(const struct terms *ts, term_id id)
{
	assert(id < ts->len);
	return &ts->data[id];
}

unsigned term_arity(const struct term *t);
uint64_t term_mask(unsigned width);
int64_t term_signed(uint64_t value, unsigned width);

/* One operation on operand values. */
uint64_t term_apply(const struct term *t, unsigned operand_width, uint64_t a, uint64_t b,
		    uint64_t c);

/* The value of a term when symbol s has value values[s]. Linear in the DAG below it, slow and
 * simple: the reference for the checker. */
uint64_t term_eval(const struct terms *ts, term_id id, const uint64_t *values);

/* Call fn once for each symbol below a term. */
void term_each_symbol(const struct terms *ts, term_id id, void (*fn)(void *ctx, uint32_t symbol),
		      void *ctx);

/* Is the term a constant, or one symbol plus a constant (mod 2^width)? */
struct term_linear {
	bool ok;
	bool has_symbol;
	uint32_t symbol;
	uint64_t offset;
};
struct term_linear term_linear(const struct terms *ts, term_id id);

/* "(r3 + 1) == 5", for messages. */
struct strbuf;
void term_print(const struct terms *ts, term_id id, struct strbuf *out);

#endif
