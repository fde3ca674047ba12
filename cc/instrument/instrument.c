/* cc/instrument/instrument.c - carry out the plans of a program in one variant.
 *
 * full.c, path.c, graph.c and order.c say what a variant does at an instruction. Common to all: the
 * site is stored before external calls (hooks.c); common to all but order: allocation goes through
 * libplait (allocation.c). */
#include "cc/instrument/instrument.h"

#include "base/mem.h"
#include "cc/instrument/allocation.h"
#include "cc/instrument/atomics.h"
#include "cc/instrument/full.h"
#include "cc/instrument/graph.h"
#include "cc/instrument/hooks.h"
#include "cc/instrument/inputs.h"
#include "cc/instrument/machine.h"
#include "cc/instrument/order.h"
#include "cc/instrument/path.h"
#include "cc/instrument/scopes.h"
#include "cc/program.h"
#include "unplait/hooks.h"

#include <string.h>

static void one(struct hooks *h, const struct plan *plan)
{
	hooks_stand_before(h, plan->at);
	if (h->variant == PLAIT_VARIANT_GRAPH) {
		graph_at(h, plan);
		return;
	}
	switch (plan->action) {
	case ACT_BRANCH:
	case ACT_SWITCH:
		path_branch(h, plan);
		break;
	case ACT_CALL:
		hooks_set_call_site(h, plan->at, plan->site);
		if (h->p->sites.data[plan->site - 1].kind == PLAIT_SITE_INPUT)
			inputs_record(h, plan);
		break;
	case ACT_RESULT:
		inputs_record(h, plan);
		break;
	case ACT_ALLOC:
		allocation_at(h, plan);
		break;
	case ACT_SCOPE_BEGIN:
	case ACT_SCOPE_END:
		if (h->variant == PLAIT_VARIANT_FULL)
			scopes_at(h, plan);
		break;
	default:
		if (h->variant == PLAIT_VARIANT_FULL && plan->instrumented)
			full_access(h, plan);
		else if (h->p->sites.data[plan->site - 1].flags & PLAIT_SITE_FEEDS_ADDRESS)
			path_value(h, plan);
	}
}

/* What the optimiser proved about a function is no longer true once it calls hooks. */
static void forget_effects(struct program *p)
{
	static const char *const names[] = { "memory",	   "nosync",	   "nofree",
					     "willreturn", "speculatable", "norecurse" };

	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		unsigned kind = attribute_kind(names[k]);

		for (size_t i = 0; i < p->fns.len; i++) {
			LLVMValueRef f = p->fns.data[i].f;

			LLVMRemoveEnumAttributeAtIndex(f, FUNCTION_ATTRIBUTES, kind);
			for_each_block(b, f) for_each_instruction(in, b)
			{
				LLVMValueRef c = is_call(in) ? LLVMGetCalledValue(in) : NULL;

				if (c && !(LLVMIsAFunction(c) && LLVMIsDeclaration(c)))
					LLVMRemoveCallSiteEnumAttribute(in, FUNCTION_ATTRIBUTES,
									kind);
			}
		}
	}
}

static void frame_pointers(struct program *p)
{
	LLVMAttributeRef a = LLVMCreateStringAttribute(p->context, "frame-pointer", 13, "all", 3);

	for (size_t i = 0; i < p->fns.len; i++)
		LLVMAddAttributeAtIndex(p->fns.data[i].f, FUNCTION_ATTRIBUTES, a);
}

void instrument(struct program *p, int v)
{
	struct hooks h;

	if (v == PLAIT_VARIANT_PLAIN) {
		atomics_make_places(p);
		return;
	}
	hooks_init(&h, p, v);
	forget_effects(p);
	if (v == PLAIT_VARIANT_ORDER)
		order_program(&h);
	for (size_t i = 0; i < p->plans.len && v != PLAIT_VARIANT_ORDER; i++)
		one(&h, &p->plans.data[i]);
	if (v == PLAIT_VARIANT_FULL)
		machine_virtual(&h);
	if (v != PLAIT_VARIANT_PATH)
		frame_pointers(p);
	hooks_deinit(&h);
}
