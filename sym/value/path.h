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
	uint32_t pins;	/* symbol + 1 that has one value by this condition alone; 0 = none */
	uint64_t value; /* of that symbol */
	struct constraint *before;
	const struct constraint *last_pin; /* this one or the newest before it that pins a symbol */
};

/* An assignment of the symbols under which the state's constraints hold. */
struct model {
	uint32_t refs;
	uint32_t count;
	uint64_t values[];
};

struct model *model_new(uint32_t count);
void model_unref(struct model *m);

/* A longer path; it takes over the reference to `before`. */
struct constraint *path_push(struct exprs *e, struct constraint *before, expr_id cond);
/* Has every symbol of cond one value on this path, which is the model's? Then cond is what it is under this model (NULL =
 * all zero). False when that is not seen at once. */
bool path_settles(struct exprs *e, const struct constraint *path, const struct model *m,
		  expr_id cond);

#endif
