/* sym/explore/sketch.c - what of a program's functions can be recognised in another build of it (sym.h). */
#include "sym/ir/nulls.h"
#include "sym/ir/program.h"
#include "sym/sym.h"

#include <string.h>

static void push(struct sym_sketch *k, struct sym_mark mark)
{
	vec_push(&k->marks, mark);
}

static void push_text(const struct ir *ir, const struct function *f, uint32_t pc, int32_t r,
		      struct sym_sketch *k)
{
	const char *text = ir_constant_text(ir, f, r);

	if (text && *text)
		push(k, (struct sym_mark){ .kind = SYM_MARK_TEXT, .pc = pc, .text = text });
}

static void push_texts(const struct ir *ir, const struct function *f, uint32_t pc,
		       struct sym_sketch *k)
{
	const struct op *o = &f->ops[pc];
	bool call = o->code == OP_CALL || o->code == OP_CALLI || o->code == OP_BUILTIN;

	push_text(ir, f, pc, o->a, k);
	push_text(ir, f, pc, o->b, k);
	push_text(ir, f, pc, o->d, k);
	if (o->code == OP_SELECT)
		push_text(ir, f, pc, (int32_t)o->imm, k);
	for (uint32_t i = 0; call && i < o->imm >> 32; i++)
		push_text(ir, f, pc, ir->args.data[(uint32_t)o->imm + i], k);
	if (o->code == OP_RET)
		push_text(ir, f, pc, (int32_t)o->imm, k);
}

/* May one of the arguments be null? */
static bool gets_null(const struct nulls *n, const struct function *f, const struct op *o)
{
	if (o->code >= OP_MEMCPY && o->code <= OP_MEMSET)
		return nulls_value(n, f, o->d) || nulls_value(n, f, o->a);
	for (uint32_t i = 0; i < o->imm >> 32; i++)
		if (nulls_value(n, f, n->aliases->ir->args.data[(uint32_t)o->imm + i]))
			return true;
	return false;
}

static void push_call(const struct nulls *n, const struct function *f, uint32_t pc,
		      struct sym_sketch *k)
{
	static const char *const blocks[] = { "memcpy", "memmove", "memset" };
	const struct ir *ir = n->aliases->ir;
	const struct op *o = &f->ops[pc];
	const struct function *callee = o->code == OP_CALL ? ir->functions.data[o->b] : NULL;
	const char *import = NULL;

	if (callee && (callee->declared_only || callee->is_model))
		import = callee->name;
	else if (o->code == OP_BUILTIN)
		import = ir_builtin_name((enum builtin)o->b);
	else if (o->code >= OP_MEMCPY && o->code <= OP_MEMSET)
		import = blocks[o->code - OP_MEMCPY];
	if (import)
		push(k, (struct sym_mark){ .kind = SYM_MARK_IMPORT,
					   .pc = pc,
					   .text = import,
					   .null = gets_null(n, f, o) });
	else if (callee)
		push(k,
		     (struct sym_mark){ .kind = SYM_MARK_CALL, .pc = pc, .callee = callee->index });
	else if (o->code == OP_CALLI)
		push(k, (struct sym_mark){ .kind = SYM_MARK_POINTER,
					   .pc = pc,
					   .null = nulls_value(n, f, o->a) });
}

static void sketch(const struct nulls *n, const struct function *f, struct sym_sketch *k)
{
	for (uint32_t pc = 0; pc < f->nops; pc++) {
		push_texts(n->aliases->ir, f, pc, k);
		push_call(n, f, pc, k);
		k->follows |= f->ops[pc].code >= OP_LOAD8 && f->ops[pc].code <= OP_STOREX64;
		if (nulls_access(n, f, pc))
			vec_push(&k->nulls, pc);
	}
}

/* Its own name, as the points of a goal have it. */
static const char *name_of(const struct ir *ir, const struct function *f)
{
	for (uint32_t pc = 0; pc < f->nops; pc++) {
		uint32_t at = f->src[pc].place;

		while (at && ir->places.data[at].outer)
			at = ir->places.data[at].outer;
		if (at)
			return ir->names.text[ir->places.data[at].function];
	}
	return NULL;
}

static bool is_sketched(const struct function *f)
{
	return !f->declared_only && !f->is_model;
}

void sym_sketches_init(struct sym_sketches *s, struct sym_program *p)
{
	struct ir *ir = p->ir;
	struct aliases aliases;
	struct nulls nulls;

	for (size_t i = 0; i < ir->functions.len; i++)
		if (is_sketched(ir->functions.data[i]))
			ir_lower(ir, ir->functions.data[i]);
	aliases_init(&aliases, ir);
	nulls_init(&nulls, &aliases);
	for (size_t i = 0; i < ir->functions.len; i++) {
		const struct function *f = ir->functions.data[i];
		struct sym_sketch *k = vec_add(s);

		if (!is_sketched(f))
			continue;
		k->name = name_of(ir, f);
		sketch(&nulls, f, k);
	}
	nulls_deinit(&nulls);
	aliases_deinit(&aliases);
}

void sym_sketches_deinit(struct sym_sketches *s)
{
	for (size_t i = 0; i < s->len; i++) {
		vec_deinit(&s->data[i].marks);
		vec_deinit(&s->data[i].nulls);
	}
	vec_deinit(s);
}

uint32_t sym_points_at(struct sym_program *p, struct sym_place at, struct sym_point *ret,
		       uint32_t most)
{
	const struct ir *ir = p->ir;
	uint32_t first = ir->functions.data[at.function]->src[at.pc].place, n = 0;

	for (uint32_t k = first; k; k = ir->places.data[k].outer)
		n++;
	if (n > most)
		return 0;
	for (uint32_t k = first, i = n; k; k = ir->places.data[k].outer)
		ret[--i] = (struct sym_point){ ir->names.text[ir->places.data[k].function],
					       ir->places.data[k].line };
	return n;
}
