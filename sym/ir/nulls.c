/* sym/ir/nulls.c - see nulls.h.
 *
 * All operations are looked at again and again until nothing is new: a set of cells per address is known already, so
 * that a few rounds are enough. What nobody knows anything about (argv, memory of a library) may hold a null. */
#include "sym/ir/nulls.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { OFFSETS_MOST = 64, ROUNDS_MOST = 30, PAGE = 4096 };

/* ---- what may be null ---- */

static uint32_t node_of(const struct nulls *n, const struct function *f, int32_t r)
{
	return n->aliases->first[f->index] + (uint32_t)r;
}

static bool is_null(const struct nulls *n, const struct function *f, int32_t r)
{
	return r < 0 ? !f->consts[(int64_t)f->nconst + r] : n->nodes[node_of(n, f, r)];
}

static void set_null(struct nulls *n, const struct function *f, int32_t r, bool null)
{
	if (!null || r < 0 || n->nodes[node_of(n, f, r)])
		return;
	n->nodes[node_of(n, f, r)] = true;
	n->grew = true;
}

static bool has_offset(const struct null_object *o, uint32_t offset)
{
	for (size_t i = 0; i < o->offsets.len; i++)
		if (o->offsets.data[i] == offset)
			return true;
	return false;
}

static bool holds_null(const struct nulls *n, struct cell c)
{
	const struct null_object *o = &n->objects[c.object];

	return o->all || (c.offset == CELL_ANYWHERE ? o->offsets.len > 0 : has_offset(o, c.offset));
}

static void put_null(struct nulls *n, struct cell c)
{
	struct null_object *o = &n->objects[c.object];

	if (o->all || (c.offset != CELL_ANYWHERE && has_offset(o, c.offset)))
		return;
	n->grew = true;
	o->all = c.offset == CELL_ANYWHERE || o->offsets.len >= OFFSETS_MOST;
	if (!o->all)
		vec_push(&o->offsets, c.offset);
}

/* ---- operations ---- */

static bool is_access(const struct op *o)
{
	return o->code >= OP_LOAD8 && o->code <= OP_STOREX64;
}

static bool is_store(const struct op *o)
{
	return o->code >= OP_STORE8 && o->code <= OP_STOREX64;
}

static void access(struct nulls *n, const struct function *f, uint32_t pc)
{
	const struct op *o = &f->ops[pc];
	struct cells at = { 0 };

	if (o->code != OP_LOAD64 && o->code != OP_LOADX64 && o->code != OP_STORE64 &&
	    o->code != OP_STOREX64)
		return;
	aliases_address(n->aliases, f, pc, &at);
	if (is_store(o)) {
		for (size_t i = 0; is_null(n, f, o->d) && i < at.len; i++)
			put_null(n, at.data[i]);
	} else {
		bool null = !at.len;

		for (size_t i = 0; i < at.len; i++)
			null |= holds_null(n, at.data[i]);
		set_null(n, f, o->d, null);
	}
	vec_deinit(&at);
}

static void copy_cell(struct nulls *n, struct cell to, struct cell from)
{
	const struct null_object *o = &n->objects[from.object];
	bool anywhere = to.offset == CELL_ANYWHERE || from.offset == CELL_ANYWHERE;

	if (o->all || (anywhere && o->offsets.len))
		put_null(n, (struct cell){ to.object, CELL_ANYWHERE });
	for (size_t i = 0; !o->all && !anywhere && i < o->offsets.len; i++)
		if (o->offsets.data[i] >= from.offset)
			put_null(n, (struct cell){ to.object,
						   to.offset + o->offsets.data[i] - from.offset });
}

static void block(struct nulls *n, const struct function *f, const struct op *o)
{
	struct cells to = { 0 }, from = { 0 };

	aliases_value(n->aliases, f, o->d, &to);
	if (o->code != OP_MEMSET)
		aliases_value(n->aliases, f, o->a, &from);
	for (size_t t = 0; t < to.len; t++) {
		if (o->code == OP_MEMSET && is_null(n, f, o->a))
			put_null(n, (struct cell){ to.data[t].object, CELL_ANYWHERE });
		for (size_t i = 0; i < from.len; i++)
			copy_cell(n, to.data[t], from.data[i]);
	}
	vec_deinit(&to);
	vec_deinit(&from);
}

static bool is_known(const struct function *f)
{
	return f->lowered && !f->is_model && !f->declared_only;
}

static void call_function(struct nulls *n, const struct function *f, const struct op *o,
			  const struct function *g)
{
	const int32_t *args = n->aliases->ir->args.data + (uint32_t)o->imm;

	for (uint32_t i = 0; i < o->imm >> 32 && i < g->nparams; i++)
		set_null(n, g, (int32_t)i, is_null(n, f, args[i]));
	for (uint32_t pc = 0; pc < g->nops; pc++)
		if (g->ops[pc].code == OP_RET && g->ops[pc].imm >> 32)
			set_null(n, f, o->d, is_null(n, g, (int32_t)g->ops[pc].imm));
}

