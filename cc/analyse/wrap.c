/* cc/analyse/wrap.c - functions that bring something in from outside, called through pointers.
 *
 * A direct call of read() is a site, and what it returned is recorded. A call through a pointer
 * could reach anything, so nothing is recorded there, and a program that keeps its system calls in
 * a table (sqlite does) could not be followed. So code that takes the address of such a function is
 * given the address of a function of our own that calls it directly. This happens before anything
 * looks at the module: the bitcode in the binary has the wrapper, too.
 *
 * Functions with variable arguments cannot be passed on in general; those of system calls take one
 * more argument at most. */
#include "cc/analyse/wrap.h"

#include "base/mem.h"
#include "base/vec.h"
#include "cc/analyse/calls.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 16 };

static bool takes_one_more(const char *name)
{
	static const char *const names[] = { "open",  "open64",	 "openat", "openat64",
					     "fcntl", "fcntl64", "ioctl" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static bool is_callee(LLVMValueRef user, LLVMValueRef f)
{
	if (!is_call(user) || LLVMGetCalledValue(user) != f)
		return false;
	for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
		if (LLVMGetOperand(user, i) == f)
			return false;
	return true;
}

static bool has_its_address_taken(LLVMValueRef f)
{
	for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u))
		if (!is_callee(LLVMGetUser(u), f))
			return true;
	return false;
}

/* A function that calls f with its own arguments. NULL when it cannot be written. */
static LLVMValueRef make_wrapper(LLVMModuleRef m, LLVMValueRef f)
{
	LLVMContextRef c = LLVMGetModuleContext(m);
	LLVMTypeRef type = LLVMGlobalGetValueType(f), own, params[MAX_PARAMS];
	LLVMValueRef wrapper, args[MAX_PARAMS], result;
	unsigned n = LLVMCountParamTypes(type);
	bool more = LLVMIsFunctionVarArg(type);
	LLVMBuilderRef b;
	char *name;

	if (n + 1 > MAX_PARAMS || (more && !takes_one_more(value_name(f))))
		return NULL;
	LLVMGetParamTypes(type, params);
	if (more)
		params[n++] = LLVMInt64TypeInContext(c);
	own = LLVMFunctionType(LLVMGetReturnType(type), params, n, 0);
	name = xasprintf("%s.through", value_name(f));
	wrapper = LLVMAddFunction(m, name, own);
	free(name);
	LLVMSetLinkage(wrapper, LLVMInternalLinkage);
	b = LLVMCreateBuilderInContext(c);
	LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(c, wrapper, ""));
	LLVMGetParams(wrapper, args);
	result = LLVMBuildCall2(b, type, f, args, n, "");
	if (LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind)
		LLVMBuildRetVoid(b);
	else
		LLVMBuildRet(b, result);
	LLVMDisposeBuilder(b);
	return wrapper;
}

/* Direct calls stay as they are. */
static void keep_calls(LLVMValueRef f, LLVMValueRef wrapper)
{
	VEC(LLVMValueRef) users = { 0 };

	for (LLVMUseRef u = LLVMGetFirstUse(wrapper); u; u = LLVMGetNextUse(u))
		vec_push(&users, LLVMGetUser(u));
	for (size_t k = 0; k < users.len; k++) {
		LLVMValueRef i = users.data[k];

		if (is_call(i) && LLVMGetCalledValue(i) == wrapper)
			LLVMSetOperand(i, (unsigned)LLVMGetNumOperands(i) - 1, f);
	}
	vec_deinit(&users);
}

void wrap_inputs(LLVMModuleRef m)
{
	for_each_function(f, m)
	{
		LLVMValueRef wrapper;

		if (call_classify_function(f) != CALL_INPUT || is_interposable(f) ||
		    !has_its_address_taken(f))
			continue;
		wrapper = make_wrapper(m, f);
		if (!wrapper)
			continue;
		LLVMReplaceAllUsesWith(f, wrapper);
		keep_calls(f, wrapper);
	}
}
