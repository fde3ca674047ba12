/* cc/instrument/variant.c - one module, five versions.
 *
 * Each runs in a forked child on the child's own copy of the module.
 *
 *	          plain                      path, full, graph, order
 *	body      f.plait.plain, local       f.plait.path ..., hidden
 *	symbol f  dispatch stub              declaration
 *	variable  definition                 declaration (constants keep their value to fold)
 *
 * A direct call stays inside its variant. Every other mention of a function - its address in a
 * variable, an argument, a vtable, a constructor list - means the symbol, hence the stub:
 *
 *	f(...): switch (plait_variant) { case 1: jump f.plait.path; case 2: jump f.plait.full;
 *	                                 case 3: jump f.plait.graph; case 4: jump f.plait.order;
 *	                                 default: jump f.plait.plain }
 *
 * A program that is built for hunting alone has full only, which then has what plain has above.
 *
 * Calls of a weak function go through the symbol too: another definition may win. */
#include "cc/instrument/variant.h"

#include "base/err.h"
#include "base/vec.h"
#include "cc/program.h"

#include <string.h>

static const char *const suffix[] = { "plait.plain", "plait.path", "plait.full", "plait.graph",
				      "plait.order" };

struct values VEC_FIELDS(LLVMValueRef);

/* Everything that mentions `from` now means `to`, except direct calls. `both_calls`: those too. */
static void redirect_mentions(LLVMValueRef from, LLVMValueRef to, bool calls_too)
{
	struct values calls = { 0 };

	for (LLVMUseRef u = LLVMGetFirstUse(from); u && !calls_too; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);

		if (is_call(user) && LLVMGetCalledValue(user) == from)
			vec_push(&calls, user);
	}
	LLVMReplaceAllUsesWith(from, to);
	for (size_t i = 0; i < calls.len; i++)
		set_callee(calls.data[i], from);
	vec_deinit(&calls);
}

/* A function with labels in tables: replacing all its uses would tear the labels off, so only
 * what instructions mention is redirected. Addresses in static tables mean the plain body. */
static void redirect_instructions(LLVMValueRef from, LLVMValueRef to, bool calls_too)
{
	struct values users = { 0 };

	for (LLVMUseRef u = LLVMGetFirstUse(from); u; u = LLVMGetNextUse(u))
		if (LLVMIsAInstruction(LLVMGetUser(u)))
			vec_push(&users, LLVMGetUser(u));
	for (size_t i = 0; i < users.len; i++) {
		LLVMValueRef user = users.data[i];
		int n = LLVMGetNumOperands(user);

		for (int k = 0; k < n; k++) {
			bool callee = is_call(user) && k == n - 1;

			if (LLVMGetOperand(user, (unsigned)k) == from && (!callee || calls_too))
				LLVMSetOperand(user, (unsigned)k, to);
		}
	}
	vec_deinit(&users);
}

static void copy_string_attribute(LLVMValueRef from, LLVMValueRef to, const char *name)
{
	LLVMAttributeRef a = LLVMGetStringAttributeAtIndex(from, FUNCTION_ATTRIBUTES, name,
							   (unsigned)strlen(name));

	if (a)
		LLVMAddAttributeAtIndex(to, FUNCTION_ATTRIBUTES, a);
}

static void copy_enum_attribute(LLVMValueRef from, LLVMValueRef to, const char *name)
{
	LLVMAttributeRef a = function_attribute(from, name);

	if (a)
		LLVMAddAttributeAtIndex(to, FUNCTION_ATTRIBUTES, a);
}

/* Parameter and return attributes are part of the calling convention (byval, sret, zeroext). */
static void copy_abi_attributes(LLVMValueRef from, LLVMValueRef to)
{
	unsigned nparams = LLVMCountParams(from);

	for (unsigned i = 0; i <= nparams; i++) { /* 0 is the return value */
		unsigned n = LLVMGetAttributeCountAtIndex(from, i);
		LLVMAttributeRef *attrs = xcalloc(n + 1, sizeof(LLVMAttributeRef));

		LLVMGetAttributesAtIndex(from, i, attrs);
		for (unsigned k = 0; k < n; k++)
			LLVMAddAttributeAtIndex(to, i, attrs[k]);
		free(attrs);
	}
}

