/* sym/value/solver-local.h - private to sym/: answers without Z3, by trying values out. */
#ifndef SYM_VALUE_SOLVER_LOCAL_H
#define SYM_VALUE_SOLVER_LOCAL_H

#include "sym/value/solver-bytes.h"

/* Can these conditions hold together? values[symbol] holds a start, which need not be a solution; on
 * yes it holds one. NO only when every combination of values was tried. The same question has the same
 * answer: nothing here looks at a clock. */
enum answer local_check(struct byte_sets *b, const expr_id *conds, uint32_t n, uint64_t *values,
			uint32_t count);

#endif
