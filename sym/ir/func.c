/* sym/ir/func.c - translate one function's body into operations.
 *
 * Every SSA value gets registers of its own, one per part of its type; constants get negative
 * registers, which a call copies in front of the frame. Three things make the result fast enough
 * to interpret: a comparison used only by the branch behind it becomes one operation with it;
 * address arithmetic used by a load or store becomes part of it; and the moves of phi nodes stand
 * on the edges, the last of them jumping too. Folding addresses is safe because an operand's
 * definition dominates the address's, so it cannot have run again without the address having been
 * computed again as well.
 *
 * What cannot be translated becomes OP_UNSUPPORTED: the run stops there, and only there. */
#include "base/path.h"
#include "base/strbuf.h"
#include "sym/ir/lower.h"

#include <llvm-c/DebugInfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct op *emit(struct lower *l, enum opcode code)
{
	vec_push(&l->ops, ((struct op){ .code = (uint16_t)code }));
	vec_push(&l->src, l->at);
	return vec_last(&l->ops);
}

void emit_unsupported(struct lower *l, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	vec_push(&l->ir->messages,
		 arena_printf(&l->ir->arena, "%s%s", text,
			      strstr(text, "compile")
				      ? ""
				      : "; compile the portable C version of this code, "
					"or exclude it"));
	free(text);
	emit(l, OP_UNSUPPORTED)->imm = l->ir->messages.len - 1;
}

void emit_mov(struct lower *l, int32_t d, int32_t a)
{
	struct op *o;

	if (d == a)
		return;
	o = emit(l, OP_MOV);
	o->d = d;
	o->a = a;
}

int32_t new_regs(struct lower *l, uint32_t n)
{
	int32_t r = l->nregs;

	l->nregs += (int32_t)n;
	return r;
}

int32_t const_reg(struct lower *l, uint64_t value)
{
	uint64_t *slot = map_put(&l->const_regs, value, UINT64_MAX);

	if (*slot == UINT64_MAX) {
		*slot = l->consts.len;
		vec_push(&l->consts, value);
	}
	return -1 - (int32_t)*slot;
}

/* A constant of several parts: fresh registers next to each other. */
static int32_t const_regs(struct lower *l, LLVMValueRef c)
{
	struct parts parts = { 0 };
	LLVMTypeRef type = LLVMTypeOf(c);
	const char *why = "a constant of a type the machine does not know";
	uint8_t *bytes = xcalloc(1, type_size(l->ir, type) + 16);
	size_t base = l->consts.len;
	int32_t r = 0;

	if (!type_parts(l->ir, type, 0, &parts) || !const_bytes(l->ir, c, bytes, &why)) {
		emit_unsupported(l, "%s", why);
		r = const_reg(l, 0);
	} else {
		for (size_t i = parts.len; i-- > 0;) {
			struct part *p = &parts.data[i];
			uint64_t v = 0;

			if (LLVMGetTypeKind(type) == LLVMVectorTypeKind && p->w % 8)
				v = LLVMConstIntGetZExtValue(
					LLVMGetAggregateElement(c, (unsigned)i));
			else
				memcpy(&v, bytes + p->offset, (p->w + 7u) / 8);
			vec_push(&l->consts, v);
		}
		r = -(int32_t)(base + parts.len);
	}
	vec_deinit(&parts);
	free(bytes);
	return r;
}

static int32_t const_operand(struct lower *l, LLVMValueRef v)
{
	const char *why = NULL;
	uint64_t value;
	struct op *o;

	if (LLVMIsAGlobalVariable(v) && LLVMIsThreadLocal(v)) {
		int32_t d = new_regs(l, 1);

		o = emit(l, OP_TLS);
		o->d = d;
		o->imm = l->ir->globals.data[*map_find(&l->ir->by_llvm, (uintptr_t)v)].tls_index;
		return d;
	}
	if (type_regs(l->ir, LLVMTypeOf(v)) != 1 ||
	    LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMStructTypeKind ||
	    LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMArrayTypeKind ||
	    LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind)
		return const_regs(l, v);
	if (!const_u64(l->ir, v, &value, &why)) {
		emit_unsupported(l, "%s", why);
		value = 0;
	}
	return const_reg(l, value);
}

