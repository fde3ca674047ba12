/* sym/explore/asks.c - what the bitcode says about a program before it runs: which functions it has, which
 * environment variables it asks for. */
#include "sym/ir/program.h"
#include "sym/sym.h"

#include <string.h>

bool sym_is_optimised(const struct sym_program *p)
{
	return !p->front_end && ir_is_optimised(p->ir);
}

bool sym_has_function(struct sym_program *p, const char *name)
{
	const struct ir *ir = p->ir;

	for (size_t i = 0; i < ir->functions.len; i++) {
		struct function *f = ir->functions.data[i];

		if (f->declared_only || f->is_model)
			continue;
		ir_lower(p->ir, f);
		for (uint32_t pc = 0; pc < f->nops; pc++)
			for (uint32_t at = f->src[pc].place; at; at = ir->places.data[at].outer)
				if (!strcmp(ir->names.text[ir->places.data[at].function], name))
					return true;
	}
	return false;
}

uint32_t sym_never_called(struct sym_program *p, const struct names *names)
{
	uint32_t n = 0;

	for (size_t i = 0; i < p->ir->functions.len; i++) {
		struct function *f = p->ir->functions.data[i];

		f->never = names && (f->declared_only || f->is_model) &&
			   names_find(names, f->name) != NAMES_NONE;
		n += f->never;
	}
	return n;
}

static void tell_texts(const struct ir *ir, const struct function *f, uint32_t pc,
		       sym_call_text_fn *fn, void *arg)
{
	const struct op *o = &f->ops[pc];
	const struct op_src *src = &f->src[pc];

	for (uint32_t i = 0; i < o->imm >> 32; i++) {
		const char *text = ir_constant_text(ir, f, ir->args.data[(uint32_t)o->imm + i]);
		uint32_t own = ir->places.data[src->place].function;

		if (text)
			fn(arg, &(struct sym_call_text){
					.at = { f->index, pc },
					.callee = ir->functions.data[o->b]->name,
					.text = text,
					.function = src->place ? ir->names.text[own] : f->name,
					.line = src->line });
	}
}

void sym_call_texts(struct sym_program *p, sym_call_text_fn *fn, void *arg)
{
	struct ir *ir = p->ir;

	for (size_t i = 0; i < ir->functions.len; i++) {
		struct function *f = ir->functions.data[i];

		if (f->declared_only || f->is_model)
			continue;
		ir_lower(ir, f);
		for (uint32_t pc = 0; pc < f->nops; pc++)
			if (f->ops[pc].code == OP_CALL)
				tell_texts(ir, f, pc, fn, arg);
	}
}

void sym_env_names(struct sym_program *p, struct names *ret)
{
	struct ir *ir = p->ir;

	for (size_t i = 0; i < ir->functions.len; i++) {
		struct function *f = ir->functions.data[i];

		if (f->declared_only || f->is_model)
			continue;
		ir_lower(ir, f);
		for (uint32_t pc = 0; pc < f->nops; pc++) {
			const struct op *o = &f->ops[pc];
			const char *name;

			if (o->code != OP_CALL || !(o->imm >> 32))
				continue;
			if (strcmp(ir->functions.data[o->b]->name, "getenv") != 0 &&
			    strcmp(ir->functions.data[o->b]->name, "secure_getenv") != 0)
				continue;
			name = ir_constant_text(ir, f, ir->args.data[(uint32_t)o->imm]);
			if (name)
				names_intern(ret, name);
		}
	}
}
