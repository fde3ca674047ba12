/* cc/program.c - merge bitcode, and make every name fit to be shared by three objects.
 *
 * The five variants become five object files that use one set of variables, so whatever was
 * local to a source file becomes hidden, under a name that no other code can mean: NAME.plait.
 * (A hidden symbol called `log` would be found by a static libc.) Constants whose address does not
 * matter stay local; each variant keeps its own copy. */
#include "cc/program.h"

#include "base/err.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "cc/instrument/assembly.h"
#include "cc/driver/objects.h"
#include "cc/analyse/types.h"
#include "cc/instrument/wrap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *context)
{
	struct program *p = context;
	char *text;

	if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
		return;
	text = LLVMGetDiagInfoDescription(info);
	free(p->error);
	p->error = xstrdup(text);
	LLVMDisposeMessage(text);
}

static struct err *llvm_error(struct program *p, const char *what, const struct object *o)
{
	return err_new(ERR_ENV, "%s %s%s%s%s: %s", what, o->path, o->member ? "(" : "",
		       o->member ? o->member : "", o->member ? ")" : "",
		       p->error ? p->error : "no reason given");
}

struct err *program_load(struct program *p, struct object_list *objects)
{
	if (!getcwd(p->folder, sizeof(p->folder)))
		p->folder[0] = '\0';
	p->context = LLVMContextCreate();
	LLVMContextSetDiagnosticHandler(p->context, on_diagnostic, p);
	for (size_t i = 0; i < objects->len; i++) {
		struct object *o = &objects->data[i];

		for (size_t j = 0; j < o->blobs.len; j++) {
			LLVMMemoryBufferRef buf = LLVMCreateMemoryBufferWithMemoryRange(
				(const char *)o->blobs.data[j].data, o->blobs.data[j].len, o->path,
				false);
			LLVMModuleRef m;
			int bad = LLVMParseBitcodeInContext2(p->context, buf, &m);

			LLVMDisposeMemoryBuffer(buf);
			if (bad)
				return llvm_error(p, "cannot read the bitcode of", o);
			if (!p->module)
				p->module = m;
			else if (LLVMLinkModules2(p->module, m))
				return llvm_error(p, "cannot merge the bitcode of", o);
		}
	}
	p->layout = LLVMGetModuleDataLayout(p->module);
	return NULL;
}

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

static bool has_attribute(LLVMValueRef f, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	return LLVMGetEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
					   kind) != NULL;
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
	if (fn->was_local)
		promote(f);
	fn->name = xstrdup(value_name(f));
	/* whoever uses an inline function has a copy of his own */
	fn->needs_stub = !fn->was_local && LLVMGetLinkage(f) != LLVMLinkOnceODRLinkage;
	fn->hands_off = has_attribute(f, "naked");
	look_at_uses(fn);
}

struct err *program_prepare(struct program *p)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef bad;

	assembly_raise(p->module, p->layout);
	wrap_inputs(p->module);
	types_collect(p);
	bad = LLVMRunPasses(p->module, "elim-avail-extern", NULL, options);

	LLVMDisposePassBuilderOptions(options);
	if (bad) {
		char *text = LLVMGetErrorMessage(bad);
		struct err *err = err_new(ERR_ENV, "cannot prepare the bitcode: %s", text);

		LLVMDisposeErrorMessage(text);
		return err;
	}
	for_each_global(g, p->module) if (is_local(g) && !is_reserved(value_name(g)) &&
					  !stays_local(g)) promote(g);
	for (LLVMValueRef a = LLVMGetFirstGlobalAlias(p->module); a; a = LLVMGetNextGlobalAlias(a))
		if (is_local(a))
			promote(a);
	for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(p->module); i; i = LLVMGetNextGlobalIFunc(i))
		if (is_local(i))
			promote(i);
	for_each_function(f, p->module) if (!LLVMIsDeclaration(f)) list_function(p, f);
	return NULL;
}

bool program_is_exported(const struct program *p, LLVMValueRef global)
{
	const char *name = value_name(global);

	if (is_local(global) || LLVMIsDeclaration(global) || strcmp(name, "main") == 0)
		return false;
	if (p->library)
		return LLVMGetVisibility(global) == LLVMDefaultVisibility;
	return names_find(&p->external_refs, name) != NAMES_NONE;
}

struct err *program_write_bitcode(struct program *p, const char *path)
{
	LLVMMemoryBufferRef buf = LLVMWriteBitcodeToMemoryBuffer(p->module);
	size_t len = LLVMGetBufferSize(buf), cap = ZSTD_compressBound(len), n;
	void *out = xmalloc(cap);
	struct err *err;

	n = ZSTD_compress(out, cap, LLVMGetBufferStart(buf), len, 3);
	if (ZSTD_isError(n))
		err = err_new(ERR_ENV, "cannot compress the bitcode: %s", ZSTD_getErrorName(n));
	else
		err = file_write(path, out, n);
	free(out);
	LLVMDisposeMemoryBuffer(buf);
	return err;
}

void program_deinit(struct program *p)
{
	for (size_t i = 0; i < p->fns.len; i++)
		free(p->fns.data[i].name);
	vec_deinit(&p->fns);
	map_deinit(&p->fn_index);
	map_deinit(&p->variables);
	vec_deinit(&p->plans);
	vec_deinit(&p->sites);
	vec_deinit(&p->elements);
	names_deinit(&p->strings);
	names_deinit(&p->external_refs);
	free(p->error);
	if (p->module)
		LLVMDisposeModule(p->module);
	if (p->context)
		LLVMContextDispose(p->context);
}

unsigned scalar_size(LLVMTypeRef t)
{
	switch (LLVMGetTypeKind(t)) {
	case LLVMPointerTypeKind:
		return LLVMGetPointerAddressSpace(t) == 0 ? 8 : 0;
	case LLVMFloatTypeKind:
		return 4;
	case LLVMDoubleTypeKind:
		return 8;
	case LLVMHalfTypeKind:
	case LLVMBFloatTypeKind:
		return 2;
	case LLVMIntegerTypeKind:
		switch (LLVMGetIntTypeWidth(t)) {
		case 1:
		case 8:
			return 1;
		case 16:
			return 2;
		case 32:
			return 4;
		case 64:
			return 8;
		}
		return 0;
	default:
		return 0;
	}
}
