/* cc/instrument/full.c - the full variant: a hook performs each access.
 *
 * Scalar loads, stores and atomics are replaced by the hook that performs them; wide accesses stay,
 * with a range hook in front. AddressSanitizer's pass comes later and knows loads and stores only,
 * so its check is called before a hook. */
#include "cc/instrument/full.h"

#include "cc/analyse/assembly.h"
#include "cc/instrument/hooks.h"
#include "cc/program.h"
#include "unplait/hooks.h"

#include <stdio.h>

/* Have AddressSanitizer look at what the hook in place of `at` is about to access. */
static void check(struct hooks *h, LLVMValueRef at, LLVMValueRef ptr, unsigned bytes, bool writes)
{
	LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(at)), address;
	char name[32];

	if (!function_attribute(f, "sanitize_address"))
		return;
	snprintf(name, sizeof(name), "__asan_%s%u", writes ? "store" : "load", bytes);
	address = LLVMBuildPtrToInt(h->b, ptr, h->i64, "");
	hooks_call(h, name, h->none, 1, &address);
}

static void full_load(struct hooks *h, LLVMValueRef at, uint32_t site)
{
	LLVMAtomicOrdering order = LLVMGetOrdering(at);
	unsigned n = hooks_bytes(h, LLVMTypeOf(at));
	LLVMValueRef args[3] = { LLVMGetOperand(at, 0) }, v;
	char name[32];

	check(h, at, args[0], n, false);
	if (order == LLVMAtomicOrderingNotAtomic) {
		args[1] = hooks_site(h, site);
		snprintf(name, sizeof(name), "plait_read%u", n);
		v = hooks_call(h, name, hooks_int_type(h, n), 2, args);
	} else {
		args[1] = hooks_constant(h, order_number(order));
		args[2] = hooks_site(h, site);
		snprintf(name, sizeof(name), "plait_atomic_load%u", n);
		v = hooks_call(h, name, hooks_int_type(h, n), 3, args);
	}
	hooks_replace(at, hooks_from_int(h, v, LLVMTypeOf(at)));
}

static void full_store(struct hooks *h, LLVMValueRef at, uint32_t site)
{
	LLVMAtomicOrdering order = LLVMGetOrdering(at);
	unsigned n = hooks_bytes(h, LLVMTypeOf(LLVMGetOperand(at, 0)));
	LLVMValueRef args[4] = { LLVMGetOperand(at, 1), hooks_to_int(h, LLVMGetOperand(at, 0), n) };
	char name[32];

	check(h, at, args[0], n, true);
	if (order == LLVMAtomicOrderingNotAtomic) {
		args[2] = hooks_site(h, site);
		snprintf(name, sizeof(name), "plait_write%u", n);
		hooks_call(h, name, h->none, 3, args);
	} else {
		args[2] = hooks_constant(h, order_number(order));
		args[3] = hooks_site(h, site);
		snprintf(name, sizeof(name), "plait_atomic_store%u", n);
		hooks_call(h, name, h->none, 4, args);
	}
	LLVMInstructionEraseFromParent(at);
}

static void range(struct hooks *h, const char *name, LLVMValueRef ptr, LLVMValueRef n,
		  uint32_t site)
{
	LLVMValueRef args[3] = { ptr, hooks_to_int(h, n, 8), hooks_site(h, site) };

	hooks_call(h, name, h->none, 3, args);
}

static bool is_floating(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMFloatTypeKind ||
	       LLVMGetTypeKind(type) == LLVMDoubleTypeKind;
}

static int rmw_number(LLVMAtomicRMWBinOp op, LLVMTypeRef type)
{
	switch (op) {
	case LLVMAtomicRMWBinOpFAdd:
		return is_floating(type) ? PLAIT_RMW_FADD : -1;
	case LLVMAtomicRMWBinOpFSub:
		return is_floating(type) ? PLAIT_RMW_FSUB : -1;
	case LLVMAtomicRMWBinOpFMax:
		return is_floating(type) ? PLAIT_RMW_FMAX : -1;
	case LLVMAtomicRMWBinOpFMin:
		return is_floating(type) ? PLAIT_RMW_FMIN : -1;
	case LLVMAtomicRMWBinOpXchg:
		return PLAIT_RMW_XCHG;
	case LLVMAtomicRMWBinOpAdd:
		return PLAIT_RMW_ADD;
	case LLVMAtomicRMWBinOpSub:
		return PLAIT_RMW_SUB;
	case LLVMAtomicRMWBinOpAnd:
		return PLAIT_RMW_AND;
	case LLVMAtomicRMWBinOpNand:
		return PLAIT_RMW_NAND;
	case LLVMAtomicRMWBinOpOr:
		return PLAIT_RMW_OR;
	case LLVMAtomicRMWBinOpXor:
		return PLAIT_RMW_XOR;
	case LLVMAtomicRMWBinOpMax:
		return PLAIT_RMW_MAX;
	case LLVMAtomicRMWBinOpMin:
		return PLAIT_RMW_MIN;
	case LLVMAtomicRMWBinOpUMax:
		return PLAIT_RMW_UMAX;
	case LLVMAtomicRMWBinOpUMin:
		return PLAIT_RMW_UMIN;
	default:
		return -1; /* vectors, half floats, wrap-around: seen as a wide write */
	}
}

bool full_has_rmw(LLVMValueRef at)
{
	return rmw_number(LLVMGetAtomicRMWBinOp(at), LLVMTypeOf(at)) >= 0;
}

