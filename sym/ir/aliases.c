/* sym/ir/aliases.c - see aliases.h.
 *
 * Inclusion between sets of cells (Andersen), on lowered operations: one set per register of each
 * function and one per cell that holds pointers. An operation is looked at again when a set that it
 * has read has grown. Offsets that are constant are kept, up to OFFSETS_MOST per object and set; more than
 * that is a pointer that walks, and means anywhere in its object. A set of more than CELLS_MOST says nothing
 * that a search could go by, and becomes unknown: empty, for good. Calls are not told apart by their callers.
 * WORK_MOST ends it in a large program, in less than a second and in the same place every time. */
#include "sym/ir/aliases.h"

#include "base/log.h"
#include "base/mem.h"
#include "sym/ir/ir.h"

#include <stdlib.h>
#include <string.h>

enum { OFFSETS_MOST = 12, CELLS_MOST = 100, WORK_MOST = 10000000 };

#define NONE UINT32_MAX

/* ---- who is to be looked at again ---- */

static void queue_op(struct aliases *a, uint32_t op)
{
	if (a->queued[op])
		return;
	a->queued[op] = true;
	vec_push(&a->queue, op);
}

/* `key` names the list of readers: a register's node, or an object behind all nodes' numbers. */
static void note_reader(struct aliases *a, uint64_t key, struct numbers *readers)
{
	size_t n = a->read.len;

	if (a->current == NONE)
		return;
	map_put(&a->read, key << 32 | a->current, 0);
	if (a->read.len > n)
		vec_push(readers, a->current);
}

static void note_register_read(struct aliases *a, uint32_t node)
{
	note_reader(a, node, &a->nodes.data[node].readers);
}

static void note_contents_read(struct aliases *a, uint32_t object)
{
	note_reader(a, (uint64_t)object | 1u << 31, &a->objects.data[object].readers);
}

static void node_grew(struct aliases *a, const struct alias_node *n)
{
	const struct numbers *readers =
		n->object == NONE ? &n->readers : &a->objects.data[n->object].readers;

	for (size_t i = 0; i < readers->len; i++)
		queue_op(a, readers->data[i]);
}

/* ---- sets ---- */

static uint32_t node_new(struct aliases *a, uint32_t object)
{
	vec_push(&a->nodes, ((struct alias_node){ .object = object }));
	return (uint32_t)a->nodes.len - 1;
}

static uint64_t cell_key(struct cell c)
{
	return (uint64_t)c.object << 32 | c.offset;
}

