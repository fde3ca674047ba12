/* cc/instrument/order.c - the order variant: accesses that the runtime can patch.
 *
 * A scalar access becomes one instruction at a place (places.c); other accesses keep their code and
 * get a place in front and one behind. Call sites are set as in every variant. */
#include "cc/instrument/order.h"

#include "cc/instrument/hooks.h"
#include "cc/instrument/places.h"
#include "cc/program.h"

#include <string.h>

/* An access whose value passes through a register; the others keep their instruction. */
static void order_scalar(struct hooks *h, const struct plan *plan, struct place place)
{
	LLVMValueRef at = plan->at, v;
	bool atomic = LLVMGetOrdering(at) != LLVMAtomicOrderingNotAtomic;
	unsigned n;

	if (plan->action == ACT_LOAD) {
		n = hooks_bytes(h, LLVMTypeOf(at));
		v = place_load(h->b, LLVMGetOperand(at, 0), n, atomic, place);
		hooks_replace(at, hooks_from_int(h, v, LLVMTypeOf(at)));
		return;
	}
	n = hooks_bytes(h, LLVMTypeOf(LLVMGetOperand(at, 0)));
	v = hooks_to_int(h, LLVMGetOperand(at, 0), n);
	place_store(h->b, LLVMGetOperand(at, 1), v, n, atomic, place);
	LLVMInstructionEraseFromParent(at);
}

/* Every load of this processor is an acquire, every store a release. */
static bool is_one_move(const struct plan *plan)
{
	return plan->action == ACT_LOAD ||
	       (plan->action == ACT_STORE &&
		LLVMGetOrdering(plan->at) != LLVMAtomicOrderingSequentiallyConsistent);
}

static bool is_plain_access(struct hooks *h, const struct plan *plan)
{
	return plan->instrumented && is_one_move(plan) &&
	       LLVMGetOrdering(plan->at) == LLVMAtomicOrderingNotAtomic &&
	       h->p->sites.data[plan->site - 1].element != UINT32_MAX;
}

/* Nothing between two instructions of a block that could wait, or order memory. */
static bool nothing_between(LLVMValueRef from, LLVMValueRef to)
{
	for (LLVMValueRef i = LLVMGetNextInstruction(from); i != to;
	     i = LLVMGetNextInstruction(i)) {
		if (!i || LLVMIsAFenceInst(i) || LLVMIsAAtomicRMWInst(i) ||
		    LLVMIsAAtomicCmpXchgInst(i))
			return false;
		if (is_call(i) &&
		    (!direct_callee(i) || strncmp(value_name(direct_callee(i)), "llvm.", 5) != 0))
			return false;
	}
	return true;
}

/* How many plans from this one on are accesses of one element in a row. */
#define MOST_AT_ONCE 16
static unsigned accesses_in_a_row(struct hooks *h, const struct plan *plan, const struct plan *end)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(plan->at);
	const struct plait_site *sites = h->p->sites.data;
	unsigned n = 1;

	if (!is_plain_access(h, plan))
		return 1;
	for (; plan + n < end && n < MOST_AT_ONCE; n++) {
		const struct plan *next = &plan[n];

		if (!is_plain_access(h, next) || LLVMGetInstructionParent(next->at) != block ||
		    sites[next->site - 1].element != sites[plan->site - 1].element ||
		    !nothing_between(plan[n - 1].at, next->at))
			break;
	}
	return n;
}

/* The first enters, the last leaves; those between are accesses that the optimiser lets be. */
static void order_row(struct hooks *h, const struct plan *plan, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (i > 0 && i < n - 1) {
			LLVMSetVolatile(plan[i].at, true);
			continue;
		}
		hooks_stand_before(h, plan[i].at);
		order_scalar(h, &plan[i], (struct place){ plan->site, n, i == 0, i == n - 1 });
	}
}

static void order_one(struct hooks *h, const struct plan *plan)
{
	hooks_stand_before(h, plan->at);
	switch (plan->action) {
	case ACT_CALL:
		hooks_set_call_site(h, plan->at, plan->site);
		break;
	case ACT_LOAD:
	case ACT_STORE:
	case ACT_RMW:
	case ACT_CAS:
		if (!plan->instrumented)
			break;
		if (is_one_move(plan)) {
			order_scalar(h, plan, (struct place){ plan->site, 1, true, true });
			break;
		}
		place_bare(h->b, (struct place){ plan->site, 1, true, false });
		LLVMPositionBuilderBefore(h->b, LLVMGetNextInstruction(plan->at));
		place_bare(h->b, (struct place){ plan->site, 1, false, true });
		break;
	case ACT_RANGE_READ:
	case ACT_RANGE_WRITE:
		if (plan->instrumented)
			place_bare(h->b, (struct place){ plan->site, 1, true, true });
		break;
	default:
		break;
	}
}

void order_program(struct hooks *h)
{
	const struct plan *plan = h->p->plans.data, *end = plan + h->p->plans.len;

	while (plan < end) {
		unsigned n = accesses_in_a_row(h, plan, end);

		if (n > 1)
			order_row(h, plan, n);
		else
			order_one(h, plan);
		plan += n;
	}
}
