/* cc/instrument/instrument.c - hooks at the planned instructions.
 *
 * Full: scalar loads, stores and atomics are *replaced* by the hook that performs them; wide ones
 * get a range hook in front. Path: branch bits, values of loads that feed addresses, inputs. Both:
 * the call site is stored before external calls, and allocation goes through libplait. Graph: all
 * accesses stay, with a look at the shadow in front (shadow.c). Order: the accesses alone, as
 * places (places.c), and the call sites.
 *
 * No block is ever split (the C API cannot repair phis): a branch bit is a piece of assembly
 * (bits.c), the index of the successor a switch takes comes from a small local function marked
 * alwaysinline, plait.switch.N. */
#include "cc/instrument/instrument.h"

#include "base/mem.h"
#include "cc/instrument/assembly.h"
#include "cc/instrument/bits.h"
#include "cc/analyse/calls.h"
#include "cc/instrument/places.h"
#include "cc/program.h"
#include "cc/instrument/shadow.h"
#include "unplait/hooks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct hooks {
	struct program *p;
	LLVMContextRef c;
	LLVMModuleRef m;
	LLVMBuilderRef b;
	LLVMTypeRef i1, i8, i16, i32, i64, ptr, none;
	LLVMValueRef call_site, module_base;
	struct bits bits;
	struct shadow shadow;
	unsigned nswitches;
	int variant;
};

static LLVMTypeRef int_type(struct hooks *h, unsigned bytes)
{
	return LLVMIntTypeInContext(h->c, bytes * 8);
}

static void add_attribute(struct hooks *h, LLVMValueRef f, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
				LLVMCreateEnumAttribute(h->c, kind, 0));
}

/* Call an external hook; its type is read off the arguments. */
static LLVMValueRef call_hook(struct hooks *h, const char *name, LLVMTypeRef ret, unsigned n,
			      LLVMValueRef *args)
{
	LLVMTypeRef types[8], type;
	LLVMValueRef f = LLVMGetNamedFunction(h->m, name);

	for (unsigned i = 0; i < n; i++)
		types[i] = LLVMTypeOf(args[i]);
	type = LLVMFunctionType(ret, types, n, 0);
	if (!f) {
		f = LLVMAddFunction(h->m, name, type);
		add_attribute(h, f, "nounwind");
	}
	return LLVMBuildCall2(h->b, type, f, args, n, "");
}

static LLVMValueRef constant(struct hooks *h, uint64_t v)
{
	return LLVMConstInt(h->i32, v, 0);
}

/* Libraries add where their numbers begin. */
static LLVMValueRef site_value(struct hooks *h, uint32_t site)
{
	if (!h->p->library)
		return constant(h, site);
	return LLVMBuildAdd(h->b, LLVMBuildLoad2(h->b, h->i32, h->module_base, ""),
			    constant(h, site), "");
}

/* Before `at`, with its source position. */
static void place_before(struct hooks *h, LLVMValueRef at)
{
	LLVMPositionBuilderBefore(h->b, at);
}

/* After a call: NULL when there is no such single place. */
static bool place_after(struct hooks *h, LLVMValueRef call)
{
	LLVMValueRef next;

	if (LLVMIsACallInst(call)) {
		if (LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail)
			return false;
		next = LLVMGetNextInstruction(call);
		LLVMPositionBuilderBefore(h->b, next);
		LLVMSetCurrentDebugLocation2(h->b, LLVMInstructionGetDebugLoc(call));
		return true;
	}
	if (LLVMIsAInvokeInst(call)) { /* only if nobody else comes there */
		LLVMBasicBlockRef to = LLVMGetNormalDest(call);
		LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(to));

		if (!use || LLVMGetNextUse(use))
			return false;
		next = LLVMGetFirstInstruction(to);
		while (LLVMIsAPHINode(next))
			next = LLVMGetNextInstruction(next);
		LLVMPositionBuilderBefore(h->b, next);
		LLVMSetCurrentDebugLocation2(h->b, LLVMInstructionGetDebugLoc(call));
		return true;
	}
	return false;
}

static unsigned order_number(LLVMAtomicOrdering o)
{
	switch (o) {
	case LLVMAtomicOrderingAcquire:
		return 2;
	case LLVMAtomicOrderingRelease:
		return 3;
	case LLVMAtomicOrderingAcquireRelease:
		return 4;
	case LLVMAtomicOrderingSequentiallyConsistent:
		return 5;
	default:
		return 0;
	}
}

