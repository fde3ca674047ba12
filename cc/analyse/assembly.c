/* cc/analyse/assembly.c - inline assembly that threads talk through, as LLVM's own instructions.
 *
 * Spinlocks and counters are still written as `lock; xaddl %0, %1` in many programs and libraries.
 * To LLVM that is a text: no analysis sees the access, no hook stands before it, the symbolic
 * machine cannot run it, and a thread that spins on it spins for ever under control. So before
 * anything else, the few instructions such texts are made of become what a compiler would have made
 * of atomics: load, store, atomicrmw, cmpxchg, fence. Everything later needs no special case.
 *
 * A text is read statement by statement; operands begin as their inputs and end as the outputs.
 * One statement that is not understood, and what was built for the text is taken back: it stays
 * assembly. Its memory operands are then accesses of unknown kind (plan.c), nothing is hidden. */
#include "cc/analyse/assembly.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERANDS = 16, MAX_TEXT = 512 };

struct operand {
	LLVMValueRef value; /* what it holds; the address of memory; NULL: nothing yet */
	LLVMTypeRef type;   /* of a result, else NULL */
	bool memory;	    /* the argument is its address */
	bool output;
	bool accumulator; /* al, ax, eax, rax */
	char flag;	  /* 'z', 'n': a result that is the zero flag, or not */
};

struct raise {
	LLVMTargetDataRef layout;
	LLVMBuilderRef b;
	LLVMValueRef call;
	struct operand operands[MAX_OPERANDS];
	unsigned n;
	LLVMValueRef zero; /* the zero flag, NULL: not known */
	bool orders;	   /* ~{memory} */
};

/* ---- constraints ---- */

/* One of LLVM's comma separated constraints; false when it is none we know. `arg` counts the
 * call's arguments, `result` its results. */
static bool read_constraint(struct raise *r, const char *c, unsigned *arg, unsigned *result)
{
	LLVMTypeRef type = LLVMTypeOf(r->call);
	struct operand *o;

	if (*c == '~') {
		r->orders |= strncmp(c, "~{memory}", 9) == 0;
		return true;
	}
	if (r->n == MAX_OPERANDS || *c == '!')
		return false;
	o = &r->operands[r->n++];
	*o = (struct operand){ .output = *c == '=' };
	c += o->output;
	c += *c == '&';
	o->memory = *c == '*';
	c += o->memory;
	o->accumulator = *c == 'a' || strncmp(c, "{ax}", 4) == 0 || strncmp(c, "{al}", 4) == 0;
	if (strncmp(c, "{@cc", 4) == 0) {
		o->flag = c[4] == 'n' ? 'n' : 'z';
		c += 4 + (o->flag == 'n');
		if (*c != 'z' && *c != 'e')
			return false;
	}
	if (o->output && !o->memory) {
		bool several = LLVMGetTypeKind(type) == LLVMStructTypeKind;

		o->type = several ? LLVMStructGetTypeAtIndex(type, *result) : type;
		(*result)++;
		return true;
	}
	o->value = LLVMGetOperand(r->call, (*arg)++);
	if (isdigit((unsigned char)*c)) { /* begins as an output */
		unsigned long tied = strtoul(c, NULL, 10);

		if (tied >= r->n - 1 || o->output)
			return false;
		r->operands[tied].value = o->value;
	}
	return true;
}

