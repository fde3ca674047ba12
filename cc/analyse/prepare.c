/* cc/analyse/prepare.c - make the merged module fit to be analysed, and every name fit to be shared.
 *
 * Small functions of the C++ library are inlined into unoptimised code (inline.c).
 * Inline assembly becomes instructions where it can (assembly.c), and functions that bring something
 * in from outside get a wrapper of our own when their address is taken (wrap.c).
 *
 * The variants become object files that use one set of variables, so whatever was local to a
 * source file becomes hidden, under a name that no other code can mean: NAME.plait. (A hidden
 * symbol called `log` would be found by a static libc.) Constants whose address does not matter
 * stay local; each variant keeps its own copy. A unit has one variant and keeps its names. */
#include "cc/analyse/prepare.h"

#include "base/err.h"
#include "base/mem.h"
#include "cc/analyse/assembly.h"
#include "cc/analyse/inline.h"
#include "cc/analyse/types.h"
#include "cc/analyse/wrap.h"
#include "cc/program.h"

#include <stdlib.h>
#include <string.h>

static bool is_reserved(const char *name)
{
	return strncmp(name, "llvm.", 5) == 0;
}

/* A name that is unique and that no source file can spell. */
static void promote(LLVMValueRef global)
{
	char *name = xasprintf("%s.plait", *value_name(global) ? value_name(global) : "anon");

	LLVMSetValueName2(global, name, strlen(name));
	free(name);
	LLVMSetLinkage(global, LLVMExternalLinkage);
	LLVMSetVisibility(global, LLVMHiddenVisibility);
}

static bool mentions_block_address(LLVMValueRef constant, int depth)
{
	if (LLVMIsABlockAddress(constant))
		return true;
	if (depth > 8 || LLVMIsAGlobalValue(constant))
		return false;
	for (int i = 0; i < LLVMGetNumOperands(constant); i++)
		if (mentions_block_address(LLVMGetOperand(constant, (unsigned)i), depth + 1))
			return true;
	return false;
}

/* Each variant keeps its own copy: constants without identity, tables of labels. */
static bool stays_local(LLVMValueRef g)
{
	LLVMValueRef init = LLVMGetInitializer(g);

	if (!is_local(g))
		return false;
	return (LLVMIsGlobalConstant(g) && LLVMGetUnnamedAddress(g) == LLVMGlobalUnnamedAddr &&
		!has_section(g)) ||
	       (init && mentions_block_address(init, 0));
}

static void look_at_uses(struct fn *fn)
{
	for (LLVMUseRef u = LLVMGetFirstUse(fn->f); u; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);

		if (LLVMIsABlockAddress(user)) {
			fn->block_address = true;
			continue;
		}
		if (!is_call(user) || LLVMGetCalledValue(user) != fn->f) {
			fn->needs_stub = true;
			continue;
		}
		for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
			if (LLVMGetOperand(user, i) == fn->f)
				fn->needs_stub = true;
	}
}

static void list_function(struct program *p, LLVMValueRef f)
{
	struct fn *fn;

	map_put(&p->fn_index, (uint64_t)(uintptr_t)f, p->fns.len);
	fn = vec_add(&p->fns);
	fn->f = f;
	fn->was_local = is_local(f);
	fn->interposable = is_interposable(f);
	if (fn->was_local && !p->unit)
		promote(f);
	fn->name = xstrdup(value_name(f));
	/* every module that uses an inline function has a copy of its own */
	fn->needs_stub = !fn->was_local && LLVMGetLinkage(f) != LLVMLinkOnceODRLinkage;
	fn->hands_off = function_attribute(f, "naked") != NULL;
	look_at_uses(fn);
}

static void promote_variables(struct program *p)
{
	for_each_global(g, p->module) if (is_local(g) && !is_reserved(value_name(g)) &&
					  !stays_local(g)) promote(g);
	for (LLVMValueRef a = LLVMGetFirstGlobalAlias(p->module); a; a = LLVMGetNextGlobalAlias(a))
		if (is_local(a))
			promote(a);
	for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(p->module); i; i = LLVMGetNextGlobalIFunc(i))
		if (is_local(i))
			promote(i);
}

struct err *prepare_program(struct program *p)
{
	LLVMPassBuilderOptionsRef options;
	LLVMErrorRef bad;
	struct err *err;

	err = inline_library(p);
	if (err)
		return err;
	assembly_raise(p->module, p->layout);
	wrap_inputs(p->module);
	types_collect(p);
	options = LLVMCreatePassBuilderOptions();
	bad = LLVMRunPasses(p->module, "elim-avail-extern", NULL, options);

	LLVMDisposePassBuilderOptions(options);
	if (bad) {
		char *text = LLVMGetErrorMessage(bad);

		err = err_new(ERR_ENV, "cannot prepare the bitcode: %s", text);
		LLVMDisposeErrorMessage(text);
		return err;
	}
	if (!p->unit)
		promote_variables(p);
	for_each_function(f, p->module) if (!LLVMIsDeclaration(f)) list_function(p, f);
	return NULL;
}