/* Value of any scalar type <-> integer of n bytes. */
static LLVMValueRef to_int(struct hooks *h, LLVMValueRef v, unsigned n)
{
	LLVMTypeRef t = LLVMTypeOf(v), want = int_type(h, n);

	if (t == want)
		return v;
	if (LLVMGetTypeKind(t) == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(h->b, v, want, "");
	if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind)
		return LLVMBuildZExtOrBitCast(h->b, v, want, "");
	return LLVMBuildBitCast(h->b, v, want, "");
}

static LLVMValueRef from_int(struct hooks *h, LLVMValueRef v, LLVMTypeRef want)
{
	LLVMTypeRef t = LLVMTypeOf(v);

	if (t == want)
		return v;
	if (LLVMGetTypeKind(want) == LLVMPointerTypeKind)
		return LLVMBuildIntToPtr(h->b, v, want, "");
	if (LLVMGetTypeKind(want) == LLVMIntegerTypeKind)
		return LLVMBuildTruncOrBitCast(h->b, v, want, "");
	return LLVMBuildBitCast(h->b, v, want, "");
}

static unsigned bytes_of(struct hooks *h, LLVMTypeRef t)
{
	return (unsigned)LLVMStoreSizeOfType(h->p->layout, t);
}

static void replace(LLVMValueRef old, LLVMValueRef new)
{
	LLVMReplaceAllUsesWith(old, new);
	LLVMInstructionEraseFromParent(old);
}

static void full_load(struct hooks *h, LLVMValueRef at, uint32_t site)
{
	LLVMAtomicOrdering order = LLVMGetOrdering(at);
	unsigned n = bytes_of(h, LLVMTypeOf(at));
	LLVMValueRef args[3] = { LLVMGetOperand(at, 0) }, v;
	char name[32];

	if (order == LLVMAtomicOrderingNotAtomic) {
		args[1] = site_value(h, site);
		snprintf(name, sizeof(name), "plait_read%u", n);
		v = call_hook(h, name, int_type(h, n), 2, args);
	} else {
		args[1] = constant(h, order_number(order));
		args[2] = site_value(h, site);
		snprintf(name, sizeof(name), "plait_atomic_load%u", n);
		v = call_hook(h, name, int_type(h, n), 3, args);
	}
	replace(at, from_int(h, v, LLVMTypeOf(at)));
}

static void full_store(struct hooks *h, LLVMValueRef at, uint32_t site)
{
	LLVMAtomicOrdering order = LLVMGetOrdering(at);
	unsigned n = bytes_of(h, LLVMTypeOf(LLVMGetOperand(at, 0)));
	LLVMValueRef args[4] = { LLVMGetOperand(at, 1), to_int(h, LLVMGetOperand(at, 0), n) };
	char name[32];

	if (order == LLVMAtomicOrderingNotAtomic) {
		args[2] = site_value(h, site);
		snprintf(name, sizeof(name), "plait_write%u", n);
		call_hook(h, name, h->none, 3, args);
	} else {
		args[2] = constant(h, order_number(order));
		args[3] = site_value(h, site);
		snprintf(name, sizeof(name), "plait_atomic_store%u", n);
		call_hook(h, name, h->none, 4, args);
	}
	LLVMInstructionEraseFromParent(at);
}

static void range(struct hooks *h, const char *name, LLVMValueRef ptr, LLVMValueRef n,
		  uint32_t site)
{
	LLVMValueRef args[3] = { ptr, to_int(h, n, 8), site_value(h, site) };

	call_hook(h, name, h->none, 3, args);
}

static int rmw_number(LLVMAtomicRMWBinOp op)
{
	switch (op) {
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
		return -1; /* floating point, wrap-around: seen as a wide write */
	}
}

static void full_rmw(struct hooks *h, LLVMValueRef at, uint32_t site)
{
	LLVMTypeRef type = LLVMTypeOf(at);
	unsigned n = bytes_of(h, type);
	int op = rmw_number(LLVMGetAtomicRMWBinOp(at));
	LLVMValueRef args[5], v;
	char name[32];

	if (op < 0) {
		range(h, "plait_write_range", LLVMGetOperand(at, 0), LLVMConstInt(h->i64, n, 0),
		      site);
		return;
	}
	args[0] = LLVMGetOperand(at, 0);
	args[1] = to_int(h, LLVMGetOperand(at, 1), n);
	args[2] = constant(h, (uint64_t)op);
	args[3] = constant(h, order_number(LLVMGetOrdering(at)));
	args[4] = site_value(h, site);
	snprintf(name, sizeof(name), "plait_atomic_rmw%u", n);
	v = call_hook(h, name, int_type(h, n), 5, args);
	replace(at, from_int(h, v, type));
}