static bool read_constraints(struct raise *r, const char *text, size_t len)
{
	unsigned arg = 0, result = 0;
	char copy[MAX_TEXT], *save = NULL;

	if (len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	for (char *c = strtok_r(copy, ",", &save); c; c = strtok_r(NULL, ",", &save))
		if (!read_constraint(r, c, &arg, &result))
			return false;
	return arg == LLVMGetNumArgOperands(r->call);
}

/* ---- values ---- */

static unsigned size_of(const struct raise *r, LLVMTypeRef t)
{
	LLVMTypeKind kind = LLVMGetTypeKind(t);

	if (kind != LLVMIntegerTypeKind && kind != LLVMPointerTypeKind)
		return 0;
	return (unsigned)LLVMStoreSizeOfType(r->layout, t);
}

/* v as an integer of n bytes, if it fits without a question */
static LLVMValueRef as_integer(struct raise *r, LLVMValueRef v, unsigned n)
{
	LLVMTypeRef want = LLVMIntTypeInContext(LLVMGetTypeContext(LLVMTypeOf(v)), n * 8);
	unsigned size = size_of(r, LLVMTypeOf(v));

	if (size < n)
		return LLVMIsAConstantInt(v) ? LLVMBuildIntCast2(r->b, v, want, 1, "") : NULL;
	if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(r->b, v, want, "");
	return LLVMBuildTruncOrBitCast(r->b, v, want, "");
}

/* The result of n bytes that a register of this type holds: only 4 bytes clear what is above. */
static LLVMValueRef as_register(struct raise *r, LLVMValueRef v, LLVMTypeRef type)
{
	unsigned have = size_of(r, LLVMTypeOf(v)), want = size_of(r, type);

	if (!want || have > want || (have < want && have != 4))
		return NULL;
	if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
		return have == want ? LLVMBuildIntToPtr(r->b, v, type, "") : NULL;
	return LLVMBuildZExtOrBitCast(r->b, v, type, "");
}

/* ---- statements ---- */

struct argument {
	struct operand *operand; /* NULL: a number */
	long long number;
};

struct statement {
	const char *name; /* without its suffix */
	bool locked;
	unsigned size; /* of the access, in bytes */
	struct argument args[2];
	unsigned nargs;
};

/* "$0", "${1:k}", "$$5" */
static bool read_argument(struct raise *r, const char *text, struct argument *a)
{
	char *end;
	unsigned long number;

	*a = (struct argument){ 0 };
	if (strncmp(text, "$$", 2) == 0) {
		a->number = strtoll(text + 2, &end, 0);
		return end != text + 2 && !*end;
	}
	if (*text++ != '$')
		return false;
	text += *text == '{';
	number = strtoul(text, &end, 10);
	if (end == text || number >= r->n)
		return false;
	if (*end == ':' && end[1] && strchr("bwkq", end[1]))
		end += 2;
	if (*end == '}')
		end++;
	a->operand = &r->operands[number];
	return !*end;
}

/* The size the suffix says; without one, what the register operand says. */
static bool find_name(const struct raise *r, struct statement *s, char *word)
{
	static const char *const names[] = { "mov", "xchg", "xadd", "cmpxchg", "add", "sub",
					     "and", "or",   "xor",  "inc",     "dec", "not" };
	static const char *const plain[] = { "setz",   "sete",	 "setnz",  "setne",
					     "mfence", "lfence", "sfence", "nop" };
	size_t len = strlen(word);

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (strcmp(word, plain[i]) == 0) {
			s->name = plain[i];
			s->size = 1;
			return true;
		}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);

		if (strncmp(word, names[i], n) != 0 || len > n + 1)
			continue;
		s->name = names[i];
		if (len == n + 1) {
			s->size = word[n] == 'b'   ? 1
				  : word[n] == 'w' ? 2
				  : word[n] == 'l' ? 4
				  : word[n] == 'q' ? 8
						   : 0;
			return s->size != 0;
		}
		for (unsigned k = 0; k < s->nargs && !s->size; k++) {
			const struct operand *o = s->args[k].operand;

			if (o && !o->memory)
				s->size = size_of(r, o->type ? o->type : LLVMTypeOf(o->value));
		}
		return s->size == 1 || s->size == 2 || s->size == 4 || s->size == 8;
	}
	return false;
}