static LLVMValueRef declare_like(LLVMModuleRef m, LLVMValueRef f, const char *name)
{
	LLVMValueRef d = LLVMAddFunction(m, name, LLVMGlobalGetValueType(f));

	LLVMSetFunctionCallConv(d, LLVMGetFunctionCallConv(f));
	copy_abi_attributes(f, d);
	copy_string_attribute(f, d, "target-cpu");
	copy_string_attribute(f, d, "target-features");
	copy_string_attribute(f, d, "tune-cpu");
	copy_enum_attribute(f, d, "nounwind");
	copy_enum_attribute(f, d, "uwtable");
	return d;
}

/* The stub is written in assembly, so that it is right for every signature: r11 is the one
 * register no calling convention uses. (LLVM's musttail would do, but smashes the stack of
 * functions that take structures by value.) */
static const char stub_text[] = "movq plait_variant@GOTPCREL(%rip), %r11\n\t"
				"movl (%r11), %r11d\n\t"
				"testl %r11d, %r11d\n\t"
				"jne 1f\n\t"
				"jmp ${0:P}\n"
				"1:\tcmpl $$1, %r11d\n\t"
				"jne 2f\n\t"
				"jmp ${1:P}\n"
				"2:\tcmpl $$2, %r11d\n\t"
				"jne 3f\n\t"
				"jmp ${2:P}\n"
				"3:\tcmpl $$3, %r11d\n\t"
				"jne 4f\n\t"
				"jmp ${3:P}\n"
				"4:\tjmp ${4:P}";

/* The variant whose object has the variables and the stubs. */
static bool is_owner(const struct program *p, int v)
{
	return v == (p->absent[PLAIT_VARIANT_PLAIN] ? PLAIT_VARIANT_FULL : PLAIT_VARIANT_PLAIN);
}

/* The body of variant v, as the owner's object sees it. */
static LLVMValueRef stub_target(struct program *p, const struct fn *fn, int v)
{
	_cleanup_(xfreep) char *name = xasprintf("%s.%s", fn->name, suffix[v]);
	LLVMValueRef target;

	if (is_owner(p, v))
		return fn->f;
	target = declare_like(p->module, fn->f, name);
	LLVMSetVisibility(target, LLVMHiddenVisibility);
	return target;
}

static void build_stub(struct program *p, LLVMValueRef stub, const struct fn *fn)
{
	LLVMBuilderRef b = LLVMCreateBuilderInContext(p->context);
	LLVMTypeRef ptr = LLVMPointerTypeInContext(p->context, 0),
		    types[PLAIT_VARIANTS] = { ptr, ptr, ptr, ptr, ptr };
	LLVMTypeRef type =
		LLVMFunctionType(LLVMVoidTypeInContext(p->context), types, PLAIT_VARIANTS, 0);
	LLVMValueRef targets[PLAIT_VARIANTS], text;

	for (int v = 0; v < PLAIT_VARIANTS; v++)
		targets[v] = p->absent[v] ? NULL : stub_target(p, fn, v);
	for (int v = 0; v < PLAIT_VARIANTS; v++)
		if (!targets[v])
			targets[v] = targets[PLAIT_VARIANT_FULL];
	LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(p->context, stub, ""));
	text = LLVMGetInlineAsm(type, stub_text, strlen(stub_text), "s,s,s,s,s", 9, true, false,
				LLVMInlineAsmDialectATT, false);
	LLVMBuildCall2(b, type, text, targets, PLAIT_VARIANTS, "");
	LLVMBuildUnreachable(b);
	LLVMDisposeBuilder(b);
	function_add_attribute(stub, "naked");
	function_add_attribute(stub, "noinline");
}