static void full_cas(struct hooks *h, LLVMValueRef at, uint32_t site)
{
	LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(at, 1));
	unsigned n = bytes_of(h, type);
	LLVMValueRef args[5], old, pair;
	char name[32];

	args[0] = LLVMGetOperand(at, 0);
	args[1] = to_int(h, LLVMGetOperand(at, 1), n);
	args[2] = to_int(h, LLVMGetOperand(at, 2), n);
	args[3] = constant(h, order_number(LLVMGetCmpXchgSuccessOrdering(at)));
	args[4] = site_value(h, site);
	snprintf(name, sizeof(name), "plait_atomic_cas%u", n);
	old = call_hook(h, name, int_type(h, n), 5, args);
	pair = LLVMBuildInsertValue(h->b, LLVMGetPoison(LLVMTypeOf(at)), from_int(h, old, type), 0,
				    "");
	pair = LLVMBuildInsertValue(h->b, pair, LLVMBuildICmp(h->b, LLVMIntEQ, old, args[1], ""), 1,
				    "");
	replace(at, pair);
}

static void full_range(struct hooks *h, const struct plan *plan)
{
	LLVMValueRef at = plan->at, n;
	bool write = plan->action == ACT_RANGE_WRITE, written;
	uint64_t bytes = 0;

	if (is_call(at) && LLVMIsAInlineAsm(LLVMGetCalledValue(at))) {
		assembly_memory(at, plan->operand, h->p->layout, &bytes, &written);
		n = LLVMConstInt(h->i64, bytes, 0);
	} else if (is_call(at))
		n = LLVMGetOperand(at, 2);
	else if (LLVMIsALoadInst(at))
		n = LLVMConstInt(h->i64, bytes_of(h, LLVMTypeOf(at)), 0);
	else if (LLVMIsAAtomicRMWInst(at))
		n = LLVMConstInt(h->i64, bytes_of(h, LLVMTypeOf(at)), 0);
	else if (LLVMIsAStoreInst(at))
		n = LLVMConstInt(h->i64, bytes_of(h, LLVMTypeOf(LLVMGetOperand(at, 0))), 0);
	else
		n = LLVMConstInt(h->i64, bytes_of(h, LLVMTypeOf(LLVMGetOperand(at, 1))), 0);
	range(h, write ? "plait_write_range" : "plait_read_range",
	      LLVMGetOperand(at, plan->operand), n, plan->site);
}

/* ---- branches ---- */

static LLVMValueRef local_function(struct hooks *h, const char *name, LLVMTypeRef ret, unsigned n,
				   LLVMTypeRef *params)
{
	LLVMValueRef f = LLVMAddFunction(h->m, name, LLVMFunctionType(ret, params, n, 0));

	LLVMSetLinkage(f, LLVMInternalLinkage);
	add_attribute(h, f, "alwaysinline");
	add_attribute(h, f, "nounwind");
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
		LLVMBuildRet(b, constant(h, i));
	}
	LLVMDisposeBuilder(b);
	return LLVMBuildCall2(h->b, LLVMGlobalGetValueType(f), f, &value, 1, "");
}

static void branch(struct hooks *h, const struct plan *plan)
{
	bool full = h->variant == PLAIT_VARIANT_FULL;
	LLVMValueRef t = plan->at, args[2];

	if (!full && !(h->p->sites.data[plan->site - 1].flags & PLAIT_SITE_RECORDED))
		return; /* decided by values that are logged */
	if (plan->action == ACT_SWITCH) {
		args[0] = switch_index(h, t);
		args[1] = full ? site_value(h, plan->site) : constant(h, LLVMGetNumSuccessors(t));
		call_hook(h, full ? "plait_branch" : "plait_path_switch", h->none, 2, args);
		return;
	}
	args[0] = LLVMIsASelectInst(t) ? LLVMGetOperand(t, 0) : LLVMGetCondition(t);
	args[1] = full ? site_value(h, plan->site) : NULL;
	bits_push(&h->bits, h->b, LLVMGetBasicBlockParent(LLVMGetInstructionParent(t)), args[0],
		  args[1]);
}

/* ---- calls ---- */

