/* cc/instrument/bits.c - a branch bit is one piece of assembly.
 *
 *	btl	$0, taken		carry = taken
 *	movq	plait_bits, scratch
 *	adcq	scratch, scratch	shift it in; the sign says that the word is full
 *	movq	scratch, plait_bits
 *	js	2f
 * 1:	...
 * 2:	call	plait_flush_bits_kept	out of the way; keeps the registers (rt/modes/kept.S)
 *	jmp	1b
 *
 * As ordinary code this would be two more basic blocks at each branch, and a call that nothing
 * survives in registers; a big program has tens of thousands of them.
 *
 * The assembly touches memory that is not the program's, and says so: loads of the program may be
 * moved across it. `alignstack` keeps the red zone free for the call. Constraints are kept few:
 * each costs the code generator as much as an instruction.
 *
 * A value that mode path logs is another piece:
 *
 *	movq	plait_values, scratch	next
 *	cmpq	plait_values+8, scratch	end
 *	jae	2f			call plait_flush_values_kept, load next again
 * 1:	movq	value, (scratch)	as many bytes as it has
 *	addq	$8, scratch
 *	movq	scratch, plait_values */
#include "cc/instrument/bits.h"

#include "base/strbuf.h"

#include <string.h>

static bool has_feature(LLVMValueRef f, const char *feature)
{
	const LLVMAttributeIndex at = FUNCTION_ATTRIBUTES;
	LLVMAttributeRef a = LLVMGetStringAttributeAtIndex(f, at, "target-features", 15);
	unsigned n;

	return a && strstr(LLVMGetStringAttributeValue(a, &n), feature);
}

void bits_add_clobbers(struct strbuf *sb, LLVMValueRef f)
{
	bool many = has_feature(f, "+avx512");

	strbuf_addf(sb, ",~{flags}");
	if (!has_feature(f, "+avx"))
		return;
	for (int i = 0; i < (many ? 32 : 16); i++)
		strbuf_addf(sb, ",~{xmm%d}", i);
	for (int i = 0; many && i < 8; i++)
		strbuf_addf(sb, ",~{k%d}", i);
}

/* Operands: the scratch register, in a library another for the address; taken; in full the site. */
static void write_text(const struct bits *s, struct strbuf *sb)
{
	int taken = s->library ? 2 : 1;
	const char *word = s->library ? "%fs:($1)" : "%fs:plait_bits@tpoff";

	if (s->library)
		strbuf_addf(sb, "movq plait_bits@gottpoff(%%rip), $1\n\t");
	strbuf_addf(sb,
		    "btl $$0, $%d\n\tmovq %s, $0\n\tadcq $0, $0\n\tmovq $0, %s\n\tjs 2f\n1:\n\t"
		    ".subsection 1\n2:\t",
		    taken, word, word);
	if (s->full)
		strbuf_addf(sb,
			    "pushq $%d\n\tcall *plait_flush_branch_kept@GOTPCREL(%%rip)\n\t"
			    "popq $0\n\t",
			    taken + 1);
	else
		strbuf_addf(sb, "call *plait_flush_bits_kept@GOTPCREL(%%rip)\n\t");
	strbuf_addf(sb, "jmp 1b\n\t.subsection 0");
}

/* The text as a call in `f` that nobody may drop: a scratch register (in a library two) and the
 * arguments, whose constraints are `inputs`. */
static void build(const struct bits *s, LLVMBuilderRef b, LLVMValueRef f, const struct strbuf *text,
		  LLVMValueRef *args, unsigned n, const char *inputs)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(s->context), two[2] = { i64, i64 };
	LLVMTypeRef ret = s->library ? LLVMStructTypeInContext(s->context, two, 2, 0) : i64;
	LLVMTypeRef params[2] = { LLVMTypeOf(args[0]), i64 };
	LLVMTypeRef type = LLVMFunctionType(ret, params, n, 0);
	struct strbuf constraints = { 0 };
	LLVMValueRef code, call;

	strbuf_addf(&constraints, "%s,%s", s->library ? "=&r,=&r" : "=&r", inputs);
	bits_add_clobbers(&constraints, f);
	code = LLVMGetInlineAsm(type, text->data, text->len, constraints.data, constraints.len,
				true, true, LLVMInlineAsmDialectATT, false);
	call = LLVMBuildCall2(b, type, code, args, n, "");
	call_add_attribute(s->context, call, "nounwind", 0);
	/* two bits each: arguments' memory (no), memory that nobody sees (read and written) */
	call_add_attribute(s->context, call, "memory", 3 << 2);
	strbuf_deinit(&constraints);
}

void bits_push(const struct bits *s, LLVMBuilderRef b, LLVMValueRef f, LLVMValueRef taken,
	       LLVMValueRef site)
{
	LLVMTypeRef i32 = LLVMInt32TypeInContext(s->context);
	LLVMTypeRef i64 = LLVMInt64TypeInContext(s->context);
	LLVMValueRef args[2] = { LLVMBuildZExt(b, taken, i32, "") };
	struct strbuf text = { 0 };

	if (s->full)
		args[1] = LLVMBuildZExt(b, site, i64, "");
	write_text(s, &text);
	build(s, b, f, &text, args, s->full ? 2 : 1, !s->full ? "r" : s->library ? "r,r" : "r,i");
	strbuf_deinit(&text);
}

static void write_value_text(const struct bits *s, struct strbuf *sb, unsigned bytes)
{
	static const struct {
		char suffix, modifier;
	} of[] = { [1] = { 'b', 'b' }, [2] = { 'w', 'w' }, [4] = { 'l', 'k' }, [8] = { 'q', 'q' } };
	const char *next = s->library ? "%fs:($1)" : "%fs:plait_values@tpoff";
	const char *end = s->library ? "%fs:8($1)" : "%fs:plait_values@tpoff+8";

	if (s->library)
		strbuf_addf(sb, "movq plait_values@gottpoff(%%rip), $1\n\t");
	strbuf_addf(sb,
		    "movq %s, $0\n\tcmpq %s, $0\n\tjae 2f\n1:\tmov%c ${%d:%c}, ($0)\n\t"
		    "addq $$%u, $0\n\tmovq $0, %s\n\t"
		    ".subsection 1\n2:\tcall *plait_flush_values_kept@GOTPCREL(%%rip)\n\t"
		    "movq %s, $0\n\tjmp 1b\n\t.subsection 0",
		    next, end, of[bytes].suffix, s->library ? 2 : 1, of[bytes].modifier, bytes,
		    next, next);
}

void values_push(const struct bits *s, LLVMBuilderRef b, LLVMValueRef f, LLVMValueRef value,
		 unsigned bytes)
{
	struct strbuf text = { 0 };

	write_value_text(s, &text, bytes);
	build(s, b, f, &text, &value, 1, "r");
	strbuf_deinit(&text);
}
