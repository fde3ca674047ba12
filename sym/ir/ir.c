/* sym/ir/ir.c - from bitcode to a module of our own: link the models, number functions and globals.
 *
 * The models of the C library (models/libc) are themselves bitcode, linked weakly: a program that
 * brings its own strlen keeps it. Bodies are translated by func.c when they are first called. */
#include "sym/ir/ir.h"

#include "base/err.h"
#include "base/file.h"
#include "sym/ir/llvm.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <string.h>

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *arg)
{
	char **text = arg;
	char *message = LLVMGetDiagInfoDescription(info);

	if (LLVMGetDiagInfoSeverity(info) == LLVMDSError && !*text)
		*text = xstrdup(message);
	LLVMDisposeMessage(message);
}

/* The program's own definitions win over ours. */
static void weaken(LLVMModuleRef models)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(models); f; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) == LLVMExternalLinkage)
			LLVMSetLinkage(f, LLVMWeakAnyLinkage);
	for (LLVMValueRef g = LLVMGetFirstGlobal(models); g; g = LLVMGetNextGlobal(g))
		if (!LLVMIsDeclaration(g) && LLVMGetLinkage(g) == LLVMExternalLinkage)
			LLVMSetLinkage(g, LLVMWeakAnyLinkage);
}

static void add_function(struct ir *ir, LLVMValueRef v)
{
	struct function *f = arena_new(&ir->arena, struct function);
	LLVMTypeRef type = LLVMGlobalGetValueType(v);
	struct parts parts = { 0 };
	size_t len;

	f->name = arena_strdup(&ir->arena, LLVMGetValueName2(v, &len));
	f->index = (uint32_t)ir->functions.len;
	f->declared_only = LLVMIsDeclaration(v);
	f->variadic = LLVMIsFunctionVarArg(type);
	f->nret = type_regs(ir, LLVMGetReturnType(type));
	if (f->nret == 1 && type_parts(ir, LLVMGetReturnType(type), 0, &parts))
		f->ret_w = parts.data[0].w;
	f->ret_pointer = LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMPointerTypeKind;
	vec_deinit(&parts);
	for (unsigned i = 0; i < LLVMCountParams(v); i++)
		f->nparams += type_regs(ir, LLVMTypeOf(LLVMGetParam(v, i)));
	f->llvm = v;
	*map_put(&ir->by_llvm, (uintptr_t)v, 0) = f->index;
	vec_push(&ir->functions, f);
}

static void add_global(struct ir *ir, LLVMValueRef v)
{
	struct global *g = vec_add(&ir->globals);
	size_t len;

	g->name = arena_strdup(&ir->arena, LLVMGetValueName2(v, &len));
	g->size = LLVMIsDeclaration(v) && !LLVMTypeIsSized(LLVMGlobalGetValueType(v))
			  ? 0
			  : type_size(ir, LLVMGlobalGetValueType(v));
	g->readonly = LLVMIsGlobalConstant(v);
	g->tls = LLVMIsThreadLocal(v);
	g->foreign = LLVMIsDeclaration(v);
	g->llvm = v;
	if (g->tls)
		g->tls_index = ir->ntls++;
	else
		g->address = object_address((uint32_t)ir->globals.len);
	*map_put(&ir->by_llvm, (uintptr_t)v, 0) = ir->globals.len - 1;
}

static struct err *fill_globals(struct ir *ir)
{
	for (size_t i = 0; i < ir->globals.len; i++) {
		struct global *g = &ir->globals.data[i];
		LLVMValueRef init = LLVMGetInitializer(g->llvm);
		const char *why = NULL;

		if (!init || LLVMIsNull(init) || !strncmp(g->name, "llvm.", 5))
			continue;
		g->init = arena_alloc(&ir->arena, g->size + 16);
		if (!const_bytes(ir, init, g->init, &why))
			return err_new(ERR_ENV,
				       "the initial value of %s contains %s: not supported",
				       g->name, why);
	}
	return NULL;
}

