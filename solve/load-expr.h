/* solve/load-expr.h - expressions of the symbolic machine as terms of the order engine. */
#ifndef SOLVE_LOAD_EXPR_H
#define SOLVE_LOAD_EXPR_H

#include "order/model/term.h"

#include <stdint.h>

struct exprs;

struct expr_terms {
	struct terms *ts;	  /* borrowed */
	struct exprs *exprs;	  /* borrowed */
	VEC(term_id) term_of;	  /* by expression; TERM_NONE = not yet, or not expressible */
	VEC(uint8_t) state;	  /* by expression: 0 not yet, 1 term, 2 not expressible */
	VEC(term_id) symbol_term; /* by symbol of the machine; TERM_NONE = unknown */
};

void expr_terms_deinit(struct expr_terms *x);
/* What a symbol of the machine stands for. */
void expr_terms_bind(struct expr_terms *x, uint32_t symbol, term_id term);
/* TERM_NONE when the expression has operations that terms do not have (floating point, reads at
 * an unknown place of a large object), or symbols that nobody bound. */
term_id expr_term(struct expr_terms *x, uint32_t expr);

#endif