/* The functions that register r may mean; they get all arguments of a library function, in any place. */
static void call_cells(struct nulls *n, const struct function *f, const struct op *o, int32_t r,
		       bool in_order)
{
	const struct aliases *a = n->aliases;
	struct cells cells = { 0 };

	aliases_value(n->aliases, f, r, &cells);
	for (size_t i = 0; i < cells.len; i++) {
		const struct alias_object *to = &a->objects.data[cells.data[i].object];
		const struct function *g =
			to->kind == ALIAS_FUNCTION ? a->ir->functions.data[to->pc] : NULL;

		if (!g || !is_known(g))
			continue;
		if (in_order)
			call_function(n, f, o, g);
		for (uint32_t v = 0; !in_order && v < o->imm >> 32; v++) {
			int32_t arg = a->ir->args.data[(uint32_t)o->imm + v];

			for (uint32_t p = 0; arg != r && p < g->nparams; p++)
				set_null(n, g, (int32_t)p, arg >= 0 && is_null(n, f, arg));
		}
	}
	vec_deinit(&cells);
}

static void call(struct nulls *n, const struct function *f, const struct op *o)
{
	const struct ir *ir = n->aliases->ir;
	const struct function *g = o->code == OP_CALL ? ir->functions.data[o->b] : NULL;

	if (g && is_known(g)) {
		call_function(n, f, o, g);
		return;
	}
	if (o->code == OP_CALLI)
		call_cells(n, f, o, o->a, true);
	else
		for (uint32_t i = 0; i < o->imm >> 32; i++)
			call_cells(n, f, o, ir->args.data[(uint32_t)o->imm + i], false);
	if (g)
		set_null(n, f, o->d, g->ret_pointer);
}

static void operation(struct nulls *n, const struct function *f, uint32_t pc)
{
	const struct op *o = &f->ops[pc];

	switch (o->code) {
	case OP_MOV2:
		set_null(n, f, (int32_t)o->imm, is_null(n, f, (int32_t)(o->imm >> 32)));
		__attribute__((fallthrough));
	case OP_MOV:
	case OP_MOVJ:
		set_null(n, f, o->d, is_null(n, f, o->a));
		break;
	case OP_GEP: /* a field of what is not there */
		set_null(n, f, o->d, o->a >= 0 && is_null(n, f, o->a));
		break;
	case OP_ADD64:
		set_null(n, f, o->d, o->a >= 0 && o->b < 0 && is_null(n, f, o->a));
		break;
	case OP_SELECT:
		set_null(n, f, o->d, is_null(n, f, o->b) || is_null(n, f, (int32_t)o->imm));
		break;
	case OP_MEMCPY:
	case OP_MEMMOVE:
	case OP_MEMSET:
		block(n, f, o);
		break;
	case OP_CALL:
	case OP_CALLI:
	case OP_BUILTIN:
		call(n, f, o);
		break;
	default:
		if (is_access(o))
			access(n, f, pc);
	}
}

/* ---- the whole ---- */

/* Memory that is zero before anybody writes to it. */
static void initial_nulls(struct nulls *n, uint32_t object)
{
	const struct alias_object *o = &n->aliases->objects.data[object];
	const struct ir *ir = n->aliases->ir;

	if (o->kind == ALIAS_HEAP) {
		const struct op *made = &ir->functions.data[o->function]->ops[o->pc];

		n->objects[object].all = made->code == OP_BUILTIN && made->b == BI_CALLOC;
	} else if (o->kind == ALIAS_GLOBAL) {
		const struct global *g = &ir->globals.data[o->pc];

		n->objects[object].all = !g->init;
		for (uint64_t at = 0; g->init && at + 8 <= g->size; at += 8)
			if (!memcmp(g->init + at, "\0\0\0\0\0\0\0", 8))
				put_null(n, (struct cell){ object, (uint32_t)at });
	}
}

void nulls_init(struct nulls *n, struct aliases *a)
{
	*n = (struct nulls){ .aliases = a,
			     .nodes = xcalloc(a->nodes.len + 1, sizeof(*n->nodes)),
			     .objects = xcalloc(a->objects.len + 1, sizeof(*n->objects)),
			     .nobjects = a->objects.len,
			     .grew = true };
	for (uint32_t i = 0; i < n->nobjects; i++)
		initial_nulls(n, i);
	for (unsigned round = 0; n->grew && round < ROUNDS_MOST; round++) {
		n->grew = false;
		for (size_t i = 0; i < a->ops.len; i++)
			operation(n, a->ir->functions.data[a->ops.data[i].function],
				  a->ops.data[i].pc);
	}
}

void nulls_deinit(struct nulls *n)
{
	for (size_t i = 0; i < n->nobjects; i++)
		vec_deinit(&n->objects[i].offsets);
	free(n->objects);
	free(n->nodes);
}

bool nulls_value(const struct nulls *n, const struct function *f, int32_t r)
{
	return r >= 0 && is_known(f) && is_null(n, f, r);
}

bool nulls_access(const struct nulls *n, const struct function *f, uint32_t pc)
{
	const struct op *o = &f->ops[pc];
	bool indexed = o->code >= OP_LOADX8 && o->code <= OP_LOADX64;

	indexed |= o->code >= OP_STOREX8 && o->code <= OP_STOREX64;
	if (!is_access(o) || !is_known(f))
		return false;
	if (!indexed)
		return nulls_value(n, f, o->a) && o->imm < PAGE;
	return nulls_value(n, f, o->a) || ((int32_t)o->imm == 1 && nulls_value(n, f, o->b));
}
