/* cc/analyse/inline.c - what a small function of the C++ library does, its caller does.
 *
 * Without optimisation every access of a std::atomic, every element of a std::vector and every lock
 * of a std::mutex is in a function of its own, in a header of the system. A report would then name
 * a line of that header for all of them. Inlined, the access has the caller's line and the name of
 * the caller's object, as it has in optimised code. Large functions stay calls. */
#include "cc/analyse/inline.h"

#include "base/err.h"
#include "base/path.h"
#include "cc/program.h"

#include <string.h>

/* A compare-and-exchange has about seventy: one for each pair of memory orders. What calls many
 * others is no mere accessor. */
enum { MOST_INSTRUCTIONS = 80, MOST_CALLS = 4 };

static bool is_of_system(LLVMValueRef f)
{
	LLVMMetadataRef sp = LLVMGetSubprogram(f), file = sp ? LLVMDIScopeGetFile(sp) : NULL;
	unsigned len = 0;
	const char *name = file ? LLVMDIFileGetFilename(file, &len) : NULL;

	return name && len && path_is_system(name);
}

static bool is_small(LLVMValueRef f)
{
	unsigned instructions = 0, calls = 0;

	for_each_block(b, f) for_each_instruction(i, b)
	{
		LLVMValueRef callee = is_call(i) ? direct_callee(i) : NULL;

		if (callee == f)
			return false;
		calls += is_call(i) && !(callee && LLVMGetIntrinsicID(callee));
		if (++instructions > MOST_INSTRUCTIONS || calls > MOST_CALLS)
			return false;
	}
	return true;
}

/* Only what the compiler was told not to optimise: elsewhere it has decided already. */
static bool fits(LLVMValueRef f)
{
	return !LLVMIsDeclaration(f) && function_attribute(f, "optnone") && is_of_system(f) &&
	       (LLVMGetLinkage(f) == LLVMLinkOnceODRLinkage || is_local(f)) &&
	       !function_attribute(f, "naked") && is_small(f);
}

struct err *inline_library(struct program *p)
{
	LLVMPassBuilderOptionsRef options;
	LLVMErrorRef bad;
	struct err *err = NULL;
	bool any = false;

	for_each_function(f, p->module)
	{
		if (!fits(f))
			continue;
		any = true;
		function_remove_attribute(f, "optnone");
		function_remove_attribute(f, "noinline");
		function_add_attribute(f, "alwaysinline");
	}
	if (!any)
		return NULL;
	options = LLVMCreatePassBuilderOptions();
	bad = LLVMRunPasses(p->module, "always-inline", NULL, options);
	LLVMDisposePassBuilderOptions(options);
	if (bad) {
		char *text = LLVMGetErrorMessage(bad);

		err = err_new(ERR_ENV, "cannot inline the library's functions: %s", text);
		LLVMDisposeErrorMessage(text);
	}
	return err;
}
