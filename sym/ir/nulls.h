/* sym/ir/nulls.h - which addresses may be null?
 *
 * A guess for a search to go by, as aliases.h is: constants 0, memory that is zero at first and results of library
 * functions flow through registers and cells, whatever branches say about them in between. */
#ifndef SYM_IR_NULLS_H
#define SYM_IR_NULLS_H

#include "sym/ir/aliases.h"

/* Where in an object a null may lie. */
struct null_object {
	bool all;
	struct numbers offsets;
};

struct nulls {
	struct aliases *aliases;
	bool *nodes; /* per register's node of the aliases */
	struct null_object *objects;
	size_t nobjects;
	bool grew;
};

/* Borrows the aliases. */
void nulls_init(struct nulls *n, struct aliases *a);
void nulls_deinit(struct nulls *n);

/* May register r of f hold a null pointer that somebody computed? (A constant does not count.) */
bool nulls_value(const struct nulls *n, const struct function *f, int32_t r);
/* May the load or store at pc use an address of the first page? */
bool nulls_access(const struct nulls *n, const struct function *f, uint32_t pc);

#endif
