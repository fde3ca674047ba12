/* sym/ir/places.c - where an instruction was written: its line, in the function of that line, and the
 * calls that were inlined around it. */
#include "sym/ir/llvm.h"

#include "base/demangle.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

enum { DI_SCOPE = 1, DI_NAME = 2, OPERANDS_MOST = 64, SCOPES_MOST = 100 };

static uint32_t own_name(struct ir *ir, const char *name, unsigned len)
{
	char *whole = xstrndup(name, len), *own = function_own_name(whole);
	uint32_t id = names_intern(&ir->names, own);

	free(whole);
	free(own);
	return id;
}

/* The function that a scope lies in: lexical blocks have their parent as an operand. */
static uint32_t function_of(struct ir *ir, LLVMMetadataRef scope)
{
	for (int depth = 0; scope && depth < SCOPES_MOST; depth++) {
		LLVMValueRef v = LLVMMetadataAsValue(ir->context, scope), ops[OPERANDS_MOST];
		unsigned n = LLVMGetMDNodeNumOperands(v), len = 0;

		if (n <= DI_SCOPE || n > OPERANDS_MOST)
			break;
		LLVMGetMDNodeOperands(v, ops);
		if (LLVMGetMetadataKind(scope) == LLVMDISubprogramMetadataKind) {
			const char *name =
				ops[DI_NAME] ? LLVMGetMDString(ops[DI_NAME], &len) : NULL;

			return own_name(ir, name ? name : "", len);
		}
		scope = ops[DI_SCOPE] ? LLVMValueAsMetadata(ops[DI_SCOPE]) : NULL;
	}
	return names_intern(&ir->names, "");
}

static uint32_t place_at(struct ir *ir, LLVMMetadataRef location)
{
	uint64_t *known = map_find(&ir->place_of, (uintptr_t)location);
	LLVMMetadataRef outer = LLVMDILocationGetInlinedAt(location);
	struct ir_place p = { .line = LLVMDILocationGetLine(location) };

	if (known)
		return (uint32_t)*known;
	p.function = function_of(ir, LLVMDILocationGetScope(location));
	p.outer = outer ? place_at(ir, outer) : 0;
	if (!ir->places.len)
		vec_add(&ir->places);
	vec_push(&ir->places, p);
	map_put(&ir->place_of, (uintptr_t)location, ir->places.len - 1);
	return (uint32_t)ir->places.len - 1;
}

uint32_t place_of(struct ir *ir, LLVMValueRef instruction)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);

	return location ? place_at(ir, location) : 0;
}
