/* order/model/eval.h - values of terms while a run unfolds, with undo.
 *
 * Symbols become known one after another (reads happen); a term's value is computed when first
 * asked for and remembered. A mark taken earlier brings back the state of that moment: everything
 * learned since is forgotten, in time proportional to what was learned. */
#ifndef ORDER_MODEL_EVAL_H
#define ORDER_MODEL_EVAL_H

#include "order/model/term.h"

struct eval {
	const struct terms *terms; /* borrowed */
	uint64_t *value;	   /* by term */
	uint8_t *known;		   /* by term */
	uint64_t *symbol;	   /* by symbol */
	uint8_t *symbol_known;
	VEC(uint64_t) trail; /* terms, and symbols with bit 32 set */
	VEC(term_id) stack;
};

void eval_init(struct eval *ev, const struct terms *terms, size_t symbols);
void eval_deinit(struct eval *ev);

void eval_set(struct eval *ev, uint32_t symbol, uint64_t value);
/* False when a symbol below the term is not known yet. */
bool eval_get(struct eval *ev, term_id id, uint64_t *ret);

static inline size_t eval_mark(const struct eval *ev)
{
	return ev->trail.len;
}
void eval_undo(struct eval *ev, size_t mark);

#endif