static bool read_statement(struct raise *r, char *text, struct statement *s)
{
	char *save = NULL, *word = strtok_r(text, " \t", &save), *arg;

	if (strcmp(word, "lock") == 0) {
		s->locked = true;
		word = strtok_r(NULL, " \t", &save);
		if (!word)
			return true; /* for the statement after it */
	}
	while ((arg = strtok_r(NULL, " \t,", &save))) {
		if (s->nargs == ARRAY_SIZE(s->args) || !read_argument(r, arg, &s->args[s->nargs++]))
			return false;
	}
	return find_name(r, s, word);
}

/* ---- building ---- */

static LLVMValueRef value_of(struct raise *r, const struct argument *a, unsigned size)
{
	LLVMTypeRef type = LLVMIntTypeInContext(LLVMGetTypeContext(LLVMTypeOf(r->call)), size * 8);

	if (!a->operand)
		return LLVMConstInt(type, (unsigned long long)a->number, 1);
	if (a->operand->memory || !a->operand->value)
		return NULL;
	return as_integer(r, a->operand->value, size);
}

static bool set_register(struct raise *r, struct operand *o, LLVMValueRef v)
{
	if (!o || o->memory || !o->output || !v)
		return false;
	o->value = as_register(r, v, o->type);
	return o->value != NULL;
}

static void set_zero(struct raise *r, LLVMValueRef v)
{
	r->zero = LLVMBuildICmp(r->b, LLVMIntEQ, v, LLVMConstNull(LLVMTypeOf(v)), "");
}

static bool store(struct raise *r, LLVMValueRef value, LLVMValueRef address, unsigned size)
{
	LLVMValueRef s;

	if (!value)
		return false;
	s = LLVMBuildStore(r->b, value, address);
	LLVMSetOrdering(s, LLVMAtomicOrderingRelease);
	LLVMSetAlignment(s, size);
	return true;
}

static bool build_mov(struct raise *r, struct statement *s)
{
	struct operand *from = s->args[0].operand, *to = s->args[1].operand;
	LLVMValueRef v;

	if (s->nargs != 2 || !to)
		return false;
	if (!from || !from->memory) {
		v = value_of(r, &s->args[0], s->size);
		return to->memory ? store(r, v, to->value, s->size) : set_register(r, to, v);
	}
	v = LLVMBuildLoad2(
		r->b, LLVMIntTypeInContext(LLVMGetTypeContext(LLVMTypeOf(r->call)), s->size * 8),
		from->value, "");
	LLVMSetOrdering(v, LLVMAtomicOrderingAcquire);
	LLVMSetAlignment(v, s->size);
	return set_register(r, to, v);
}

static LLVMValueRef rmw(struct raise *r, LLVMAtomicRMWBinOp op, const struct operand *memory,
			LLVMValueRef v)
{
	if (!memory || !memory->memory || !v)
		return NULL;
	return LLVMBuildAtomicRMW(r->b, op, memory->value, v,
				  LLVMAtomicOrderingSequentiallyConsistent, 0);
}

/* xchg locks by itself, and takes its operands in any order */
static bool build_xchg(struct raise *r, struct statement *s)
{
	bool first = s->nargs == 2 && s->args[0].operand && s->args[0].operand->memory;
	struct argument *memory = &s->args[!first], *reg = &s->args[first];

	if (s->nargs != 2 || !reg->operand || !memory->operand)
		return false;
	return set_register(
		r, reg->operand,
		rmw(r, LLVMAtomicRMWBinOpXchg, memory->operand, value_of(r, reg, s->size)));
}

static bool build_xadd(struct raise *r, struct statement *s)
{
	return s->nargs == 2 && s->locked &&
	       set_register(r, s->args[0].operand,
			    rmw(r, LLVMAtomicRMWBinOpAdd, s->args[1].operand,
				value_of(r, &s->args[0], s->size)));
}

static struct operand *accumulator(struct raise *r, bool output)
{
	for (unsigned i = 0; i < r->n; i++) {
		struct operand *o = &r->operands[i];

		if (o->accumulator && !o->memory && (output ? o->output : o->value != NULL))
			return o;
	}
	return NULL;
}