static void full_rmw(struct hooks *h, LLVMValueRef at, uint32_t site)
{
	LLVMTypeRef type = LLVMTypeOf(at);
	unsigned n = hooks_bytes(h, type);
	int op = rmw_number(LLVMGetAtomicRMWBinOp(at), type);
	LLVMValueRef args[5], v;
	char name[32];

	if (op < 0) {
		range(h, "plait_atomic_write_range", LLVMGetOperand(at, 0),
		      LLVMConstInt(h->i64, n, 0), site);
		return;
	}
	args[0] = LLVMGetOperand(at, 0);
	check(h, at, args[0], n, true);
	args[1] = hooks_to_int(h, LLVMGetOperand(at, 1), n);
	args[2] = hooks_constant(h, (uint64_t)op);
	args[3] = hooks_constant(h, order_number(LLVMGetOrdering(at)));
	args[4] = hooks_site(h, site);
	snprintf(name, sizeof(name), "plait_atomic_rmw%u", n);
	v = hooks_call(h, name, hooks_int_type(h, n), 5, args);
	hooks_replace(at, hooks_from_int(h, v, type));
}

static void full_cas(struct hooks *h, LLVMValueRef at, uint32_t site)
{
	LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(at, 1));
	unsigned n = hooks_bytes(h, type);
	LLVMValueRef args[5], old, pair;
	char name[32];

	args[0] = LLVMGetOperand(at, 0);
	check(h, at, args[0], n, true);
	args[1] = hooks_to_int(h, LLVMGetOperand(at, 1), n);
	args[2] = hooks_to_int(h, LLVMGetOperand(at, 2), n);
	args[3] = hooks_constant(h, order_number(LLVMGetCmpXchgSuccessOrdering(at)) |
					    (order_number(LLVMGetCmpXchgFailureOrdering(at)) + 1)
						    << 4);
	args[4] = hooks_site(h, site);
	snprintf(name, sizeof(name), "plait_atomic_cas%u", n);
	old = hooks_call(h, name, hooks_int_type(h, n), 5, args);
	pair = LLVMBuildInsertValue(h->b, LLVMGetPoison(LLVMTypeOf(at)),
				    hooks_from_int(h, old, type), 0, "");
	pair = LLVMBuildInsertValue(h->b, pair, LLVMBuildICmp(h->b, LLVMIntEQ, old, args[1], ""), 1,
				    "");
	hooks_replace(at, pair);
}

/* Of the accesses that are ranges. */
static bool is_atomic(LLVMValueRef at)
{
	if (LLVMIsALoadInst(at) || LLVMIsAStoreInst(at))
		return LLVMGetOrdering(at) != LLVMAtomicOrderingNotAtomic;
	return LLVMIsAAtomicRMWInst(at) || LLVMIsAAtomicCmpXchgInst(at);
}

static void full_range(struct hooks *h, const struct plan *plan)
{
	static const char *const names[2][2] = {
		{ "plait_read_range", "plait_write_range" },
		{ "plait_atomic_read_range", "plait_atomic_write_range" },
	};
	LLVMValueRef at = plan->at, n;
	bool write = plan->action == ACT_RANGE_WRITE, written;
	uint64_t bytes = 0;

	if (is_call(at) && LLVMIsAInlineAsm(LLVMGetCalledValue(at))) {
		assembly_memory(at, plan->operand, h->p->layout, &bytes, &written);
		n = LLVMConstInt(h->i64, bytes, 0);
	} else if (is_call(at))
		n = LLVMGetOperand(at, 2);
	else if (LLVMIsALoadInst(at))
		n = LLVMConstInt(h->i64, hooks_bytes(h, LLVMTypeOf(at)), 0);
	else if (LLVMIsAAtomicRMWInst(at))
		n = LLVMConstInt(h->i64, hooks_bytes(h, LLVMTypeOf(at)), 0);
	else if (LLVMIsAStoreInst(at))
		n = LLVMConstInt(h->i64, hooks_bytes(h, LLVMTypeOf(LLVMGetOperand(at, 0))), 0);
	else
		n = LLVMConstInt(h->i64, hooks_bytes(h, LLVMTypeOf(LLVMGetOperand(at, 1))), 0);
	range(h, names[is_atomic(at)][write], LLVMGetOperand(at, plan->operand), n, plan->site);
}

/* Plain code records it like an atomic (atomics.c): the next access counts where a log is obeyed. */
static void announce_racing(struct hooks *h, const struct plan *plan)
{
	if (plan->racing)
		hooks_call(h, "plait_racing", h->none, 0, NULL);
}

void full_access(struct hooks *h, const struct plan *plan)
{
	switch (plan->action) {
	case ACT_LOAD:
		announce_racing(h, plan);
		full_load(h, plan->at, plan->site);
		break;
	case ACT_STORE:
		announce_racing(h, plan);
		full_store(h, plan->at, plan->site);
		break;
	case ACT_RMW:
		full_rmw(h, plan->at, plan->site);
		break;
	case ACT_CAS:
		full_cas(h, plan->at, plan->site);
		break;
	case ACT_FENCE: {
		LLVMValueRef args[2] = { hooks_constant(h, order_number(LLVMGetOrdering(plan->at))),
					 hooks_site(h, plan->site) };

		hooks_call(h, "plait_fence", h->none, 2, args);
		LLVMInstructionEraseFromParent(plan->at);
		break;
	}
	case ACT_RANGE_READ:
	case ACT_RANGE_WRITE:
		full_range(h, plan);
		break;
	default:
		break;
	}
}
