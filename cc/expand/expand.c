/* cc/expand/expand.c - accesses inside libraries are accesses.
 *
 * strcpy(d, s) reads and writes memory like any loop of the program; when two threads may share
 * that memory, a schedule must be able to come between two of its bytes, and a recording must say
 * what it read. So a call of a library function on memory that may be shared becomes code of the
 * program, in one of three ways:
 *
 * - A copy of a few words is as many loads and stores (copies.c).
 * - A function that we know is replaced by a body of our own (bodies/), which is always inlined:
 *   its instructions have the line of the call.
 * - Any other function that only looks at an argument, or only fills one, keeps its call and gets
 *   private memory; what it looks at is copied there before, and what it has filled is copied back
 *   afterwards, by a body (arguments.c).
 *
 * Everything else (planning, hooks, recordings, the symbolic machine, which runs the module that is
 * kept in the binary) needs no special case. The analysis is not repeated: it saw the call, with
 * its summary, and that says more about pointers than the loop would. New code finds its addresses
 * in the analysis by the caller's values (cells.c, "code that was put in after the analysis").
 *
 * The plain variant keeps the calls: it was made from the module as it was before. */
#include "cc/expand/expand.h"

#include "base/err.h"
#include "cc/analyse/assembly.h"
#include "cc/analyse/calls.h"
#include "cc/analyse/plan.h"
#include "cc/analyse/summaries.h"
#include "cc/expand/inside.h"
#include "cc/program.h"

#include <stdio.h>
#include <string.h>

extern const unsigned char cc_bodies_bc[];
extern const unsigned int cc_bodies_bc_len;

#define PREFIX "body_"

bool expand_is_hot(struct expand *x, LLVMValueRef ptr)
{
	return LLVMGetTypeKind(LLVMTypeOf(ptr)) == LLVMPointerTypeKind &&
	       !LLVMIsAConstantPointerNull(ptr) && !LLVMIsAFunction(ptr) &&
	       sharing_is_hot(&x->a->sharing, ptr, 0);
}

static LLVMValueRef find_body(struct expand *x, const char *name)
{
	char body[160], *ctor;

	if (snprintf(body, sizeof(body), PREFIX "%s", name) >= (int)sizeof(body))
		return NULL;
	ctor = strstr(body, "EEC1E") ? strstr(body, "EEC1E") : strstr(body, "EED1E");
	if (ctor)
		ctor[3] = '2'; /* the complete one of a class without virtual bases is the base's */
	return LLVMGetNamedFunction(x->bodies, body);
}

/* The body, as the program's module will know it. */
static LLVMValueRef declare_body(struct expand *x, LLVMValueRef body)
{
	LLVMValueRef f = LLVMGetNamedFunction(x->p->module, value_name(body));

	x->used = true;
	return f ? f
		 : LLVMAddFunction(x->p->module, value_name(body), LLVMGlobalGetValueType(body));
}

/* Without a line, inlined code would have none either, and LLVM insists on one. */
static void give_line(struct expand *x, LLVMValueRef call)
{
	LLVMMetadataRef scope =
		LLVMGetSubprogram(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));

	if (scope && !LLVMInstructionGetDebugLoc(call))
		LLVMInstructionSetDebugLoc(
			call, LLVMDIBuilderCreateDebugLocation(x->p->context, 0, 0, scope, NULL));
}

LLVMValueRef expand_call(struct expand *x, const char *name, LLVMValueRef *args, unsigned n)
{
	LLVMValueRef body = find_body(x, name), call;

	assert(body);
	call = LLVMBuildCall2(x->b, LLVMGlobalGetValueType(body), declare_body(x, body), args, n,
			      "");
	give_line(x, call);
	return call;
}

/* Users of a call that will be inlined use this instead; it stays what it is. */
static void keep_result(struct expand *x, LLVMValueRef call)
{
	LLVMTypeRef t = LLVMTypeOf(call);
	LLVMValueRef kept = NULL;
	uint64_t *type;

	if (LLVMGetFirstUse(call)) {
		LLVMPositionBuilderBefore(x->b, call_behind(call));
		LLVMSetCurrentDebugLocation2(x->b, LLVMInstructionGetDebugLoc(call));
		kept = LLVMBuildFreeze(x->b, LLVMGetUndef(t), "");
		LLVMReplaceAllUsesWith(call, kept);
		LLVMSetOperand(kept, 0, call);
		type = map_find(&x->p->variables, (uint64_t)(uintptr_t)call);
		if (type)
			map_put(&x->p->variables, (uint64_t)(uintptr_t)kept, *type);
	}
	pointsto_replace(&x->a->pt, call, kept);
}