static void set_call_site(struct hooks *h, LLVMValueRef call, uint32_t site)
{
	LLVMPositionBuilderBefore(h->b, call);
	LLVMBuildStore(h->b, site_value(h, site), h->call_site);
}

static void redirect(struct hooks *h, LLVMValueRef call, const char *ours)
{
	LLVMValueRef f = LLVMGetNamedFunction(h->m, ours);

	if (!f)
		f = LLVMAddFunction(h->m, ours, LLVMGetCalledFunctionType(call));
	set_callee(call, f);
}

static void alloc(struct hooks *h, const struct plan *plan)
{
	LLVMValueRef call = plan->at, f = direct_callee(call), args[2];
	const char *name = value_name(f), *ours = call_redirection(name);

	set_call_site(h, call, plan->site);
	if (ours) {
		redirect(h, call, ours);
	} else if (call_is_delete(name)) {
		args[0] = LLVMGetOperand(call, 0);
		call_hook(h, "plait_note_free", h->none, 1, args);
	} else if (place_after(h, call) &&
		   LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind) {
		args[0] = call;
		args[1] = call_is_new(name) ? LLVMGetOperand(call, 0) : LLVMConstNull(h->i64);
		call_hook(h, "plait_note_alloc", h->none, 2, args);
	}
}

/* Memory that an input call fills: unplait/inputs.def. */
enum {
	RETURNED = -1,
	RECORDS = -2,
	TEXT = -3,
	LINE = -4,
	SECOND = -5,
	POLLED = -6,
	EVENTS = -7,
	RESULT = 99
};
static const struct {
	const char *name;
	unsigned arg;
	int bytes;
} filled[] = {
#define FILLED(name, arg, bytes) { name, arg, bytes },
#include "unplait/inputs.def"
#undef FILLED
};

/* How many bytes; only called for the kinds that a number describes. */
static LLVMValueRef filled_bytes(struct hooks *h, LLVMValueRef call, int bytes)
{
	LLVMValueRef n, zero = LLVMConstNull(h->i64);

	if (bytes >= 0)
		return LLVMConstInt(h->i64, (uint64_t)bytes, 0);
	if (bytes == SECOND || bytes == POLLED)
		n = to_int(h, LLVMGetOperand(call, 1), 8);
	else
		n = LLVMBuildSExtOrBitCast(h->b, call, h->i64, "");
	n = LLVMBuildSelect(h->b, LLVMBuildICmp(h->b, LLVMIntSGT, n, zero, ""), n, zero, "");
	if (bytes == RECORDS)
		n = LLVMBuildMul(h->b, n, to_int(h, LLVMGetOperand(call, 1), 8), "");
	if (bytes == POLLED || bytes == EVENTS)
		n = LLVMBuildMul(h->b, n, LLVMConstInt(h->i64, bytes == POLLED ? 8 : 12, 0), "");
	return n;
}

static void input_memory(struct hooks *h, const struct plan *plan)
{
	LLVMValueRef call = plan->at, args[3];
	const char *name = value_name(direct_callee(call));
	bool pointer = LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind;

	for (size_t i = 0; i < ARRAY_SIZE(filled); i++) {
		int bytes = filled[i].bytes;

		if (strcmp(filled[i].name, name) != 0 ||
		    (filled[i].arg == RESULT ? !pointer
					     : filled[i].arg >= LLVMGetNumArgOperands(call)))
			continue;
		args[0] = site_value(h, plan->site);
		args[1] = filled[i].arg == RESULT ? call : LLVMGetOperand(call, filled[i].arg);
		if (LLVMGetTypeKind(LLVMTypeOf(args[1])) != LLVMPointerTypeKind)
			continue; /* a function of its own by that name */
		if (bytes == TEXT || bytes == LINE) {
			args[2] = to_int(h, call, 8);
			call_hook(h,
				  bytes == TEXT ? "plait_path_input_text" : "plait_path_input_line",
				  h->none, 3, args);
			continue;
		}
		if ((bytes == RETURNED || bytes == RECORDS || bytes == EVENTS) && pointer)
			continue;
		args[2] = filled_bytes(h, call, bytes);
		call_hook(h, "plait_path_input_range", h->none, 3, args);
	}
}

