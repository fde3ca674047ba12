/* explain/find/pairs.h - which orders of the failing run could be turned round. */
#ifndef EXPLAIN_FIND_PAIRS_H
#define EXPLAIN_FIND_PAIRS_H

#include "explain/find/steps.h"

#include "base/vec.h"

/* In the failing run `first` (of one thread) comes before `second` (of another); running second
 * before first is worth a try. */
struct step_pair {
	uint32_t first, second;
	uint32_t about; /* the conflicting step that led here (= second, or inside its section) */
};

struct step_pairs VEC_FIELDS(struct step_pair);

/* Nearest to the end first, each once. */
void pairs_find(const struct steps *failing, struct step_pairs *ret);

#endif
