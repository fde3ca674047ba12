/* cc/instrument/graph.c - the graph variant: accesses stay, with a look at the shadow in front.
 *
 * Plain loads and stores look inline (shadow.c); atomics and ranges call the hooks of the full
 * variant, which look themselves. */
#include "cc/instrument/graph.h"

#include "cc/instrument/allocation.h"
#include "cc/instrument/full.h"
#include "cc/instrument/hooks.h"
#include "cc/program.h"

static void look(struct hooks *h, const struct plan *plan, bool write)
{
	LLVMValueRef at = plan->at, value = write ? LLVMGetOperand(at, 0) : at;
	struct shadow_access a = { .write = write,
				   .address = LLVMGetOperand(at, write ? 1 : 0),
				   .bytes = hooks_bytes(h, LLVMTypeOf(value)),
				   .alignment = LLVMGetAlignment(at),
				   .site = hooks_site(h, plan->site) };

	shadow_look(&h->shadow, h->b, LLVMGetBasicBlockParent(LLVMGetInstructionParent(at)), &a);
}

static void graph_one(struct hooks *h, const struct plan *plan)
{
	bool plain = (plan->action == ACT_LOAD || plan->action == ACT_STORE) &&
		     LLVMGetOrdering(plan->at) == LLVMAtomicOrderingNotAtomic;

	if (plain)
		look(h, plan, plan->action == ACT_STORE);
	else
		full_access(h, plan);
}

void graph_at(struct hooks *h, const struct plan *plan)
{
	switch (plan->action) {
	case ACT_BRANCH:
	case ACT_SWITCH:
	case ACT_RESULT:
	case ACT_SCOPE_BEGIN:
	case ACT_SCOPE_END:
		break;
	case ACT_CALL:
		hooks_set_call_site(h, plan->at, plan->site);
		break;
	case ACT_ALLOC:
		allocation_at(h, plan);
		break;
	default:
		if (plan->instrumented)
			graph_one(h, plan);
	}
}
