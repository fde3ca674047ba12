/* cc/instrument/machine.c - instructions that answer differently in every run: rdtsc, rdtscp, rdrand,
 * rdseed.
 *
 * Nothing at run time can take them over everywhere, so the full variant, which runs under control,
 * calls libplait in their place: plait_tsc and plait_random. There are two ways to write them.
 * Intrinsics have a fixed result. A text of assembly names its registers; it is replaced when all its
 * results are of the kind that the instruction gives (ax, dx and cx for the time; a register and a
 * flag for a random number), and stays as it is otherwise. */
#include "cc/instrument/machine.h"

#include "base/mem.h"
#include "base/vec.h"
#include "cc/instrument/hooks.h"
#include "cc/program.h"

#include <stdio.h>
#include <string.h>

enum { MAX_RESULTS = 4, MAX_TEXT = 256 };

/* What one of the results of a text is. */
enum result { TIME_LOW, TIME_HIGH, PROCESSOR, NUMBER, DONE, UNKNOWN };

static LLVMValueRef call_hook(struct hooks *h, const char *name)
{
	return hooks_call(h, name, h->i64, 0, NULL);
}

/* ---- intrinsics ---- */

static void pair(struct hooks *h, LLVMValueRef call, const char *hook, unsigned second)
{
	LLVMTypeRef type = LLVMTypeOf(call);
	LLVMValueRef first =
		hooks_from_int(h, call_hook(h, hook), LLVMStructGetTypeAtIndex(type, 0));
	LLVMValueRef both = LLVMBuildInsertValue(h->b, LLVMGetUndef(type), first, 0, "");
	LLVMValueRef rest = LLVMConstInt(LLVMStructGetTypeAtIndex(type, 1), second, 0);

	hooks_replace(call, LLVMBuildInsertValue(h->b, both, rest, 1, ""));
}

static void replace_intrinsic(struct hooks *h, LLVMValueRef call)
{
	LLVMValueRef callee = direct_callee(call);
	const char *name = callee ? value_name(callee) : "";

	if (strcmp(name, "llvm.x86.rdtsc") == 0 || strcmp(name, "llvm.readcyclecounter") == 0)
		hooks_replace(call, call_hook(h, "plait_tsc"));
	else if (strcmp(name, "llvm.x86.rdtscp") == 0)
		pair(h, call, "plait_tsc", 0);
	else if (strncmp(name, "llvm.x86.rdrand.", 16) == 0 ||
		 strncmp(name, "llvm.x86.rdseed.", 16) == 0)
		pair(h, call, "plait_random", 1);
}

/* ---- assembly ---- */

/* The next of the comma separated constraints is a result: what kind? */
static enum result read_result(const char *c, bool random, bool first)
{
	c += *c == '=';
	c += *c == '&';
	if (random)
		return first ? NUMBER : DONE;
	if (strncmp(c, "{ax}", 4) == 0)
		return TIME_LOW;
	if (strncmp(c, "{dx}", 4) == 0)
		return TIME_HIGH;
	return strncmp(c, "{cx}", 4) == 0 ? PROCESSOR : UNKNOWN;
}

/* The results of a text, in order; 0: there is one that does not fit. */
static unsigned read_results(LLVMValueRef assembly, bool random, enum result ret[MAX_RESULTS])
{
	size_t len = 0;
	const char *c = LLVMGetInlineAsmConstraintString(assembly, &len), *end = c + len;
	unsigned n = 0;

	while (c < end && *c == '=') {
		if (n == MAX_RESULTS || strncmp(c, "=*", 2) == 0)
			return 0;
		ret[n] = read_result(c, random, n == 0);
		if (ret[n++] == UNKNOWN)
			return 0;
		c = memchr(c, ',', (size_t)(end - c));
		c = c ? c + 1 : end;
	}
	return n;
}

/* Alone in ax, the time is whole: the text has put its halves together. */
static LLVMValueRef value_of(struct hooks *h, enum result what, unsigned n, LLVMValueRef word,
			     LLVMTypeRef type)
{
	LLVMValueRef low = LLVMConstInt(h->i64, UINT32_MAX, 0), half = LLVMConstInt(h->i64, 32, 0);

	switch (what) {
	case TIME_LOW:
		word = n == 1 ? word : LLVMBuildAnd(h->b, word, low, "");
		break;
	case TIME_HIGH:
		word = LLVMBuildLShr(h->b, word, half, "");
		break;
	case PROCESSOR:
		return LLVMConstInt(type, 0, 0);
	case DONE:
		return LLVMConstInt(type, 1, 0);
	case NUMBER:
	case UNKNOWN:
		break;
	}
	return hooks_from_int(h, word, type);
}

static bool is_number(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64;
}

static bool results_fit(LLVMTypeRef type, unsigned n)
{
	if (LLVMGetTypeKind(type) != LLVMStructTypeKind)
		return n == 1 && is_number(type);
	for (unsigned i = 0; i < n; i++)
		if (!is_number(LLVMStructGetTypeAtIndex(type, i)))
			return false;
	return n == LLVMCountStructElementTypes(type);
}

static void replace_assembly(struct hooks *h, LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call), word, all;
	LLVMTypeRef type = LLVMTypeOf(call);
	enum result results[MAX_RESULTS];
	char text[MAX_TEXT];
	size_t len = 0;
	const char *s = LLVMGetInlineAsmAsmString(callee, &len);
	bool random;
	unsigned n;

	snprintf(text, sizeof(text), "%.*s", (int)MIN(len, sizeof(text) - 1), s);
	random = strstr(text, "rdrand") || strstr(text, "rdseed");
	if (!random && !strstr(text, "rdtsc"))
		return;
	n = read_results(callee, random, results);
	if (!n || !results_fit(type, n))
		return;
	word = call_hook(h, random ? "plait_random" : "plait_tsc");
	if (LLVMGetTypeKind(type) != LLVMStructTypeKind) {
		hooks_replace(call, value_of(h, results[0], n, word, type));
		return;
	}
	all = LLVMGetUndef(type);
	for (unsigned i = 0; i < n; i++)
		all = LLVMBuildInsertValue(
			h->b, all,
			value_of(h, results[i], n, word, LLVMStructGetTypeAtIndex(type, i)), i, "");
	hooks_replace(call, all);
}

void machine_virtual(struct hooks *h)
{
	VEC(LLVMValueRef) calls = { 0 };

	for (size_t i = 0; i < h->p->fns.len; i++)
		for_each_block(b, h->p->fns.data[i].f) for_each_instruction(in, b)
		{
			if (is_call(in) && LLVMGetInstructionOpcode(in) == LLVMCall)
				vec_push(&calls, in);
		}
	for (size_t i = 0; i < calls.len; i++) {
		hooks_stand_before(h, calls.data[i]);
		if (LLVMIsAInlineAsm(LLVMGetCalledValue(calls.data[i])))
			replace_assembly(h, calls.data[i]);
		else
			replace_intrinsic(h, calls.data[i]);
	}
	vec_deinit(&calls);
}