static bool build_cmpxchg(struct raise *r, struct statement *s)
{
	struct operand *memory = s->args[1].operand, *in = accumulator(r, false),
		       *out = accumulator(r, true);
	LLVMValueRef pair, wanted, new;

	if (s->nargs != 2 || !s->locked || !memory || !memory->memory || !in)
		return false;
	wanted = as_integer(r, in->value, s->size);
	new = value_of(r, &s->args[0], s->size);
	if (!wanted || !new)
		return false;
	pair = LLVMBuildAtomicCmpXchg(r->b, memory->value, wanted, new,
				      LLVMAtomicOrderingSequentiallyConsistent,
				      LLVMAtomicOrderingSequentiallyConsistent, 0);
	r->zero = LLVMBuildExtractValue(r->b, pair, 1, "");
	return !out || set_register(r, out, LLVMBuildExtractValue(r->b, pair, 0, ""));
}

/* The same without a lock: another thread may come between the load and the store. */
static LLVMValueRef load_and_store(struct raise *r, LLVMOpcode op, const struct operand *memory,
				   LLVMValueRef v)
{
	LLVMValueRef old, s;

	if (!memory || !memory->memory || !v)
		return NULL;
	old = LLVMBuildLoad2(r->b, LLVMTypeOf(v), memory->value, "");
	LLVMSetVolatile(old, true);
	s = LLVMBuildStore(r->b, LLVMBuildBinOp(r->b, op, old, v, ""), memory->value);
	LLVMSetVolatile(s, true);
	LLVMSetAlignment(old, 1);
	LLVMSetAlignment(s, 1);
	return old;
}