int32_t reg_of(struct lower *l, LLVMValueRef v)
{
	uint64_t *slot;

	if (LLVMIsConstant(v))
		return const_operand(l, v);
	slot = map_put(&l->value_regs, (uintptr_t)v, UINT64_MAX);
	if (*slot == UINT64_MAX)
		*slot = (uint64_t)new_regs(l, type_regs(l->ir, LLVMTypeOf(v)));
	return (int32_t)*slot;
}

static void lower_instruction(struct lower *l, LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMRet:
		lower_ret(l, i);
		return;
	case LLVMBr:
		lower_branch(l, i);
		return;
	case LLVMSwitch:
		lower_switch(l, i);
		return;
	case LLVMIndirectBr:
		lower_indirect(l, i);
		return;
	case LLVMUnreachable:
		emit(l, OP_UNREACHABLE);
		return;
	case LLVMInvoke:
		lower_invoke(l, i);
		return;
	case LLVMCall:
		lower_call(l, i);
		return;
	case LLVMPHI:
		return; /* on the edges */
	case LLVMAlloca:
		lower_alloca(l, i);
		return;
	case LLVMLoad:
		lower_load(l, i);
		return;
	case LLVMStore:
		lower_store(l, i);
		return;
	case LLVMGetElementPtr:
		lower_address(l, i);
		return;
	case LLVMICmp:
		if (!fuses(i))
			lower_icmp(l, i);
		return;
	case LLVMFCmp:
		lower_fcmp(l, i);
		return;
	case LLVMSelect:
		lower_select(l, i);
		return;
	case LLVMExtractValue:
		lower_aggregate(l, i, false);
		return;
	case LLVMInsertValue:
		lower_aggregate(l, i, true);
		return;
	case LLVMExtractElement:
		lower_element(l, i, false);
		return;
	case LLVMInsertElement:
		lower_element(l, i, true);
		return;
	case LLVMShuffleVector:
		lower_shuffle(l, i);
		return;
	case LLVMFence:
		emit(l, OP_FENCE);
		return;
	case LLVMAtomicCmpXchg:
		lower_cmpxchg(l, i);
		return;
	case LLVMAtomicRMW:
		lower_rmw(l, i);
		return;
	case LLVMFreeze: {
		int32_t d = reg_of(l, i), a = reg_of(l, LLVMGetOperand(i, 0));

		for (uint32_t k = 0; k < type_regs(l->ir, LLVMTypeOf(i)); k++)
			emit_mov(l, d + (int32_t)k, a + (int32_t)k);
		return;
	}
	case LLVMLandingPad:
		lower_landing(l, i);
		return;
	case LLVMResume:
		lower_resume(l, i);
		return;
	case LLVMCleanupPad:
	case LLVMCatchPad:
	case LLVMCatchSwitch:
		emit_unsupported(l, "exceptions of another operating system");
		return;
	case LLVMVAArg:
		emit_unsupported(l, "the va_arg instruction");
		return;
	case LLVMCallBr:
		emit_unsupported(l, "asm goto");
		return;
	default:
		if (LLVMIsACastInst(i))
			lower_cast(l, i);
		else
			lower_arith(l, i);
	}
}

/* A path without detours ("/usr/lib/gcc/x/12/../../../../include"); the same text is asked for again
 * and again. */
static uint32_t file_number(struct ir *ir, const char *path)
{
	struct strbuf clean = { 0 };
	uint32_t number;

	if (!strstr(path, "/.") && strncmp(path, "./", 2) != 0)
		return names_intern(&ir->files, path);
	path_shorten(path, NULL, &clean);
	number = names_intern(&ir->files, strbuf_str(&clean));
	strbuf_deinit(&clean);
	return number;
}

static void set_location(struct lower *l, LLVMValueRef i, uint32_t number)
{
	unsigned len = 0, line = LLVMGetDebugLocLine(i);
	const char *file = line ? LLVMGetDebugLocFilename(i, &len) : NULL;

	l->at.ir = number;
	if (!line || !file)
		return; /* keep the last known line: better than nothing */
	l->at.line = line;
	l->at.file = file_number(l->ir, file);
	l->at.place = place_of(l->ir, i);
}