/* llvm.global_ctors and llvm.global_dtors are arrays of { priority, function, data }. */
static void find_by_priority(struct ir *ir, const char *list, struct numbers *ret)
{
	LLVMValueRef g = LLVMGetNamedGlobal(ir->llvm, list);
	LLVMValueRef init = g ? LLVMGetInitializer(g) : NULL;
	unsigned n = init ? (unsigned)LLVMGetArrayLength2(LLVMTypeOf(init)) : 0;
	uint64_t last = 0;

	/* by priority, in order within one */
	for (bool more = n > 0; more;) {
		uint64_t next = UINT64_MAX;

		more = false;
		for (unsigned i = 0; i < n; i++) {
			LLVMValueRef e = LLVMGetAggregateElement(init, i);
			uint64_t p = LLVMConstIntGetZExtValue(LLVMGetAggregateElement(e, 0)) + 1;
			LLVMValueRef fn = LLVMGetAggregateElement(e, 1);

			if (p == last && LLVMIsAFunction(fn))
				vec_push(ret, ir_function_of(ir, fn)->index);
			if (p > last && p < next) {
				next = p;
				more = true;
			}
		}
		last = next;
	}
}

/* Does it call anything of the C++ library? */
static bool needs_cxx(LLVMModuleRef program)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(program); f; f = LLVMGetNextFunction(f)) {
		size_t len;
		const char *name = LLVMGetValueName2(f, &len);

		if (LLVMIsDeclaration(f) &&
		    (!strncmp(name, "_Z", 2) || !strncmp(name, "__cxa_", 6)))
			return true;
	}
	return false;
}

static struct err *link_models(struct ir *ir, const struct ir_piece *library, char **diagnostic)
{
	LLVMModuleRef models = NULL;
	struct err *err = ir_parse(ir, library, diagnostic, &models);

	if (err)
		return err;
	weaken(models);
	LLVMSetDataLayout(models, LLVMGetDataLayoutStr(ir->llvm));
	LLVMSetTarget(models, LLVMGetTarget(ir->llvm));
	return LLVMLinkModules2(ir->llvm, models)
		       ? err_new(ERR_ENV, "the program does not fit the model library: %s",
				 *diagnostic ? *diagnostic : "link failed")
		       : NULL;
}

static struct err *load(struct ir *ir, const struct ir_piece *pieces, size_t n, char **diagnostic)
{
	const struct ir_piece libc = { sym_models_bc, sym_models_bc_len,
				       "the built-in model library" };
	const struct ir_piece cxx = { sym_models_cxx_bc, sym_models_cxx_bc_len,
				      "the built-in models of C++" };
	LLVMModuleRef program;
	struct err *err;
	struct map own = { 0 };

	err = ir_join(ir, pieces, n, diagnostic, &own);
	if (!err && needs_cxx(ir->llvm))
		err = link_models(ir, &cxx, diagnostic);
	if (!err)
		err = link_models(ir, &libc, diagnostic);
	if (err) {
		map_deinit(&own);
		return err;
	}
	program = ir->llvm;
	ir->layout = LLVMCreateTargetData(LLVMGetDataLayoutStr(program));
	for (LLVMValueRef g = LLVMGetFirstGlobal(program); g; g = LLVMGetNextGlobal(g))
		add_global(ir, g);
	for (LLVMValueRef f = LLVMGetFirstFunction(program); f; f = LLVMGetNextFunction(f)) {
		struct function *last;

		add_function(ir, f);
		last = *vec_last(&ir->functions);
		last->body = (uint32_t)map_get_or(&own, (uintptr_t)f, UINT32_MAX);
		last->is_model = !LLVMIsDeclaration(f) && last->body == UINT32_MAX;
	}
	map_deinit(&own);
	find_by_priority(ir, "llvm.global_ctors", &ir->constructors);
	find_by_priority(ir, "llvm.global_dtors", &ir->destructors);
	return fill_globals(ir);
}

struct err *ir_load(const struct ir_piece *pieces, size_t n, struct ir **ret)
{
	struct ir *ir = xcalloc(1, sizeof(*ir));
	_cleanup_(xfreep) char *diagnostic = NULL;
	struct err *err;