/* How many cells come before this one. */
static size_t cells_before(const struct cells *s, struct cell c)
{
	size_t low = 0, high = s->len;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (cell_key(s->data[mid]) < cell_key(c))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Anywhere in an object covers every offset of it. */
static void add_cell(struct aliases *a, uint32_t node, struct cell c)
{
	struct cells *s = &a->nodes.data[node].cells;
	struct cell anywhere = { c.object, CELL_ANYWHERE };
	size_t end = cells_before(s, anywhere), begin, at;

	a->work++;
	if (a->nodes.data[node].unknown || (end < s->len && s->data[end].object == c.object))
		return;
	at = cells_before(s, c);
	if (at < end && s->data[at].offset == c.offset)
		return;
	begin = cells_before(s, (struct cell){ c.object, 0 });
	if (end - begin >= OFFSETS_MOST || c.offset == CELL_ANYWHERE) {
		memmove(s->data + begin, s->data + end, (s->len - end) * sizeof(*s->data));
		s->len -= end - begin;
		at = begin;
		c = anywhere;
	}
	if (s->len >= CELLS_MOST) {
		a->nodes.data[node].unknown = true;
		vec_deinit(s);
		return;
	}
	vec_push(s, c);
	memmove(s->data + at + 1, s->data + at, (s->len - 1 - at) * sizeof(*s->data));
	s->data[at] = c;
	node_grew(a, &a->nodes.data[node]);
}

static uint32_t moved(uint32_t offset, int64_t by)
{
	int64_t to = (int64_t)offset + by;

	return offset == CELL_ANYWHERE || to < 0 || to > INT32_MAX ? CELL_ANYWHERE : (uint32_t)to;
}

/* What a register may hold, moved by so many bytes (known), or to anywhere in its objects. */
static void values_of(struct aliases *a, const struct function *f, int32_t r, int64_t by,
		      bool known, struct cells *ret)
{
	const struct cells *s;
	uint64_t c;

	if (r >= 0) {
		note_register_read(a, a->first[f->index] + (uint32_t)r);
		s = &a->nodes.data[a->first[f->index] + (uint32_t)r].cells;
		for (size_t i = 0; i < s->len; i++)
			vec_push(ret, ((struct cell){ s->data[i].object,
						      known ? moved(s->data[i].offset, by)
							    : CELL_ANYWHERE }));
		return;
	}
	c = f->consts[(int64_t)f->nconst + r];
	if (c & ADDR_TAG) {
		uint32_t id = (uint32_t)(c >> 32) & 0x3fffffff;

		if (id && id <= a->ir->globals.len)
			vec_push(ret,
				 ((struct cell){ id - 1, known ? moved((uint32_t)c - ADDR_BIAS, by)
							       : CELL_ANYWHERE }));
	} else if (c & FUNC_TAG) {
		const struct function *g = ir_function_at(a->ir, c);

		if (g)
			vec_push(ret,
				 ((struct cell){ (uint32_t)a->ir->globals.len + g->index, 0 }));
	}
}

static void add_values(struct aliases *a, const struct function *f, int32_t to,
		       const struct cells *cells)
{
	if (to < 0)
		return;
	for (size_t i = 0; i < cells->len; i++)
		add_cell(a, a->first[f->index] + (uint32_t)to, cells->data[i]);
}

static void flow(struct aliases *a, const struct function *f, int32_t from, int64_t by, bool known,
		 const struct function *g, int32_t to)
{
	struct cells cells = { 0 };

	values_of(a, f, from, by, known, &cells);
	add_values(a, g, to, &cells);
	vec_deinit(&cells);
}

/* ---- objects ---- */

static uint32_t made_here(struct aliases *a, enum alias_kind kind, const struct function *f,
			  uint32_t pc)
{
	uint64_t *known =
		map_put(&a->made, (uint64_t)f->index << 32 | pc, (uint64_t)a->objects.len);

	if (*known == a->objects.len)
		vec_push(&a->objects,
			 ((struct alias_object){ .kind = kind, .function = f->index, .pc = pc }));
	return (uint32_t)*known;
}

static uint32_t content_node(struct aliases *a, struct cell c)
{
	struct alias_object *o = &a->objects.data[c.object];
	uint32_t node;

	for (size_t i = 0; i < o->contents.len; i++)
		if (o->contents.data[i].offset == c.offset)
			return o->contents.data[i].node;
	node = node_new(a, c.object);
	vec_push(&a->objects.data[c.object].contents, ((struct cell_node){ c.offset, node }));
	return node;
}

static void store_at(struct aliases *a, const struct cells *to, const struct cells *values)
{
	if (!values->len)
		return;
	for (size_t i = 0; i < to->len; i++) {
		uint32_t node = content_node(a, to->data[i]);

		for (size_t k = 0; k < values->len; k++)
			add_cell(a, node, values->data[k]);
	}
}

static void load_at(struct aliases *a, const struct cells *from, struct cells *ret)
{
	for (size_t i = 0; i < from->len; i++) {
		const struct alias_object *o = &a->objects.data[from->data[i].object];

		note_contents_read(a, from->data[i].object);
		for (size_t k = 0; k < o->contents.len; k++) {
			const struct cells *s = &a->nodes.data[o->contents.data[k].node].cells;
			uint32_t offset = o->contents.data[k].offset;

			if (offset != from->data[i].offset && offset != CELL_ANYWHERE &&
			    from->data[i].offset != CELL_ANYWHERE)
				continue;
			for (size_t n = 0; n < s->len; n++)
				vec_push(ret, s->data[n]);
		}
	}
}

/* One node may be the other, whose set then stays as it is. */
static void add_all(struct aliases *a, uint32_t to, uint32_t from)
{
	for (size_t i = 0; to != from && i < a->nodes.data[from].cells.len; i++)
		add_cell(a, to, a->nodes.data[from].cells.data[i]);
}

/* A copy of unknown length: every pointer at or behind the source goes along. */
static void copy_contents(struct aliases *a, const struct cells *to, const struct cells *from)
{
	for (size_t t = 0; t < to->len; t++)
		for (size_t i = 0; i < from->len; i++) {
			size_t n = a->objects.data[from->data[i].object].contents.len;

			note_contents_read(a, from->data[i].object);
			for (size_t k = 0; k < n; k++) {
				struct cell_node c =
					a->objects.data[from->data[i].object].contents.data[k];
				struct cell at = to->data[t];
				uint32_t node;

				at.offset =
					c.offset == CELL_ANYWHERE ||
							from->data[i].offset == CELL_ANYWHERE
						? CELL_ANYWHERE
						: moved(at.offset,
							(int64_t)c.offset - from->data[i].offset);
				node = content_node(a, at);
				add_all(a, node, c.node);
			}
		}
}

/* ---- operations ---- */

static bool constant_of(const struct function *f, int32_t r, int64_t *ret)
{
	if (r >= 0)
		return false;
	*ret = (int64_t)f->consts[(int64_t)f->nconst + r];
	return !((uint64_t)*ret & (ADDR_TAG | FUNC_TAG)) || *ret < 0;
}

/* The address of a load, a store or a GEP. */
static void address_of(struct aliases *a, const struct function *f, const struct op *o,
		       bool indexed, struct cells *ret)
{
	int64_t index = 0;
	bool known = !indexed || constant_of(f, o->b, &index);

	if (!indexed)
		values_of(a, f, o->a, (int64_t)o->imm, true, ret);
	else
		values_of(a, f, o->a, index * (int32_t)o->imm + ((int64_t)o->imm >> 32), known,
			  ret);
	if (indexed && !known && (int32_t)o->imm == 1) /* base and index may have changed places */
		values_of(a, f, o->b, 0, false, ret);
}

static bool is_load(const struct op *o)
{
	return o->code >= OP_LOAD8 && o->code <= OP_LOADX64;
}
static bool is_store(const struct op *o)
{
	return o->code >= OP_STORE8 && o->code <= OP_STOREX64;
}
static bool is_indexed(const struct op *o)
{
	return (o->code >= OP_LOADX8 && o->code <= OP_LOADX64) ||
	       (o->code >= OP_STOREX8 && o->code <= OP_STOREX64) || o->code == OP_GEP;
}

static void call_function(struct aliases *a, const struct function *f, const struct op *o,
			  const struct function *g)
{
	uint32_t n = (uint32_t)(o->imm >> 32);

	for (uint32_t i = 0; i < n && i < g->nparams; i++)
		flow(a, f, a->ir->args.data[(uint32_t)o->imm + i], 0, true, g, (int32_t)i);
	for (uint32_t pc = 0; pc < g->nops; pc++)
		if (g->ops[pc].code == OP_RET)
			for (uint32_t i = 0; i < (uint32_t)(g->ops[pc].imm >> 32); i++)
				flow(a, g, (int32_t)g->ops[pc].imm + (int32_t)i, 0, true, f,
				     o->d + (int32_t)i);
}

/* A library function may return a block of its own, or a place in what it was given. One that is given a
 * function calls it with what else it is given. */
static void call_library(struct aliases *a, const struct function *f, uint32_t pc, bool returns)
{
	const struct op *o = &f->ops[pc];
	uint32_t n = (uint32_t)(o->imm >> 32);
	const int32_t *args = a->ir->args.data + (uint32_t)o->imm;
	struct cells cells = { 0 };

	if (returns) {
		vec_push(&cells, ((struct cell){ made_here(a, ALIAS_HEAP, f, pc), 0 }));
		for (uint32_t i = 0; i < n; i++)
			values_of(a, f, args[i], 0, false, &cells);
		add_values(a, f, o->d, &cells);
	}
	for (uint32_t i = 0; i < n; i++) {
		vec_clear(&cells);
		values_of(a, f, args[i], 0, true, &cells);
		for (size_t k = 0; k < cells.len; k++) {
			const struct alias_object *to = &a->objects.data[cells.data[k].object];
			const struct function *g;

			if (to->kind != ALIAS_FUNCTION)
				continue;
			g = a->ir->functions.data[to->pc];
			for (uint32_t p = 0; g->lowered && !g->is_model && p < g->nparams; p++)
				for (uint32_t v = 0; v < n; v++)
					if (v != i)
						flow(a, f, args[v], 0, true, g, (int32_t)p);
		}
	}
	vec_deinit(&cells);
}

static void call(struct aliases *a, const struct function *f, uint32_t pc)
{
	const struct op *o = &f->ops[pc];
	struct cells cells = { 0 };

	if (o->code == OP_BUILTIN) {
		call_library(a, f, pc,
			     o->b == BI_MALLOC || o->b == BI_CALLOC || o->b == BI_REALLOC ||
				     o->b == BI_MEMALIGN);
		return;
	}
	if (o->code == OP_CALL) {
		const struct function *g = a->ir->functions.data[o->b];

		if (g->lowered && !g->is_model)
			call_function(a, f, o, g);
		else
			call_library(a, f, pc, g->ret_pointer);
		return;
	}
	values_of(a, f, o->a, 0, true, &cells);
	for (size_t i = 0; i < cells.len; i++) {
		const struct alias_object *to = &a->objects.data[cells.data[i].object];

		if (to->kind == ALIAS_FUNCTION && a->ir->functions.data[to->pc]->lowered &&
		    !a->ir->functions.data[to->pc]->is_model)
			call_function(a, f, o, a->ir->functions.data[to->pc]);
	}
	vec_deinit(&cells);
}

static void memory_op(struct aliases *a, const struct function *f, const struct op *o)
{
	struct cells at = { 0 }, values = { 0 };

	if (is_load(o)) {
		address_of(a, f, o, is_indexed(o), &at);
		load_at(a, &at, &values);
		add_values(a, f, o->d, &values);
	} else if (is_store(o)) {
		address_of(a, f, o, is_indexed(o), &at);
		values_of(a, f, o->d, 0, true, &values);
		store_at(a, &at, &values);
	} else { /* a copy */
		values_of(a, f, o->d, 0, true, &at);
		values_of(a, f, o->a, 0, true, &values);
		copy_contents(a, &at, &values);
	}
	vec_deinit(&at);
	vec_deinit(&values);
}

static void arithmetic(struct aliases *a, const struct function *f, const struct op *o)
{
	int64_t c;

	if (o->code == OP_ADD64 && constant_of(f, o->b, &c)) {
		flow(a, f, o->a, c, true, f, o->d);
	} else if (o->code == OP_SUB64 && constant_of(f, o->b, &c)) {
		flow(a, f, o->a, -c, true, f, o->d);
	} else if (o->code == OP_AND || o->code == OP_ADD64 || o->code == OP_SUB64) {
		flow(a, f, o->a, 0, false, f, o->d);
		flow(a, f, o->b, 0, false, f, o->d);
	}
}

static void operation(struct aliases *a, const struct function *f, uint32_t pc)
{
	const struct op *o = &f->ops[pc];
	struct cells cells = { 0 };

	switch (o->code) {
	case OP_MOV2:
		flow(a, f, (int32_t)(o->imm >> 32), 0, true, f, (int32_t)o->imm);
		__attribute__((fallthrough));
	case OP_MOV:
	case OP_MOVJ:
		flow(a, f, o->a, 0, true, f, o->d);
		break;
	case OP_SELECT:
		flow(a, f, o->b, 0, true, f, o->d);
		flow(a, f, (int32_t)o->imm, 0, true, f, o->d);
		break;
	case OP_ALLOCA:
	case OP_ALLOCAV:
		vec_push(&cells, ((struct cell){ made_here(a, ALIAS_STACK, f, pc), 0 }));
		add_values(a, f, o->d, &cells);
		break;
	case OP_GEP:
		address_of(a, f, o, true, &cells);
		add_values(a, f, o->d, &cells);
		break;
	case OP_MEMCPY:
	case OP_MEMMOVE:
		memory_op(a, f, o);
		break;
	case OP_CALL:
	case OP_CALLI:
	case OP_BUILTIN:
		call(a, f, pc);
		break;
	default:
		if (is_load(o) || is_store(o))
			memory_op(a, f, o);
		else
			arithmetic(a, f, o);
	}
	vec_deinit(&cells);
}

/* ---- the whole ---- */

static void initial_contents(struct aliases *a)
{
	for (uint32_t i = 0; i < a->ir->globals.len; i++) {
		const struct global *g = &a->ir->globals.data[i];

		for (uint64_t at = 0; g->init && at + 8 <= g->size; at += 8) {
			struct function one = { .nconst = 1, .consts = &(uint64_t){ 0 } };
			struct cells cells = { 0 };

			memcpy(one.consts, g->init + at, 8);
			values_of(a, &one, -1, 0, true, &cells);
			store_at(a, &(struct cells){ &(struct cell){ i, (uint32_t)at }, 1, 1 },
				 &cells);
			vec_deinit(&cells);
		}
	}
}

static bool is_looked_at(const struct function *f)
{
	return f->lowered && !f->is_model && !f->declared_only;
}

static void find_writes(struct aliases *a)
{
	for (uint32_t i = 0; i < a->ir->functions.len; i++) {
		const struct function *f = a->ir->functions.data[i];

		for (uint32_t pc = 0; is_looked_at(f) && pc < f->nops; pc++) {
			const struct op *o = &f->ops[pc];
			struct alias_write w = { .function = i, .pc = pc };

			if (is_store(o))
				address_of(a, f, o, is_indexed(o), &w.to);
			else if (o->code >= OP_MEMCPY && o->code <= OP_RMW)
				values_of(a, f, o->code == OP_RMW ? o->a : o->d, 0,
					  o->code == OP_RMW, &w.to);
			if (w.to.len)
				vec_push(&a->writes, w);
		}
	}
}

static void grow(struct aliases *a)
{
	a->queued = xcalloc(a->ops.len, sizeof(*a->queued));
	for (uint32_t i = 0; i < a->ops.len; i++)
		queue_op(a, i);
	while (a->queue.len && a->work < WORK_MOST) {
		struct numbers now = a->queue;

		a->queue = (struct numbers){ 0 };
		for (size_t i = 0; i < now.len && a->work < WORK_MOST; i++) {
			struct alias_op op = a->ops.data[now.data[i]];

			a->current = now.data[i];
			a->queued[a->current] = false;
			operation(a, a->ir->functions.data[op.function], op.pc);
		}
		vec_deinit(&now);
	}
	a->current = NONE;
	log_verbose("aliases: %zu operations, %zu sets, %llu steps%s", a->ops.len, a->nodes.len,
		    (unsigned long long)a->work, a->work < WORK_MOST ? "" : ", given up");
	free(a->queued);
	vec_deinit(&a->queue);
	map_deinit(&a->read);
}

void aliases_init(struct aliases *a, struct ir *ir)
{
	*a = (struct aliases){ .ir = ir,
			       .current = NONE,
			       .first = xcalloc(ir->functions.len + 1, sizeof(uint32_t)) };
	for (uint32_t i = 0; i < ir->globals.len; i++)
		vec_push(&a->objects, ((struct alias_object){ .kind = ALIAS_GLOBAL, .pc = i }));
	for (uint32_t i = 0; i < ir->functions.len; i++) {
		const struct function *f = ir->functions.data[i];

		vec_push(&a->objects, ((struct alias_object){ .kind = ALIAS_FUNCTION, .pc = i }));
		a->first[i] = (uint32_t)a->nodes.len;
		for (uint32_t r = 0; is_looked_at(f) && r <= f->nregs; r++)
			node_new(a, NONE);
		for (uint32_t pc = 0; is_looked_at(f) && pc < f->nops; pc++)
			vec_push(&a->ops, ((struct alias_op){ i, pc }));
	}
	initial_contents(a);
	grow(a);
	find_writes(a);
}

void aliases_deinit(struct aliases *a)
{
	for (size_t i = 0; i < a->nodes.len; i++) {
		vec_deinit(&a->nodes.data[i].cells);
		vec_deinit(&a->nodes.data[i].readers);
	}
	for (size_t i = 0; i < a->objects.len; i++) {
		vec_deinit(&a->objects.data[i].contents);
		vec_deinit(&a->objects.data[i].readers);
	}
	for (size_t i = 0; i < a->writes.len; i++)
		vec_deinit(&a->writes.data[i].to);
	vec_deinit(&a->nodes);
	vec_deinit(&a->objects);
	vec_deinit(&a->writes);
	vec_deinit(&a->ops);
	map_deinit(&a->made);
	free(a->first);
}

void aliases_address(struct aliases *a, const struct function *f, uint32_t pc, struct cells *ret)
{
	const struct op *o = &f->ops[pc];

	if (is_looked_at(f) && (is_load(o) || is_store(o)))
		address_of(a, f, o, is_indexed(o), ret);
}

void aliases_value(struct aliases *a, const struct function *f, int32_t r, struct cells *ret)
{
	if (is_looked_at(f))
		values_of(a, f, r, 0, true, ret);
}

bool cells_overlap(const struct cells *cells, uint32_t bytes, struct cell cell, uint32_t width)
{
	for (size_t i = 0; i < cells->len; i++) {
		const struct cell *c = &cells->data[i];

		if (c->object != cell.object)
			continue;
		if (c->offset == CELL_ANYWHERE || cell.offset == CELL_ANYWHERE ||
		    (c->offset < cell.offset + width && cell.offset < c->offset + bytes))
			return true;
	}
	return false;
}