/* linkonce may vanish when this object does not use it; the other objects may. */
static LLVMLinkage kept_linkage(LLVMLinkage l)
{
	return l == LLVMLinkOnceODRLinkage   ? LLVMWeakODRLinkage
	       : l == LLVMLinkOnceAnyLinkage ? LLVMWeakAnyLinkage
					     : l;
}

static void split_function(struct program *p, struct fn *fn, int v)
{
	_cleanup_(xfreep) char *body = xasprintf("%s.%s", fn->name, suffix[v]);
	LLVMComdatRef comdat = LLVMGetComdat(fn->f);
	LLVMLinkage linkage = kept_linkage(LLVMGetLinkage(fn->f));
	LLVMVisibility visibility = LLVMGetVisibility(fn->f);
	LLVMValueRef symbol;

	LLVMSetValueName2(fn->f, body, strlen(body));
	LLVMSetComdat(fn->f, NULL);
	LLVMSetDLLStorageClass(fn->f, LLVMDefaultStorageClass);
	if (fn->needs_stub) {
		symbol = declare_like(p->module, fn->f, fn->name);
		LLVMSetVisibility(symbol, visibility);
		if (is_owner(p, v)) {
			LLVMSetLinkage(symbol, linkage);
			if (comdat && !fn->was_local)
				LLVMSetComdat(symbol, comdat);
		}
		if (fn->block_address)
			redirect_instructions(fn->f, symbol, fn->interposable);
		else
			redirect_mentions(fn->f, symbol, fn->interposable);
		if (is_owner(p, v))
			build_stub(p, symbol, fn);
	}
	LLVMSetVisibility(fn->f, LLVMDefaultVisibility);
	if (fn->needs_stub && !is_owner(p, v)) {
		LLVMSetLinkage(fn->f, LLVMExternalLinkage);
		LLVMSetVisibility(fn->f, LLVMHiddenVisibility);
	} else {
		LLVMSetLinkage(fn->f, LLVMInternalLinkage);
	}
}

/* All but the owner: variables live there. */
static void strip_variables(struct program *p)
{
	LLVMValueRef next;

	for (LLVMValueRef g = LLVMGetFirstGlobal(p->module); g; g = next) {
		next = LLVMGetNextGlobal(g);
		if (LLVMGetLinkage(g) == LLVMAppendingLinkage ||
		    strncmp(value_name(g), "llvm.", 5) == 0) {
			LLVMDeleteGlobal(g);
			continue;
		}
		if (LLVMIsDeclaration(g) || is_local(g))
			continue;
		LLVMSetComdat(g, NULL);
		if (LLVMIsGlobalConstant(g) && !is_interposable(g)) {
			LLVMSetLinkage(g, LLVMAvailableExternallyLinkage);
		} else {
			LLVMSetInitializer(g, NULL);
			LLVMSetLinkage(g, LLVMExternalLinkage);
		}
	}
}

static void keep_variables(struct program *p)
{
	for_each_global(g, p->module)
	{
		if (LLVMIsDeclaration(g))
			continue;
		LLVMSetLinkage(g, kept_linkage(LLVMGetLinkage(g)));
		/* promoted out of a comdat that another object's copy may displace */
		if (LLVMGetComdat(g) && strstr(value_name(g), ".plait"))
			LLVMSetComdat(g, NULL);
	}
}

/* The function an alias stands for, if it is one of ours. */
static struct fn *alias_function(struct program *p, LLVMValueRef alias)
{
	LLVMValueRef base = LLVMAliasGetAliasee(alias);

	return LLVMIsAFunction(base) ? program_fn(p, base) : NULL;
}

