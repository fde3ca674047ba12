/* sym/ir/aliases.h - what may an address mean? (001 section 4.3.2: reaching definitions need it)
 *
 * An *object* is a global, a local variable (the operation that makes it), a heap block (the call that
 * makes it) or a function. A *cell* is a place in an object. The answers are guesses for a search to go
 * by: they leave out what library functions do with pointers inside the memory they are given. */
#ifndef SYM_IR_ALIASES_H
#define SYM_IR_ALIASES_H

#include "base/map.h"
#include "base/vec.h"
#include "sym/ir/ir.h"

#include <stdbool.h>
#include <stdint.h>

#define CELL_ANYWHERE UINT32_MAX /* an offset that depends on values */

struct cell {
	uint32_t object, offset;
};
struct cells VEC_FIELDS(struct cell); /* sorted by object and offset */

enum alias_kind { ALIAS_GLOBAL, ALIAS_FUNCTION, ALIAS_STACK, ALIAS_HEAP };
struct alias_object {
	enum alias_kind kind;
	uint32_t function, pc; /* where it is made; a global or function: its number in pc */
	VEC(struct cell_node) contents;
	struct numbers readers; /* operations that have read its contents */
};
struct cell_node {
	uint32_t offset, node;
};
struct alias_op {
	uint32_t function, pc;
};

/* What a register, or a place of an object, may hold. */
struct alias_node {
	struct cells cells;
	uint32_t object;	/* whose place it is; UINT32_MAX: a register */
	struct numbers readers; /* of a register */
	bool unknown;		/* there were too many */
};

/* An operation that writes to memory: a store, or a call that is given the address. */
struct alias_write {
	uint32_t function, pc;
	struct cells to;
};

struct aliases {
	struct ir *ir;
	uint32_t *first; /* per function: the node of its register 0 */
	VEC(struct alias_node) nodes;
	VEC(struct alias_object) objects;
	struct map made; /* function << 32 | pc -> object */
	VEC(struct alias_write) writes;

	/* While the sets grow: the operations by number, and those that are to be looked at again. */
	VEC(struct alias_op) ops;
	uint32_t current; /* the one that is looked at; UINT32_MAX: none */
	struct numbers queue;
	bool *queued;
	uint64_t work;	 /* cells that were offered to a set */
	struct map read; /* node or object << 32 | operation: it is among the readers */
};

/* Looks at every lowered function that is not a model. */
void aliases_init(struct aliases *a, struct ir *ir);
void aliases_deinit(struct aliases *a);

/* The cells that the address of the load or store at pc may mean, into ret. */
void aliases_address(struct aliases *a, const struct function *f, uint32_t pc, struct cells *ret);
/* The cells whose address register r of f may hold, into ret. */
void aliases_value(struct aliases *a, const struct function *f, int32_t r, struct cells *ret);
/* May a write of `bytes` bytes to one of the cells reach this cell? */
bool cells_overlap(const struct cells *cells, uint32_t bytes, struct cell cell, uint32_t width);

#endif
