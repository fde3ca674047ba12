/* cc/instrument/inputs.c - record what a call brings in from outside.
 *
 * That is its result, if it is a number or an address, and the memory that it fills: the table
 * unplait/inputs.def says which. */
#include "cc/instrument/inputs.h"

#include "base/mem.h"
#include "cc/instrument/hooks.h"
#include "cc/program.h"

#include <string.h>

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
		n = hooks_to_int(h, LLVMGetOperand(call, 1), 8);
	else
		n = LLVMBuildSExtOrBitCast(h->b, call, h->i64, "");
	n = LLVMBuildSelect(h->b, LLVMBuildICmp(h->b, LLVMIntSGT, n, zero, ""), n, zero, "");
	if (bytes == RECORDS)
		n = LLVMBuildMul(h->b, n, hooks_to_int(h, LLVMGetOperand(call, 1), 8), "");
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
		args[0] = hooks_site(h, plan->site);
		args[1] = filled[i].arg == RESULT ? call : LLVMGetOperand(call, filled[i].arg);
		if (LLVMGetTypeKind(LLVMTypeOf(args[1])) != LLVMPointerTypeKind)
			continue; /* a function of its own by that name */
		if (bytes == TEXT || bytes == LINE) {
			args[2] = hooks_to_int(h, call, 8);
			hooks_call(h,
				   bytes == TEXT ? "plait_path_input_text"
						 : "plait_path_input_line",
				   h->none, 3, args);
			continue;
		}
		if ((bytes == RETURNED || bytes == RECORDS || bytes == EVENTS) && pointer)
			continue;
		args[2] = filled_bytes(h, call, bytes);
		hooks_call(h, "plait_path_input_range", h->none, 3, args);
	}
}

/* What a call brought in from outside: its result, if that is a number. */
void inputs_record(struct hooks *h, const struct plan *plan)
{
	LLVMTypeRef t = LLVMTypeOf(plan->at);
	LLVMTypeKind kind = LLVMGetTypeKind(t);
	LLVMValueRef args[2];

	if (kind != LLVMIntegerTypeKind && kind != LLVMPointerTypeKind &&
	    kind != LLVMDoubleTypeKind && kind != LLVMFloatTypeKind)
		return;
	if (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) > 64)
		return;
	if (!hooks_stand_after(h, plan->at))
		return;
	args[0] = hooks_site(h, plan->site);
	args[1] = LLVMBuildZExtOrBitCast(
		h->b, hooks_to_int(h, plan->at, kind == LLVMFloatTypeKind ? 4 : 8), h->i64, "");
	hooks_call(h, "plait_path_input", h->none, 2, args);
	input_memory(h, plan);
}
