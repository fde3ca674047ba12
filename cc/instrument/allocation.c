/* cc/instrument/allocation.c - allocation goes through libplait, or is noted there. */
#include "cc/instrument/allocation.h"

#include "cc/analyse/calls.h"
#include "cc/instrument/hooks.h"
#include "cc/program.h"

static void redirect(struct hooks *h, LLVMValueRef call, const char *ours)
{
	LLVMValueRef f = LLVMGetNamedFunction(h->m, ours);

	if (!f)
		f = LLVMAddFunction(h->m, ours, LLVMGetCalledFunctionType(call));
	set_callee(call, f);
}

void allocation_at(struct hooks *h, const struct plan *plan)
{
	LLVMValueRef call = plan->at, f = direct_callee(call), args[2];
	const char *name = value_name(f), *ours = call_redirection(name);

	hooks_set_call_site(h, call, plan->site);
	if (ours) {
		redirect(h, call, ours);
	} else if (call_is_delete(name)) {
		args[0] = LLVMGetOperand(call, 0);
		hooks_call(h, "plait_note_free", h->none, 1, args);
	} else if (hooks_stand_after(h, call) &&
		   LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind) {
		args[0] = call;
		args[1] = call_is_new(name) ? LLVMGetOperand(call, 0) : LLVMConstNull(h->i64);
		hooks_call(h, "plait_note_alloc", h->none, 2, args);
	}
}
