/* cc/instrument/atomics.c - see atomics.h.
 *
 * The instruction stays as it is, with a place in front of it and one behind (places.c): ten bytes of nothing
 * until a run in mode sync writes jumps over them. */
#include "cc/instrument/atomics.h"

#include "cc/instrument/full.h"
#include "cc/instrument/places.h"
#include "cc/program.h"

#include <string.h>

static bool is_atomic(LLVMValueRef i)
{
	unsigned opcode = LLVMGetInstructionOpcode(i);

	return opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg ||
	       ((opcode == LLVMLoad || opcode == LLVMStore) &&
		LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic);
}

void atomics_collect(struct program *p)
{
	for (size_t i = 0; i < p->fns.len; i++)
		for_each_block(b, p->fns.data[i].f) for_each_instruction(in, b)
		{
			if (is_atomic(in))
				vec_push(&p->atomics, ((struct atomic){ .at = in }));
		}
}

/* Does full announce it as an atomic event? */
static bool has_hook(const struct plan *plan)
{
	switch (plan->action) {
	case ACT_LOAD:
	case ACT_STORE:
		return plan->instrumented && is_atomic(plan->at);
	case ACT_RMW:
		return plan->instrumented && full_has_rmw(plan->at);
	case ACT_CAS:
		return plan->instrumented;
	default:
		return false;
	}
}

void atomics_decide(struct program *p)
{
	struct map hooked = { 0 };

	for (size_t i = 0; i < p->plans.len; i++)
		if (has_hook(&p->plans.data[i]))
			map_put(&hooked, (uint64_t)(uintptr_t)p->plans.data[i].at, 1);
	for (size_t i = 0; i < p->atomics.len; i++)
		p->atomics.data[i].hooked =
			map_find(&hooked, (uint64_t)(uintptr_t)p->atomics.data[i].at) != NULL;
	map_deinit(&hooked);
}

void atomics_make_places(struct program *p)
{
	LLVMBuilderRef b = LLVMCreateBuilderInContext(p->context);

	for (size_t i = 0; i < p->atomics.len; i++) {
		LLVMValueRef at = p->atomics.data[i].at;

		if (!p->atomics.data[i].hooked)
			continue;
		LLVMPositionBuilderBefore(b, at);
		place_sync_enter(b, LLVMGetOperand(at, LLVMIsAStoreInst(at) ? 1 : 0));
		LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(at));
		place_sync_leave(b);
	}
	LLVMDisposeBuilder(b);
}