static bool types_agree(LLVMValueRef call, LLVMValueRef body)
{
	return LLVMGetCalledFunctionType(call) == LLVMGlobalGetValueType(body);
}

static void use_body(struct expand *x, LLVMValueRef call, LLVMValueRef body)
{
	keep_result(x, call);
	give_line(x, call);
	set_callee(call, declare_body(x, body));
	if (LLVMIsACallInst(call))
		LLVMSetTailCall(call, false);
}

/* llvm.memcpy and friends have a flag more than the functions they are named after. */
static void expand_intrinsic(struct expand *x, LLVMValueRef call)
{
	const char *name = value_name(direct_callee(call));
	bool moves = strncmp(name, "llvm.memmove", 12) == 0, copies = true;
	LLVMTypeRef i32 = LLVMInt32TypeInContext(x->p->context);
	LLVMTypeRef i64 = LLVMInt64TypeInContext(x->p->context);
	LLVMValueRef args[3];

	if (strncmp(name, "llvm.memset", 11) == 0)
		copies = false;
	if (copies_expand(x, call))
		return;
	LLVMPositionBuilderBefore(x->b, call);
	for (unsigned i = 0; i < 3; i++)
		args[i] = LLVMGetOperand(call, i);
	if (!copies)
		args[1] = LLVMBuildZExt(x->b, args[1], i32, "");
	args[2] = LLVMBuildZExtOrBitCast(x->b, args[2], i64, "");
	expand_call(x, !copies ? "memset" : moves ? "memmove" : "memcpy", args, 3);
	LLVMInstructionEraseFromParent(call);
}

/* ---- which calls ---- */

static bool any_hot(struct expand *x, LLVMValueRef call)
{
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
		if (expand_is_hot(x, LLVMGetOperand(call, i)))
			return true;
	return false;
}