/* A parameter passed by value is a copy that the callee owns. */
static void lower_params(struct lower *l, LLVMValueRef fn)
{
	unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
	struct op *o;

	for (unsigned i = 0; i < LLVMCountParams(fn); i++)
		reg_of(l, LLVMGetParam(fn, i));
	if (l->f->variadic)
		l->rest = new_regs(l, 1);
	for (unsigned i = 0; i < LLVMCountParams(fn); i++) {
		LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(fn, i + 1, byval);
		int32_t r = reg_of(l, LLVMGetParam(fn, i)), t, n;
		uint64_t size;

		if (!a)
			continue;
		size = type_size(l->ir, LLVMGetTypeAttributeValue(a));
		t = new_regs(l, 1);
		n = const_reg(l, size);
		o = emit(l, OP_ALLOCA);
		o->d = t;
		o->imm = size;
		o = emit(l, OP_MEMCPY);
		o->d = t;
		o->a = r;
		o->b = n;
		emit_mov(l, r, t);
	}
}

static void patch(struct lower *l)
{
	for (size_t i = 0; i < l->fixups.len; i++) {
		struct fixup *fix = &l->fixups.data[i];
		uint64_t start = *map_find(&l->block_starts, (uintptr_t)fix->to);

		if (fix->part == 2)
			l->ir->tables.data[fix->op].targets[fix->index] = (uint32_t)start;
		else
			l->ops.data[fix->op].imm |= start << (32 * fix->part);
	}
}

static void finish(struct lower *l)
{
	struct function *f = l->f;
	struct arena *a = &l->ir->arena;

	f->nops = (uint32_t)l->ops.len;
	f->ops = arena_memdup(a, l->ops.data, l->ops.len * sizeof(struct op));
	f->src = arena_memdup(a, l->src.data, l->src.len * sizeof(struct op_src));
	f->covered = arena_alloc(a, l->ops.len + 1);
	f->nunwinds = (uint32_t)l->unwinds.len;
	f->unwinds = arena_memdup(a, l->unwinds.data, l->unwinds.len * sizeof(struct unwind));
	f->nregs = (uint32_t)l->nregs;
	f->nconst = (uint32_t)l->consts.len;
	f->consts = arena_array(a, uint64_t, l->consts.len + 1);
	for (size_t i = 0; i < l->consts.len; i++) /* register -1 is the last of them */
		f->consts[l->consts.len - 1 - i] = l->consts.data[i];
}

void ir_lower(struct ir *ir, struct function *f)
{
	struct lower l = {
		.ir = ir, .f = f, .at.file = NAMES_NONE, .at.ir = UINT32_MAX
	}; /* what comes before the first instruction */
	LLVMValueRef fn = f->llvm;
	LLVMMetadataRef sp = LLVMGetSubprogram(fn);
	uint32_t number = 0;

	if (f->lowered || f->declared_only)
		return;
	f->lowered = true;
	f->line = sp ? LLVMDISubprogramGetLine(sp) : 0;
	l.at.line = f->line;
	locals_find(&l, fn);
	lower_params(&l, fn);
	for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb;
	     bb = LLVMGetNextBasicBlock(bb)) {
		map_put(&l.block_starts, (uintptr_t)bb, l.ops.len);
		l.block_op = (uint32_t)l.ops.len;
		for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i;
		     i = LLVMGetNextInstruction(i)) {
			set_location(&l, i, number++);
			lower_instruction(&l, i);
		}
	}
	patch(&l);
	finish(&l);
	vec_deinit(&l.ops);
	vec_deinit(&l.src);
	vec_deinit(&l.consts);
	vec_deinit(&l.fixups);
	vec_deinit(&l.unwinds);
	map_deinit(&l.const_regs);
	map_deinit(&l.locals);
	map_deinit(&l.value_regs);
	map_deinit(&l.block_starts);
	if (ir->on_lowered)
		ir->on_lowered(ir->on_lowered_arg, f);
}
