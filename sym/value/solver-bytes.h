/* sym/value/solver-bytes.h - private to sym/: questions about one byte, answered by sets of values. */
#ifndef SYM_VALUE_SOLVER_BYTES_H
#define SYM_VALUE_SOLVER_BYTES_H

#include "base/map.h"
#include "sym/value/solver.h"

struct byte_set {
	uint64_t bits[4];
};

struct byte_sets {
	struct exprs *e;
	expr_id any; /* stands for the byte, whichever it is */
	uint32_t any_symbol;
	struct map renamed; /* condition -> the same about `any` */
	struct map known;   /* condition about `any` -> index into sets */
	VEC(struct byte_set) sets;
};

void byte_sets_init(struct byte_sets *b, struct exprs *e);
void byte_sets_deinit(struct byte_sets *b);
/* Before a question: makes the symbol that stands for all, the first time. */
void byte_sets_begin(struct byte_sets *b);
/* The values of its only symbol, of 8 bits, for which the condition holds. */
struct byte_set byte_sets_set(struct byte_sets *b, expr_id cond);
/* Conditions over one symbol of 8 bits: may they all hold? *value says how. *cached: nothing had to
 * be tried out, every condition was known of some byte. */
enum answer byte_sets_check(struct byte_sets *b, const expr_id *conds, size_t n, uint64_t *value,
			    bool *cached);

#endif