/* Calls of an alias of one of our functions are calls of that function. */
static void resolve_alias_calls(struct program *p)
{
	for (LLVMValueRef a = LLVMGetFirstGlobalAlias(p->module); a;
	     a = LLVMGetNextGlobalAlias(a)) {
		struct fn *fn = alias_function(p, a);
		struct values calls = { 0 };

		if (!fn || is_interposable(a) || fn->interposable)
			continue;
		for (LLVMUseRef u = LLVMGetFirstUse(a); u; u = LLVMGetNextUse(u))
			if (is_call(LLVMGetUser(u)) && LLVMGetCalledValue(LLVMGetUser(u)) == a)
				vec_push(&calls, LLVMGetUser(u));
		for (size_t i = 0; i < calls.len; i++)
			set_callee(calls.data[i], fn->f);
		vec_deinit(&calls);
	}
}

/* All but the owner: an alias becomes a declaration of its name. The C API cannot delete an alias, so
 * it is left local, unused and pointing at a dummy; the optimiser sweeps it up. */
static void strip_aliases(struct program *p)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(p->context);
	LLVMValueRef dummy = NULL;

	for (LLVMValueRef a = LLVMGetFirstGlobalAlias(p->module); a;
	     a = LLVMGetNextGlobalAlias(a)) {
		_cleanup_(xfreep) char *name = xstrdup(value_name(a));
		LLVMValueRef base = LLVMAliasGetAliasee(a), d;

		LLVMSetValueName2(a, "plait.alias", 11);
		if (LLVMIsAFunction(base)) {
			d = declare_like(p->module, base, name);
		} else {
			d = LLVMAddGlobal(p->module, LLVMGlobalGetValueType(a), name);
			LLVMSetThreadLocalMode(d, LLVMGetThreadLocalMode(a));
		}
		LLVMSetVisibility(d, LLVMGetVisibility(a));
		LLVMReplaceAllUsesWith(a, d);
		if (!dummy) {
			dummy = LLVMAddGlobal(p->module, i8, "plait.dummy");
			LLVMSetInitializer(dummy, LLVMConstNull(i8));
			LLVMSetLinkage(dummy, LLVMInternalLinkage);
		}
		LLVMAliasSetAliasee(a, dummy);
		LLVMSetVisibility(a, LLVMDefaultVisibility);
		LLVMSetLinkage(a, LLVMInternalLinkage);
	}
}

/* A resolver runs during relocation, before any choice of variant: it is plain code. */
static void split_ifuncs(struct program *p, int v)
{
	LLVMValueRef next;

	for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(p->module); i; i = next) {
		_cleanup_(xfreep) char *name = xstrdup(value_name(i));
		LLVMValueRef d;

		next = LLVMGetNextGlobalIFunc(i);
		if (is_owner(p, v))
			continue;
		LLVMSetValueName2(i, "plait.ifunc", 11);
		d = LLVMAddFunction(p->module, name, LLVMGlobalGetValueType(i));
		LLVMSetVisibility(d, LLVMGetVisibility(i));
		LLVMReplaceAllUsesWith(i, d);
		LLVMEraseGlobalIFunc(i);
	}
}

static void restore_resolvers(struct program *p, struct values *resolvers)
{
	size_t k = 0;

	for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(p->module); i; i = LLVMGetNextGlobalIFunc(i))
		LLVMSetGlobalIFuncResolver(i, resolvers->data[k++]);
}

void variant_split(struct program *p, int v)
{
	struct values resolvers = { 0 };

	resolve_alias_calls(p);
	if (!is_owner(p, v)) {
		strip_aliases(p);
		LLVMSetModuleInlineAsm2(p->module, "", 0);
		strip_variables(p);
	} else {
		keep_variables(p);
	}
	split_ifuncs(p, v);
	for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(p->module); i; i = LLVMGetNextGlobalIFunc(i))
		vec_push(&resolvers, LLVMGetGlobalIFuncResolver(i));
	for (size_t i = 0; i < p->fns.len; i++)
		split_function(p, &p->fns.data[i], v);
	restore_resolvers(p, &resolvers);
	vec_deinit(&resolvers);
}
