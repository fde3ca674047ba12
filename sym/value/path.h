/* sym/value/path.h - what must hold on a path, and values under which it does. Both are counted: a
 * fork shares them. */
#ifndef SYM_VALUE_PATH_H
#define SYM_VALUE_PATH_H

#include "sym/value/expr.h"

/* A branch decision or a bound that the path depends on, newest first. */
struct constraint {
	uint32_t refs;
	uint32_t count; /* this one and those before it */
	expr_id cond;
	struct constraint *before;
};

/* An assignment of the symbols under which the state's constraints hold. */
struct model {
	uint32_t refs;
	uint32_t count;
	uint64_t values[];
};

struct model *model_new(uint32_t count);
void model_unref(struct model *m);

#endif