/* add, sub, and, or, xor; inc, dec, not */
static bool build_arithmetic(struct raise *r, struct statement *s)
{
	static const struct {
		const char *name;
		LLVMAtomicRMWBinOp op;
		LLVMOpcode again; /* without a lock, and the result for the flags */
		int constant;
	} table[] = {
		{ "add", LLVMAtomicRMWBinOpAdd, LLVMAdd, 0 },
		{ "sub", LLVMAtomicRMWBinOpSub, LLVMSub, 0 },
		{ "and", LLVMAtomicRMWBinOpAnd, LLVMAnd, 0 },
		{ "or", LLVMAtomicRMWBinOpOr, LLVMOr, 0 },
		{ "xor", LLVMAtomicRMWBinOpXor, LLVMXor, 0 },
		{ "inc", LLVMAtomicRMWBinOpAdd, LLVMAdd, 1 },
		{ "dec", LLVMAtomicRMWBinOpAdd, LLVMAdd, -1 },
		{ "not", LLVMAtomicRMWBinOpXor, LLVMXor, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct argument one = { .number = table[i].constant };
		LLVMValueRef v, old;

		if (strcmp(s->name, table[i].name) != 0)
			continue;
		if (s->nargs != (table[i].constant ? 1 : 2))
			return false;
		v = value_of(r, table[i].constant ? &one : &s->args[0], s->size);
		old = s->locked
			      ? rmw(r, table[i].op, s->args[s->nargs - 1].operand, v)
			      : load_and_store(r, table[i].again, s->args[s->nargs - 1].operand, v);
		if (!old)
			return false;
		if (strcmp(s->name, "not") != 0)
			set_zero(r, LLVMBuildBinOp(r->b, table[i].again, old, v, ""));
		return true;
	}
	return false;
}

static bool build_set(struct raise *r, struct statement *s)
{
	struct operand *to = s->args[0].operand;
	LLVMValueRef v;

	if (s->nargs != 1 || !to || !r->zero)
		return false;
	v = s->name[3] == 'n' ? LLVMBuildNot(r->b, r->zero, "") : r->zero;
	v = LLVMBuildZExt(r->b, v, LLVMInt8TypeInContext(LLVMGetTypeContext(LLVMTypeOf(v))), "");
	if (!to->memory)
		return set_register(r, to, v);
	LLVMBuildStore(r->b, v, to->value);
	return true;
}

static bool build(struct raise *r, struct statement *s)
{
	if (strncmp(s->name, "set", 3) == 0)
		return build_set(r, s);
	if (strcmp(s->name, "nop") == 0)
		return true;
	if (strcmp(s->name + 1, "fence") == 0) {
		LLVMBuildFence(r->b, LLVMAtomicOrderingSequentiallyConsistent, 0, "");
		return true;
	}
	if (strcmp(s->name, "mov") == 0)
		return build_mov(r, s);
	if (strcmp(s->name, "xchg") == 0)
		return build_xchg(r, s);
	if (strcmp(s->name, "xadd") == 0)
		return build_xadd(r, s);
	if (strcmp(s->name, "cmpxchg") == 0)
		return build_cmpxchg(r, s);
	return build_arithmetic(r, s);
}

/* `lock; addl $0, 0(%rsp)`: a fence as some write it */
static bool is_stack_fence(const char *text)
{
	return strncmp(text, "lock", 4) == 0 && strstr(text, "$$0") &&
	       (strstr(text, "(%rsp)") || strstr(text, "(%esp)")) && !strchr(text, '\n');
}

static void order(struct raise *r)
{
	if (r->orders) /* the compiler may not move anything over it */
		LLVMBuildFence(r->b, LLVMAtomicOrderingSequentiallyConsistent, 1, "");
}

static bool build_text(struct raise *r, const char *text, size_t len)
{
	char copy[MAX_TEXT], *save = NULL;
	struct statement s = { 0 };

	if (len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (is_stack_fence(copy)) {
		LLVMBuildFence(r->b, LLVMAtomicOrderingSequentiallyConsistent, 0, "");
		return true;
	}
	for (char *at = strtok_r(copy, ";\n", &save); at; at = strtok_r(NULL, ";\n", &save)) {
		bool locked = s.locked && !s.name;

		if (!at[strspn(at, " \t")])
			continue;
		s = (struct statement){ .locked = locked };
		if (!read_statement(r, at, &s) || (s.name && !build(r, &s)))
			return false;
	}
	return s.name != NULL;
}

static LLVMValueRef results(struct raise *r)
{
	LLVMTypeRef type = LLVMTypeOf(r->call);
	bool several = LLVMGetTypeKind(type) == LLVMStructTypeKind;
	LLVMValueRef all = several ? LLVMGetPoison(type) : NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < r->n; i++) {
		struct operand *o = &r->operands[i];

		if (!o->type)
			continue;
		if (o->flag && r->zero) {
			LLVMValueRef v = o->flag == 'n' ? LLVMBuildNot(r->b, r->zero, "") : r->zero;

			o->value = LLVMBuildZExtOrBitCast(r->b, v, o->type, "");
		}
		if (!o->value || LLVMTypeOf(o->value) != o->type)
			return NULL;
		all = several ? LLVMBuildInsertValue(r->b, all, o->value, n++, "") : o->value;
	}
	return all;
}

/* Take back what stands between `mark` (NULL: the block's beginning) and the call. */
static void undo(LLVMValueRef mark, LLVMValueRef call)
{
	LLVMValueRef last;

	while ((last = LLVMGetPreviousInstruction(call)) && last != mark)
		LLVMInstructionEraseFromParent(last);
}

static void raise_one(struct raise *r, LLVMValueRef call)
{
	LLVMValueRef f = LLVMGetCalledValue(call), mark = LLVMGetPreviousInstruction(call), v;
	size_t len, clen;
	const char *text = LLVMGetInlineAsmAsmString(f, &len);
	const char *constraints = LLVMGetInlineAsmConstraintString(f, &clen);
	bool none = LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind;

	r->call = call;
	r->n = 0;
	r->zero = NULL;
	r->orders = false;
	LLVMPositionBuilderBefore(r->b, call);
	if (!read_constraints(r, constraints, clen))
		return;
	order(r);
	if (!build_text(r, text, len) || (!(v = results(r)) && !none)) {
		undo(mark, call);
		return;
	}
	order(r);
	if (!none)
		LLVMReplaceAllUsesWith(call, v);
	LLVMInstructionEraseFromParent(call);
}

void assembly_raise(LLVMModuleRef m, LLVMTargetDataRef layout)
{
	struct raise r = { .layout = layout,
			   .b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m)) };

	for_each_function(f, m) for_each_block(b, f)
	{
		LLVMValueRef next;

		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = next) {
			next = LLVMGetNextInstruction(i);
			if (LLVMIsACallInst(i) && LLVMIsAInlineAsm(LLVMGetCalledValue(i)) &&
			    LLVMGetInlineAsmDialect(LLVMGetCalledValue(i)) ==
				    LLVMInlineAsmDialectATT)
				raise_one(&r, i);
		}
	}
	LLVMDisposeBuilder(r.b);
}