/* What a call brought in from outside: its result, if that is a number. */
static void input(struct hooks *h, const struct plan *plan)
{
	LLVMTypeRef t = LLVMTypeOf(plan->at);
	LLVMTypeKind kind = LLVMGetTypeKind(t);
	LLVMValueRef args[2];

	if (kind != LLVMIntegerTypeKind && kind != LLVMPointerTypeKind &&
	    kind != LLVMDoubleTypeKind && kind != LLVMFloatTypeKind)
		return;
	if (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) > 64)
		return;
	if (!place_after(h, plan->at))
		return;
	args[0] = site_value(h, plan->site);
	args[1] = LLVMBuildZExtOrBitCast(
		h->b, to_int(h, plan->at, kind == LLVMFloatTypeKind ? 4 : 8), h->i64, "");
	call_hook(h, "plait_path_input", h->none, 2, args);
	input_memory(h, plan);
}

/* A possibly shared load that feeds an address: log what it read. */
static void path_value(struct hooks *h, const struct plan *plan)
{
	LLVMValueRef v = plan->at, f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(v)), arg;
	unsigned n;

	LLVMPositionBuilderBefore(h->b, LLVMGetNextInstruction(v));
	if (plan->action == ACT_CAS) /* its result is a pair */
		v = LLVMBuildExtractValue(h->b, v, 0, "");
	n = bytes_of(h, LLVMTypeOf(v));
	arg = to_int(h, v, n);
	if (h->variant == PLAIT_VARIANT_PATH) {
		values_push(&h->bits, h->b, f, arg, n);
		return;
	}
	arg = LLVMBuildZExtOrBitCast(h->b, arg, h->i64, "");
	call_hook(h, "plait_path_value", h->none, 1, &arg);
}

