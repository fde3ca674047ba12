/* cc/instrument/shadow.c - one access of the graph variant is one piece of assembly, in front of it.
 *
 * For an aligned word that is read:
 *
 *	movq	address, s
 *	btcq	$44, s			the cell (hooks.h, PLAIT_SHADOW_BIT)
 *	movl	(s), s
 *	xorl	plait_shadow.read, s	the tag of its writer is gone when that is this thread
 *	shrl	$22, s
 *	jne	2f
 * 1:	...
 * 2:	movq	address, s		out of the way: has it read this before?
 *	btcq	$44, s
 *	shrq	$1, s
 *	movzwl	(s), s
 *	andw	plait_shadow.bits, s
 *	cmpw	plait_shadow.want, s
 *	je	1b
 *	pushq	address			something new: keeps the registers (rt/modes/kept.S)
 *	pushq	site
 *	call	plait_shadow_read4_kept
 *	popq	s; popq s
 *	jmp	1b
 *
 * A write to a word of its own that nobody has read since is nothing new either. The bit for
 * readers lies below the tag, so this test shifts by one less. Eight bytes are two cells in one
 * load. An access that may not be aligned is checked together with the next word; that may report
 * too much, so the callee checks again.
 *
 * The assembly touches memory that is not the program's, and says so: the optimiser sees the
 * program as if it were not there. Constraints and clobbers are those of a branch bit (bits.c). */
#include "cc/instrument/shadow.h"

#include "base/strbuf.h"
#include "cc/instrument/bits.h"
#include "unplait/hooks.h"

#include <stddef.h>
#include <string.h>

#define FIELD(name) ((unsigned)offsetof(struct plait_shadow, name))

struct text {
	const struct shadow *s;
	const struct shadow_access *a;
	struct strbuf sb;
	unsigned cells;	  /* that it may touch: 1, 2, 3 */
	int address, tls; /* operands; 0 is the scratch register, 1 the second one for 3 cells */
};

static unsigned cells_of(const struct shadow_access *a)
{
	if (a->alignment >= 4 || a->alignment >= a->bytes)
		return a->bytes > 4 ? 2 : 1;
	return a->bytes > 4 ? 3 : 2;
}

/* A field of plait_shadow, as an operand. */
static void add_field(struct text *t, unsigned offset)
{
	if (t->s->library)
		strbuf_addf(&t->sb, "%%fs:%u($%d)", offset, t->tls);
	else
		strbuf_addf(&t->sb, "%%fs:plait_shadow@tpoff+%u", offset);
}

static void add_with_field(struct text *t, const char *op, unsigned field, const char *reg)
{
	strbuf_addf(&t->sb, "%s ", op);
	add_field(t, field);
	strbuf_addf(&t->sb, ", %s\n\t", reg);
}

/* $0 = address of the (first) cell. */
static void add_cell_address(struct text *t)
{
	strbuf_addf(&t->sb, "movq $%d, $0\n\t", t->address);
	if (t->a->alignment < 4)
		strbuf_addf(&t->sb, "andq $$-4, $0\n\t");
	strbuf_addf(&t->sb, "btcq $$%d, $0\n\t", PLAIT_SHADOW_BIT);
}

static void add_look_at_cells(struct text *t)
{
	unsigned mine = t->a->write ? FIELD(write) : FIELD(read);
	unsigned mask = t->a->write ? FIELD(own) : FIELD(tags);

	add_cell_address(t);
	if (t->cells == 1) {
		strbuf_addf(&t->sb, "movl ($0), ${0:k}\n\t");
		add_with_field(t, "xorl", mine, "${0:k}");
		strbuf_addf(&t->sb, "shrl $$%d, ${0:k}\n\t",
			    PLAIT_CELL_NODE_BITS + (t->a->write ? 0 : 1));
	} else {
		if (t->cells == 3) {
			strbuf_addf(&t->sb, "movq ($0), $1\n\t");
			add_with_field(t, "xorq", mine, "$1");
		}
		strbuf_addf(&t->sb, "movq %s($0), $0\n\t", t->cells == 3 ? "4" : "");
		add_with_field(t, "xorq", mine, "$0");
		if (t->cells == 3)
			strbuf_addf(&t->sb, "orq $1, $0\n\t");
		add_with_field(t, "testq", mask, "$0");
	}
	strbuf_addf(&t->sb, "jne 2f\n1:\n\t");
}