bool assembly_memory(LLVMValueRef call, unsigned arg, LLVMTargetDataRef layout, uint64_t *bytes,
		     bool *written)
{
	struct raise r = { .layout = layout, .call = call };
	LLVMValueRef f = LLVMGetCalledValue(call);
	unsigned kind = attribute_kind("elementtype");
	LLVMAttributeRef element = LLVMGetCallSiteEnumAttribute(call, arg + 1, kind);
	size_t len, clen;
	const char *text = LLVMGetInlineAsmAsmString(f, &len);
	const char *constraints = LLVMGetInlineAsmConstraintString(f, &clen);

	if (!element || strstr(text, "prefetch") || !read_constraints(&r, constraints, clen))
		return false;
	*bytes = LLVMStoreSizeOfType(layout, LLVMGetTypeAttributeValue(element));
	*written = false;
	for (unsigned i = 0; i < r.n; i++)
		*written |= r.operands[i].output && r.operands[i].memory &&
			    r.operands[i].value == LLVMGetOperand(call, arg);
	return true;
}

/* ---- what stays ---- */

/* Instructions that touch no memory another thread can see. */
static bool is_harmless_word(const char *word)
{
	static const char *const words[] = {
		"rep",	      "repz",	    "nop",	 "pause",	"mfence",     "lfence",
		"sfence",     "rdtsc",	    "rdtscp",	 "rdpmc",	"rdrand",     "rdseed",
		"cpuid",      "xgetbv",	    "ud2",	 "int3",	"int",	      "hlt",
		"tpause",     "umwait",	    "serialize", "endbr64",	"stmxcsr",    "ldmxcsr",
		"fnstcw",     "fldcw",	    "fnclex",	 "clflush",	"clwb",	      "clflushopt",
		"emms",	      "vzeroupper", "prefetchw", "prefetchnta", "prefetcht0", "prefetcht1",
		"prefetcht2",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return *word == '.' || *word == '#' || word[strlen(word) - 1] == ':';
}

static bool is_harmless_text(const char *text, size_t len)
{
	char copy[MAX_TEXT], *save = NULL, *inner = NULL, *word;

	if (len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	for (char *at = strtok_r(copy, ";\n", &save); at; at = strtok_r(NULL, ";\n", &save)) {
		word = strtok_r(at, " \t", &inner);
		if (word && strncmp(word, "rep", 3) == 0 && *inner)
			word = strtok_r(NULL, " \t", &inner);
		if (word && !is_harmless_word(word))
			return false;
	}
	return true;
}

bool assembly_may_touch(LLVMValueRef call)
{
	LLVMValueRef f = LLVMGetCalledValue(call);
	size_t len, clen;
	const char *text = LLVMGetInlineAsmAsmString(f, &len);
	const char *constraints = LLVMGetInlineAsmConstraintString(f, &clen);

	return memmem(constraints, clen, "~{memory}", 9) && !is_harmless_text(text, len);
}