static void full_one(struct hooks *h, const struct plan *plan)
{
	switch (plan->action) {
	case ACT_LOAD:
		full_load(h, plan->at, plan->site);
		break;
	case ACT_STORE:
		full_store(h, plan->at, plan->site);
		break;
	case ACT_RMW:
		full_rmw(h, plan->at, plan->site);
		break;
	case ACT_CAS:
		full_cas(h, plan->at, plan->site);
		break;
	case ACT_FENCE: {
		LLVMValueRef args[2] = { constant(h, order_number(LLVMGetOrdering(plan->at))),
					 site_value(h, plan->site) };

		call_hook(h, "plait_fence", h->none, 2, args);
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

/* An access whose value passes through a register; the others keep their instruction. */
static void order_scalar(struct hooks *h, const struct plan *plan, struct place place)
{
	LLVMValueRef at = plan->at, v;
	bool atomic = LLVMGetOrdering(at) != LLVMAtomicOrderingNotAtomic;
	unsigned n;

	if (plan->action == ACT_LOAD) {
		n = bytes_of(h, LLVMTypeOf(at));
		v = place_load(h->b, LLVMGetOperand(at, 0), n, atomic, place);
		replace(at, from_int(h, v, LLVMTypeOf(at)));
		return;
	}
	n = bytes_of(h, LLVMTypeOf(LLVMGetOperand(at, 0)));
	v = to_int(h, LLVMGetOperand(at, 0), n);
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
		place_before(h, plan[i].at);
		order_scalar(h, &plan[i], (struct place){ plan->site, n, i == 0, i == n - 1 });
	}
}

static void order_one(struct hooks *h, const struct plan *plan)
{
	place_before(h, plan->at);
	switch (plan->action) {
	case ACT_CALL:
		set_call_site(h, plan->at, plan->site);
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

static void look(struct hooks *h, const struct plan *plan, bool write)
{
	LLVMValueRef at = plan->at, value = write ? LLVMGetOperand(at, 0) : at;
	struct shadow_access a = { .write = write,
				   .address = LLVMGetOperand(at, write ? 1 : 0),
				   .bytes = bytes_of(h, LLVMTypeOf(value)),
				   .alignment = LLVMGetAlignment(at),
				   .site = site_value(h, plan->site) };

	shadow_look(&h->shadow, h->b, LLVMGetBasicBlockParent(LLVMGetInstructionParent(at)), &a);
}

static void graph_one(struct hooks *h, const struct plan *plan)
{
	bool plain = (plan->action == ACT_LOAD || plan->action == ACT_STORE) &&
		     LLVMGetOrdering(plan->at) == LLVMAtomicOrderingNotAtomic;

	if (plain)
		look(h, plan, plan->action == ACT_STORE);
	else
		full_one(h, plan);
}

static void graph(struct hooks *h, const struct plan *plan)
{
	switch (plan->action) {
	case ACT_BRANCH:
	case ACT_SWITCH:
	case ACT_RESULT:
		break;
	case ACT_CALL:
		set_call_site(h, plan->at, plan->site);
		break;
	case ACT_ALLOC:
		alloc(h, plan);
		break;
	default:
		if (plan->instrumented)
			graph_one(h, plan);
	}
}

static void order_all(struct hooks *h)
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

static void one(struct hooks *h, const struct plan *plan)
{
	place_before(h, plan->at);
	if (h->variant == PLAIT_VARIANT_GRAPH) {
		graph(h, plan);
		return;
	}
	switch (plan->action) {
	case ACT_BRANCH:
	case ACT_SWITCH:
		branch(h, plan);
		break;
	case ACT_CALL:
		set_call_site(h, plan->at, plan->site);
		if (h->p->sites.data[plan->site - 1].kind == PLAIT_SITE_INPUT)
			input(h, plan);
		break;
	case ACT_RESULT:
		input(h, plan);
		break;
	case ACT_ALLOC:
		alloc(h, plan);
		break;
	default:
		if (h->variant == PLAIT_VARIANT_FULL && plan->instrumented)
			full_one(h, plan);
		else if (h->p->sites.data[plan->site - 1].flags & PLAIT_SITE_FEEDS_ADDRESS)
			path_value(h, plan);
	}
}

static void init(struct hooks *h, struct program *p, int v)
{
	memset(h, 0, sizeof(*h));
	h->p = p;
	h->c = p->context;
	h->m = p->module;
	h->b = LLVMCreateBuilderInContext(h->c);
	h->i1 = LLVMInt1TypeInContext(h->c);
	h->i8 = LLVMInt8TypeInContext(h->c);
	h->i16 = LLVMInt16TypeInContext(h->c);
	h->i32 = LLVMInt32TypeInContext(h->c);
	h->i64 = LLVMInt64TypeInContext(h->c);
	h->ptr = LLVMPointerTypeInContext(h->c, 0);
	h->none = LLVMVoidTypeInContext(h->c);
	h->variant = v;
	h->call_site = LLVMAddGlobal(h->m, h->i32, "plait_call_site");
	LLVMSetThreadLocalMode(h->call_site,
			       p->library ? LLVMInitialExecTLSModel : LLVMLocalExecTLSModel);
	h->bits = (struct bits){ p->context, v == PLAIT_VARIANT_FULL, p->library };
	h->shadow = (struct shadow){ p->context, p->library };
	if (p->library) {
		h->module_base = LLVMAddGlobal(h->m, h->i32, "plait_module_base");
		LLVMSetVisibility(h->module_base, LLVMHiddenVisibility);
	}
}

/* What the optimiser proved about a function is no longer true once it calls hooks. */
static void forget_effects(struct program *p)
{
	static const char *const names[] = { "memory",	   "nosync",	   "nofree",
					     "willreturn", "speculatable", "norecurse" };
	const LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		unsigned kind = LLVMGetEnumAttributeKindForName(names[k], strlen(names[k]));

		for (size_t i = 0; i < p->fns.len; i++) {
			LLVMValueRef f = p->fns.data[i].f;

			LLVMRemoveEnumAttributeAtIndex(f, at, kind);
			for_each_block(b, f) for_each_instruction(in, b)
			{
				LLVMValueRef c = is_call(in) ? LLVMGetCalledValue(in) : NULL;

				if (c && !(LLVMIsAFunction(c) && LLVMIsDeclaration(c)))
					LLVMRemoveCallSiteEnumAttribute(in, at, kind);
			}
		}
	}
}

static void frame_pointers(struct program *p)
{
	LLVMAttributeRef a = LLVMCreateStringAttribute(p->context, "frame-pointer", 13, "all", 3);

	for (size_t i = 0; i < p->fns.len; i++)
		LLVMAddAttributeAtIndex(p->fns.data[i].f,
					(LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
}

void instrument(struct program *p, int v)
{
	struct hooks h;

	if (v == PLAIT_VARIANT_PLAIN)
		return;
	init(&h, p, v);
	forget_effects(p);
	if (v == PLAIT_VARIANT_ORDER)
		order_all(&h);
	for (size_t i = 0; i < p->plans.len && v != PLAIT_VARIANT_ORDER; i++)
		one(&h, &p->plans.data[i]);
	if (v != PLAIT_VARIANT_PATH)
		frame_pointers(p);
	LLVMDisposeBuilder(h.b);
}
