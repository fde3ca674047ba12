/* cc/instrument/path.c - what re-execution cannot compute: outcomes of branches, values of loads.
 *
 * The full variant records them too, in events of its own. A branch outcome is a bit (bits.c). The
 * successor of a switch is a number; a small local function marked alwaysinline, plait.switch.N,
 * maps the value to it. */
#include "cc/instrument/path.h"

#include "cc/instrument/hooks.h"
#include "cc/program.h"
#include "unplait/hooks.h"

#include <stdio.h>

static LLVMValueRef local_function(struct hooks *h, const char *name, LLVMTypeRef ret, unsigned n,
				   LLVMTypeRef *params)
{
	LLVMValueRef f = LLVMAddFunction(h->m, name, LLVMFunctionType(ret, params, n, 0));

	LLVMSetLinkage(f, LLVMInternalLinkage);
	function_add_attribute(f, "alwaysinline");
	function_add_attribute(f, "nounwind");
	return f;
}

/* Which successor does this switch take? 0 = default, then in IR order. */
static LLVMValueRef switch_index(struct hooks *h, LLVMValueRef sw)
{
	LLVMValueRef value = LLVMGetOperand(sw, 0), f, inner;
	LLVMTypeRef type = LLVMTypeOf(value);
	LLVMBuilderRef b = LLVMCreateBuilderInContext(h->c);
	unsigned n = LLVMGetNumSuccessors(sw);
	LLVMBasicBlockRef entry, other;
	char name[40];

	snprintf(name, sizeof(name), "plait.switch.%u", h->nswitches++);
	f = local_function(h, name, h->i32, 1, &type);
	entry = LLVMAppendBasicBlockInContext(h->c, f, "");
	other = LLVMAppendBasicBlockInContext(h->c, f, "default");
	LLVMPositionBuilderAtEnd(b, other);
	LLVMBuildRet(b, LLVMConstNull(h->i32));
	LLVMPositionBuilderAtEnd(b, entry);
	inner = LLVMBuildSwitch(b, LLVMGetParam(f, 0), other, n);
	for (unsigned i = 1; i < n; i++) {
		LLVMBasicBlockRef block = LLVMAppendBasicBlockInContext(h->c, f, "");

		/* operands: value, default, (case, successor)... */
		LLVMAddCase(inner, LLVMGetOperand(sw, 2 * i), block);
		LLVMPositionBuilderAtEnd(b, block);
		LLVMBuildRet(b, hooks_constant(h, i));
	}
	LLVMDisposeBuilder(b);
	return LLVMBuildCall2(h->b, LLVMGlobalGetValueType(f), f, &value, 1, "");
}

void path_branch(struct hooks *h, const struct plan *plan)
{
	bool full = h->variant == PLAIT_VARIANT_FULL;
	LLVMValueRef t = plan->at, args[2];

	if (!full && !(h->p->sites.data[plan->site - 1].flags & PLAIT_SITE_RECORDED))
		return; /* decided by values that are logged */
	if (plan->action == ACT_SWITCH) {
		args[0] = switch_index(h, t);
		args[1] = full ? hooks_site(h, plan->site)
			       : hooks_constant(h, LLVMGetNumSuccessors(t));
		hooks_call(h, full ? "plait_branch" : "plait_path_switch", h->none, 2, args);
		return;
	}
	args[0] = LLVMIsASelectInst(t) ? LLVMGetOperand(t, 0) : LLVMGetCondition(t);
	args[1] = full ? hooks_site(h, plan->site) : NULL;
	bits_push(&h->bits, h->b, LLVMGetBasicBlockParent(LLVMGetInstructionParent(t)), args[0],
		  args[1]);
}

/* A possibly shared load that feeds an address: log what it read. */
void path_value(struct hooks *h, const struct plan *plan)
{
	LLVMValueRef v = plan->at, f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(v)), arg;
	unsigned n;

	LLVMPositionBuilderBefore(h->b, LLVMGetNextInstruction(v));
	if (plan->action == ACT_CAS) /* its result is a pair */
		v = LLVMBuildExtractValue(h->b, v, 0, "");
	n = hooks_bytes(h, LLVMTypeOf(v));
	arg = hooks_to_int(h, v, n);
	if (h->variant == PLAIT_VARIANT_PATH) {
		values_push(&h->bits, h->b, f, arg, n);
		return;
	}
	arg = LLVMBuildZExtOrBitCast(h->b, arg, h->i64, "");
	hooks_call(h, "plait_path_value", h->none, 1, &arg);
}