static void add_look_at_sharers(struct text *t)
{
	bool one = t->cells == 1;
	const char *reg = one ? "${0:w}" : "${0:k}";

	add_cell_address(t);
	strbuf_addf(&t->sb, "shrq $$1, $0\n\t");
	if (t->cells == 3) {
		strbuf_addf(&t->sb, "movl ($0), ${1:k}\n\tandl 2($0), ${1:k}\n\t");
		strbuf_addf(&t->sb, "movl ${1:k}, ${0:k}\n\t");
	} else {
		strbuf_addf(&t->sb, "%s ($0), ${0:k}\n\t", one ? "movzwl" : "movl");
	}
	add_with_field(t, one ? "andw" : "andl", FIELD(bits), reg);
	add_with_field(t, one ? "cmpw" : "cmpl", FIELD(want), reg);
	strbuf_addf(&t->sb, "je 1b\n\t");
}

static void write_text(struct text *t)
{
	if (t->s->library)
		strbuf_addf(&t->sb, "movq plait_shadow@gottpoff(%%rip), $%d\n\t", t->tls);
	add_look_at_cells(t);
	strbuf_addf(&t->sb, ".subsection 1\n2:\t");
	if (!t->a->write)
		add_look_at_sharers(t);
	strbuf_addf(&t->sb,
		    "pushq $%d\n\tpushq $%d\n\tcall *plait_shadow_%s%u_kept@GOTPCREL(%%rip)\n\t"
		    "popq $0\n\tpopq $0\n\tjmp 1b\n\t.subsection 0",
		    t->address, t->address + 1, t->a->write ? "write" : "read", t->a->bytes);
}

void shadow_look(const struct shadow *s, LLVMBuilderRef b, LLVMValueRef f,
		 const struct shadow_access *a)
{
	struct text t = { .s = s, .a = a, .cells = cells_of(a) };
	LLVMTypeRef i64 = LLVMInt64TypeInContext(s->context), outs[3] = { i64, i64, i64 };
	LLVMTypeRef params[2] = { LLVMPointerTypeInContext(s->context, 0), i64 }, type;
	LLVMValueRef args[2] = { a->address, LLVMBuildZExt(b, a->site, i64, "") }, code, call;
	struct strbuf constraints = { 0 };
	unsigned n = t.cells == 3 ? 2 : 1;

	t.tls = (int)n;
	if (s->library)
		n++;
	t.address = (int)n;
	for (unsigned i = 0; i < n; i++)
		strbuf_addf(&constraints, "=&r,");
	strbuf_addf(&constraints, "r,%s", s->library ? "r" : "i");
	bits_add_clobbers(&constraints, f);
	write_text(&t);
	type = LLVMFunctionType(n == 1 ? i64 : LLVMStructTypeInContext(s->context, outs, n, 0),
				params, 2, 0);
	code = LLVMGetInlineAsm(type, t.sb.data, t.sb.len, constraints.data, constraints.len, true,
				true, LLVMInlineAsmDialectATT, false);
	call = LLVMBuildCall2(b, type, code, args, 2, "");
	call_add_attribute(s->context, call, "nounwind", 0);
	/* two bits each: arguments' memory (no), memory that nobody sees (read and written) */
	call_add_attribute(s->context, call, "memory", 3 << 2);
	strbuf_deinit(&t.sb);
	strbuf_deinit(&constraints);
}
