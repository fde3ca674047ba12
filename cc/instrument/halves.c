/* cc/instrument/halves.c - see halves.h.
 *
 * Whether a function gets optimised code is decided one by one ("optnone"), but which register
 * allocator LLVM uses is decided for a module, and the good one takes longer for a function full of
 * calls than everything else that is done with it. So those functions go into a module of their
 * own. What was local is hidden afterwards, under a name with the variant's suffix; each half has a
 * copy of the constants it uses. */
#include "cc/instrument/halves.h"

#include "base/err.h"
#include "base/mem.h"
#include "cc/llvm.h"

#include <string.h>

/* Not worth a second object for less. */
#define FEW 64

/* Labels whose addresses are taken lie in tables that must stay with their function. */
static bool has_block_address(LLVMValueRef f)
{
	for_each_block(b, f) for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(b)); u;
				  u = LLVMGetNextUse(u))
	{
		if (LLVMIsABlockAddress(LLVMGetUser(u)))
			return true;
	}
	return false;
}

bool halves_are_worth_it(LLVMModuleRef m)
{
	unsigned marked = 0;

	for_each_function(f, m)
	{
		if (LLVMIsDeclaration(f))
			continue;
		marked += function_attribute(f, "optnone") != NULL;
		if (function_attribute(f, "sanitize_address") || has_block_address(f))
			return false;
	}
	return marked >= FEW;
}

/* The other half is to find it. */
static void publish(LLVMValueRef f, const char *suffix)
{
	_cleanup_(xfreep) char *name = NULL;

	if (!is_local(f))
		return;
	if (!strstr(value_name(f), suffix)) {
		name = xasprintf("%s%s", value_name(f), suffix);
		LLVMSetValueName2(f, name, strlen(name));
	}
	LLVMSetLinkage(f, LLVMExternalLinkage);
	LLVMSetVisibility(f, LLVMHiddenVisibility);
}

void halves_publish(LLVMModuleRef m, const char *suffix)
{
	for_each_function(f, m) if (!LLVMIsDeclaration(f)) publish(f, suffix);
}

struct err *halves_keep(LLVMModuleRef m, bool marked)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef bad;

	for_each_function(f, m)
	{
		if (!LLVMIsDeclaration(f) && (function_attribute(f, "optnone") != NULL) != marked)
			LLVMSetLinkage(f, LLVMAvailableExternallyLinkage);
	}
	bad = LLVMRunPasses(m, "elim-avail-extern,globaldce", NULL, options);
	LLVMDisposePassBuilderOptions(options);
	return bad ? err_new(ERR_ENV, "cannot split: %s", LLVMGetErrorMessage(bad)) : NULL;
}