	ir->context = LLVMContextCreate();
	LLVMContextSetDiagnosticHandler(ir->context, on_diagnostic, &diagnostic);
	err = load(ir, pieces, n, &diagnostic);
	LLVMContextSetDiagnosticHandler(ir->context, NULL, NULL);
	if (err) {
		ir_free(ir);
		return err;
	}
	*ret = ir;
	return NULL;
}

/* clang marks every function that it compiles with -O0. */
bool ir_is_optimised(const struct ir *ir)
{
	unsigned optnone = LLVMGetEnumAttributeKindForName("optnone", 7);
	LLVMValueRef f = LLVMGetNamedFunction(ir->llvm, "main");

	return f && !LLVMIsDeclaration(f) &&
	       !LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, optnone);
}

void ir_free(struct ir *ir)
{
	if (!ir)
		return;
	if (ir->layout)
		LLVMDisposeTargetData(ir->layout);
	if (ir->llvm)
		LLVMDisposeModule(ir->llvm);
	if (ir->context)
		LLVMContextDispose(ir->context);
	vec_deinit(&ir->functions);
	vec_deinit(&ir->globals);
	vec_deinit(&ir->tables);
	vec_deinit(&ir->args);
	vec_deinit(&ir->landings);
	vec_deinit(&ir->types);
	vec_deinit(&ir->messages);
	vec_deinit(&ir->relatives);
	vec_deinit(&ir->constructors);
	vec_deinit(&ir->destructors);
	names_deinit(&ir->files);
	names_deinit(&ir->names);
	vec_deinit(&ir->places);
	map_deinit(&ir->place_of);
	map_deinit(&ir->by_llvm);
	arena_deinit(&ir->arena);
	free(ir);
}

uint32_t ir_find_function(const struct ir *ir, const char *name)
{
	LLVMValueRef f = LLVMGetNamedFunction(ir->llvm, name);

	return f ? (uint32_t)map_get_or(&ir->by_llvm, (uintptr_t)f, UINT32_MAX) : UINT32_MAX;
}

uint32_t ir_find_global(const struct ir *ir, const char *name)
{
	LLVMValueRef g = LLVMGetNamedGlobal(ir->llvm, name);

	return g ? (uint32_t)map_get_or(&ir->by_llvm, (uintptr_t)g, UINT32_MAX) : UINT32_MAX;
}

struct function *ir_function_at(const struct ir *ir, uint64_t address)
{
	uint64_t i = (address & ~FUNC_TAG) >> 4;

	if ((address & FUNC_TAG) == 0 || (address & 15) || i == 0 || i > ir->functions.len)
		return NULL;
	return ir->functions.data[i - 1];
}

const char *ir_where(const struct ir *ir, const struct function *f, uint32_t pc, char *buf,
		     size_t len)
{
	const struct op_src *src = f->src && pc < f->nops ? &f->src[pc] : NULL;

	if (src && src->line && src->file != NAMES_NONE)
		snprintf(buf, len, "%s:%u", ir->files.text[src->file], src->line);
	else
		snprintf(buf, len, "%s+%u", f->name, src ? src->ir : 0);
	return buf;
}

const char *op_name(enum opcode code)
{
	static const char *const names[] = {
#define OP(name) #name,
#include "sym/ir/ops.def"
#undef OP
	};

	return code < OP_COUNT ? names[code] : "?";
}

const char *ir_constant_text(const struct ir *ir, const struct function *f, int32_t r)
{
	uint64_t address;
	uint32_t id;

	if (r >= 0 || (int64_t)f->nconst + r < 0)
		return NULL;
	address = f->consts[(int64_t)f->nconst + r];
	id = (uint32_t)(address >> 32) & 0x3fffffff;
	if (!(address & ADDR_TAG) || !id || id > ir->globals.len || address != object_address(id) ||
	    !ir->globals.data[id - 1].init)
		return NULL;
	return memchr(ir->globals.data[id - 1].init, 0, ir->globals.data[id - 1].size)
		       ? (const char *)ir->globals.data[id - 1].init
		       : NULL;
}
