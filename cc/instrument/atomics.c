/* cc/instrument/atomics.c - see atomics.h.
 *
 * A load becomes a place (places.c): one instruction, over which a run in mode sync writes a jump. Any other
 * atomic stays as it is, with a place in front of it and one behind: ten bytes of nothing until then. */
#include "cc/instrument/atomics.h"

#include "cc/instrument/full.h"
#include "cc/instrument/hooks.h"
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

/* A load through a general register. */
static bool is_one_move(struct hooks *h, LLVMValueRef at)
{
	unsigned n;

	if (!LLVMIsALoadInst(at) ||
	    LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(at, 0))) != 0)
		return false;
	n = hooks_bytes(h, LLVMTypeOf(at));
	return n == 1 || n == 2 || n == 4 || n == 8;
}

static void make_load(struct hooks *h, LLVMValueRef at)
{
	LLVMValueRef v =
		place_sync_load(h->b, LLVMGetOperand(at, 0), hooks_bytes(h, LLVMTypeOf(at)));

	hooks_replace(at, hooks_from_int(h, v, LLVMTypeOf(at)));
}

static void make_places(struct hooks *h, LLVMValueRef at)
{
	place_sync_enter(h->b, LLVMGetOperand(at, LLVMIsAStoreInst(at) ? 1 : 0));
	LLVMPositionBuilderBefore(h->b, LLVMGetNextInstruction(at));
	place_sync_leave(h->b);
}

void atomics_make_places(struct program *p)
{
	struct hooks h = { .p = p, .b = LLVMCreateBuilderInContext(p->context) };

	for (size_t i = 0; i < p->atomics.len; i++) {
		LLVMValueRef at = p->atomics.data[i].at;

		if (!p->atomics.data[i].hooked)
			continue;
		hooks_stand_before(&h, at);
		if (is_one_move(&h, at))
			make_load(&h, at);
		else
			make_places(&h, at);
	}
	hooks_deinit(&h);
}