/* Functions whose own state is what threads share: whatever they are given. */
static bool has_state(const char *name)
{
	static const char *const names[] = {
		"strtok",  "rand",    "srand",	 "random",    "srandom", "drand48",
		"lrand48", "mrand48", "srand48", "localtime", "gmtime",	 "asctime",
		"ctime",   "getenv",  "setenv",	 "unsetenv",  "putenv",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* They have events of their own, or memory that is theirs alone (a place to jump to). */
static bool is_modelled(const char *name)
{
	static const char *const prefixes[] = {
		"pthread_",
		"sem_",
		"mtx_",
		"cnd_",
		"thrd_",
		"__cxa",
		"plait_",
		"_Unwind_",
		"__asan_",
		"__ubsan_",
		"__tsan_",
		"__sanitizer_",
		"__pthread_",
		"setjmp",
		"_setjmp",
		"__sigsetjmp",
		"longjmp",
		"siglongjmp",
		"_longjmp",
		"__longjmp_chk",
		"__gxx_personality",
		"__clang_call_",
		"_ZNSt6thread",
		"_ZNSt18condition_variable",
		"_ZNSt15__exception_ptr",
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw");
}

static bool is_allocation(LLVMValueRef call)
{
	enum call_kind kind = call_classify(call);

	return kind == CALL_ALLOC || kind == CALL_FREE;
}

static void expand_one(struct expand *x, LLVMValueRef call)
{
	LLVMValueRef f = direct_callee(call), body;
	const char *name = value_name(f);

	body = find_body(x, name);
	if (body && types_agree(call, body) && (!LLVMGetFirstUse(call) || call_behind(call))) {
		use_body(x, call, body);
		return;
	}
	if (!arguments_expand(x, call, name) && !is_allocation(call) && !is_modelled(name))
		names_intern(&x->p->unseen, name);
}

struct calls VEC_FIELDS(LLVMValueRef);

static bool is_external(LLVMValueRef i)
{
	LLVMValueRef f = is_call(i) ? direct_callee(i) : NULL;

	return f && LLVMIsDeclaration(f);
}

static bool wants_expansion(struct expand *x, LLVMValueRef i)
{
	LLVMValueRef f = direct_callee(i);
	enum call_kind kind;

	kind = call_classify(i);
	if (strncmp(value_name(f), "llvm.", 5) == 0)
		return (kind == CALL_MEMCPY || kind == CALL_MEMSET) &&
		       LLVMIsNull(LLVMGetOperand(i, 3)) && any_hot(x, i);
	return has_state(value_name(f)) || any_hot(x, i);
}

/* Arguments behind a va_list are not followed. */
static bool takes_list(const char *name)
{
	return name[0] == 'v' && (strstr(name, "printf") || strstr(name, "scanf"));
}

static bool is_called_by(LLVMValueRef f, LLVMValueRef user)
{
	return LLVMIsAInstruction(user) && is_call(user) && direct_callee(user) == f;
}

/* A library function that is called through a pointer is not looked into. */
static bool is_passed_on(LLVMValueRef f)
{
	for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u))
		if (!is_called_by(f, LLVMGetUser(u)))
			return true;
	return false;
}

static bool is_unseen(LLVMValueRef f)
{
	const char *name = value_name(f);

	if (is_modelled(name))
		return false;
	return takes_list(name) || !state_is_known(name) || (summary_find(name) && is_passed_on(f));
}

static bool has_pointers(LLVMTypeRef t)
{
	if (LLVMGetTypeKind(t) == LLVMVectorTypeKind)
		t = LLVMGetElementType(t);
	return LLVMGetTypeKind(t) == LLVMPointerTypeKind;
}

/* Vector instructions with masks, or with an address for each element: which bytes they touch is not followed, and
 * no analysis sees that they touch any. */
static bool is_masked(LLVMValueRef call, const char *name)
{
	static const char *const harmless[] = {
		"mxcsr", "clflush", "clwb",   "cldemote", "save",
		"rstor", "monitor", "umwait", "rdtscp",	  "prefetch"
	};

	if (strncmp(name, "llvm.x86.", 9) != 0 && strncmp(name, "llvm.masked.", 12) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
		if (strstr(name, harmless[i]))
			return false;
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
		if (has_pointers(LLVMTypeOf(LLVMGetOperand(call, i))))
			return true;
	return false;
}

/* Instructions that the program gives by name. */
static void note_instructions(struct expand *x, LLVMValueRef i)
{
	LLVMValueRef f = is_call(i) ? direct_callee(i) : NULL;

	if (f && is_masked(i, value_name(f)))
		names_intern(&x->p->unseen, value_name(f));
	else if (is_call(i) && LLVMIsAInlineAsm(LLVMGetCalledValue(i)) &&
		 (assembly_may_touch(i) || any_hot(x, i)))
		names_intern(&x->p->unseen, "inline assembly");
}

static void note_unseen(struct expand *x)
{
	for_each_function(f, x->p->module) if (LLVMIsDeclaration(f) && LLVMGetFirstUse(f) &&
					       is_unseen(f))
		names_intern(&x->p->unseen, value_name(f));
	for (size_t k = 0; k < x->p->fns.len; k++)
		for_each_block(b, x->p->fns.data[k].f) for_each_instruction(i, b)
			note_instructions(x, i);
}

/* A plain access of 16 bytes is two of eight. */
static bool is_double_word(struct expand *x, LLVMValueRef i)
{
	bool store = LLVMIsAStoreInst(i) != NULL;
	LLVMTypeRef t;

	if ((!store && !LLVMIsALoadInst(i)) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic)
		return false;
	t = LLVMTypeOf(store ? LLVMGetOperand(i, 0) : i);
	return LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 128 &&
	       expand_is_hot(x, LLVMGetOperand(i, store));
}

/* Every call of a function outside, and those of them and the accesses that are to be expanded. */
static void collect(struct expand *x, struct calls *all, struct calls *ret)
{
	for (size_t k = 0; k < x->p->fns.len; k++)
		if (!x->p->fns.data[k].hands_off)
			for_each_block(b, x->p->fns.data[k].f) for_each_instruction(i, b)
			{
				if (is_double_word(x, i))
					vec_push(ret, i);
				if (!is_external(i))
					continue;
				vec_push(all, i);
				if (wants_expansion(x, i))
					vec_push(ret, i);
			}
}

/* ---- the module of bodies ---- */

static bool is_body(LLVMValueRef f)
{
	return strncmp(value_name(f), PREFIX, sizeof(PREFIX) - 1) == 0;
}

/* Members of C++ classes come under their own names (bodies/string.cpp). */
static void make_body(LLVMValueRef f)
{
	_cleanup_(xfreep) char *name = xasprintf(PREFIX "%s", value_name(f));

	if (is_body(f))
		return;
	LLVMSetValueName2(f, name, strlen(name));
	LLVMSetComdat(f, NULL);
	LLVMSetLinkage(f, LLVMExternalLinkage);
	function_remove_attribute(f, "noinline");
	function_add_attribute(f, "alwaysinline");
}

static struct err *load_bodies(struct expand *x)
{
	LLVMMemoryBufferRef buf = LLVMCreateMemoryBufferWithMemoryRange(
		(const char *)cc_bodies_bc, cc_bodies_bc_len, "bodies", false);
	int bad = LLVMParseBitcodeInContext2(x->p->context, buf, &x->bodies);

	LLVMDisposeMemoryBuffer(buf);
	if (bad)
		return err_new(ERR_ENV, "cannot read the bodies of library functions: %s",
			       x->p->error ? x->p->error : "no reason given");
	LLVMSetTarget(x->bodies, LLVMGetTarget(x->p->module));
	LLVMSetDataLayout(x->bodies, LLVMGetDataLayoutStr(x->p->module));
	for_each_function(f, x->bodies) if (!LLVMIsDeclaration(f)) make_body(f);
	return NULL;
}

/* What the machine can do is up to the caller. */
static void forget_target(LLVMValueRef f)
{
	static const char *const names[] = { "target-cpu", "target-features", "tune-cpu",
					     "frame-pointer" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		LLVMRemoveStringAttributeAtIndex(f, FUNCTION_ATTRIBUTES, names[i],
						 (unsigned)strlen(names[i]));
}

/* Bodies that no code of this module calls, and none of the module they are wanted by. */
static void drop_bodies(LLVMModuleRef m, LLVMModuleRef wanted_by)
{
	bool changed = true;
	LLVMValueRef next;

	while (changed) {
		changed = false;
		for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = next) {
			next = LLVMGetNextFunction(f);
			if (!is_body(f) || LLVMGetFirstUse(f) ||
			    (wanted_by && LLVMGetNamedFunction(wanted_by, value_name(f))))
				continue;
			LLVMDeleteFunction(f);
			changed = true;
		}
	}
}

static struct err *inline_bodies(struct expand *x)
{
	LLVMPassBuilderOptionsRef options;
	LLVMErrorRef bad;

	drop_bodies(x->bodies, x->p->module);
	for_each_function(f, x->bodies) forget_target(f);
	if (LLVMLinkModules2(x->p->module, x->bodies))
		return err_new(ERR_ENV, "cannot add the bodies of library functions: %s",
			       x->p->error ? x->p->error : "no reason given");
	x->bodies = NULL;
	for_each_function(f, x->p->module) if (is_body(f)) LLVMSetLinkage(f, LLVMInternalLinkage);
	options = LLVMCreatePassBuilderOptions();
	bad = LLVMRunPasses(x->p->module, "always-inline", NULL, options);
	LLVMDisposePassBuilderOptions(options);
	if (bad)
		return err_new(ERR_ENV, "cannot inline: %s", LLVMGetErrorMessage(bad));
	drop_bodies(x->p->module, NULL);
	for_each_function(f, x->p->module) if (is_body(f)) return err_new(
		ERR_ENV, "the body of %s could not be inlined", value_name(f) + sizeof(PREFIX) - 1);
	return NULL;
}

struct err *expand_program(struct program *p, struct analysis *a)
{
	struct expand x = { .p = p, .a = a };
	struct calls all = { 0 }, calls = { 0 };
	struct err *err = NULL;

	if (!a->sharing.threaded)
		return NULL;
	collect(&x, &all, &calls);
	note_unseen(&x);
	if (calls.len)
		err = load_bodies(&x);
	x.b = LLVMCreateBuilderInContext(p->context);
	for (size_t i = 0; i < all.len; i++)
		state_access(&x, all.data[i], value_name(direct_callee(all.data[i])));
	for (size_t i = 0; !err && i < calls.len; i++) {
		LLVMValueRef call = calls.data[i];

		if (!is_call(call))
			copies_split(&x, call);
		else if (strncmp(value_name(direct_callee(call)), "llvm.", 5) == 0)
			expand_intrinsic(&x, call);
		else
			expand_one(&x, call);
	}
	LLVMDisposeBuilder(x.b);
	vec_deinit(&calls);
	vec_deinit(&all);
	pointsto_forget_homes(&a->pt);
	if (!err && x.used)
		err = inline_bodies(&x);
	if (x.bodies)
		LLVMDisposeModule(x.bodies);
	return err;
}
