/* sym/machine/memory.h - the memory of one state: objects with bounds, shared between forked states.
 *
 * Objects are numbered; an address says which object it means (ir.h), so a pointer that leaves its
 * object never silently lands in another. Numbers are never used twice: a dangling pointer stays
 * recognisable for ever. The map from numbers to objects is a persistent tree: copying a memory
 * is taking one reference, and a write copies only the path and the object it touches.
 * Objects and tree nodes are counted; everything else is borrowed from them until the next write.
 */
#ifndef SYM_MACHINE_MEMORY_H
#define SYM_MACHINE_MEMORY_H

#include "sym/value/expr.h"

#include <stdbool.h>
#include <stdint.h>

enum object_kind { OBJ_GLOBAL, OBJ_HEAP, OBJ_STACK, OBJ_TLS, OBJ_ENV };

struct object {
	uint32_t refs;
	uint32_t id;
	uint32_t size;
	uint8_t kind;
	bool readonly;
	bool foreign;	       /* not of this program: what it contains is not known */
	bool freed;	       /* only bounds and origin are left */
	uint32_t below;	       /* stack: the object that this frame allocated before, 0 = none */
	uint32_t function, pc; /* where it was allocated; function UINT32_MAX = before the start */
	const char *name;      /* globals, arguments; borrowed */
	uint64_t hash[2];      /* of the contents, for memory_hash; both 0 = not known */
	expr_id *sym;	       /* NULL, or per byte: its expression, 0 = the concrete byte */
	uint8_t bytes[];
};

#define NODE_BITS 5
#define NODE_FAN  (1u << NODE_BITS)
struct node;

struct memory {
	struct node *root;
	uint32_t height;  /* levels of nodes */
	uint32_t next_id; /* objects so far + 1 */
};

void memory_init(struct memory *m);
void memory_deinit(struct memory *m);
/* *to becomes a copy of *from in constant time. */
void memory_copy(struct memory *to, const struct memory *from);
/* A new zeroed object; valid until this memory is written again. */
struct object *memory_new(struct memory *m, enum object_kind kind, uint32_t size);
/* The same with a number of the caller's choice, which no object has now. */
struct object *memory_new_at(struct memory *m, uint32_t id, enum object_kind kind, uint32_t size);
/* NULL when the number was never used or belongs to a stack object that is gone. */
struct object *memory_find(const struct memory *m, uint32_t id);
/* The object, owned by this memory alone, to be written to. Must exist. */
struct object *memory_own(struct memory *m, uint32_t id);
/* A heap object leaves a marker of its bounds; any other leaves nothing. */
void memory_release(struct memory *m, uint32_t id);
/* 128 bits over everything the memory holds (concretely). What has not changed since it was hashed
 * last, in this state or one it was forked from, is not looked at again; so nobody may keep a
 * pointer to an owned object over this. Returns how many bytes it looked at. */
uint64_t memory_hash(struct memory *m, uint64_t ret[2]);
/* Make room for symbolic bytes in an owned object. */
void object_make_symbolic(struct object *o);

#endif
