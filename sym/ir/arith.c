/* sym/ir/arith.c - lowering of arithmetic, comparisons and conversions, lane by lane for vectors.
 */
#include "sym/ir/lower.h"

static struct op *emit3(struct lower *l, enum opcode code, int32_t d, int32_t a, int32_t b,
			unsigned w)
{
	struct op *o = emit(l, code);

	o->d = d;
	o->a = a;
	o->b = b;
	o->w = (uint8_t)w;
	return o;
}

static enum opcode by_width(enum opcode op64, unsigned w)
{
	return w == 64 ? op64 : w == 32 ? op64 + 1 : op64 + 2;
}

static void int_op(struct lower *l, LLVMOpcode op, int32_t d, int32_t a, int32_t b, unsigned w)
{
	enum opcode code;

	if (w > 64) {
		emit3(l, OP_WBIN, d, a, b, w)->aux = (uint8_t)op;
		return;
	}
	switch (op) {
	case LLVMAdd:
		code = by_width(OP_ADD64, w);
		break;
	case LLVMSub:
		code = by_width(OP_SUB64, w);
		break;
	case LLVMMul:
		code = by_width(OP_MUL64, w);
		break;
	case LLVMUDiv:
		code = OP_UDIV;
		break;
	case LLVMSDiv:
		code = OP_SDIV;
		break;
	case LLVMURem:
		code = OP_UREM;
		break;
	case LLVMSRem:
		code = OP_SREM;
		break;
	case LLVMShl:
		code = OP_SHL;
		break;
	case LLVMLShr:
		code = OP_LSHR;
		break;
	case LLVMAShr:
		code = OP_ASHR;
		break;
	case LLVMAnd:
		code = OP_AND;
		break;
	case LLVMOr:
		code = OP_OR;
		break;
	case LLVMXor:
		code = OP_XOR;
		break;
	default:
		emit_unsupported(l, "LLVM instruction number %d", (int)op);
		return;
	}
	emit3(l, code, d, a, b, w);
}

static void fp_op(struct lower *l, LLVMOpcode op, int32_t d, int32_t a, int32_t b, unsigned w)
{
	static const struct {
		LLVMOpcode llvm;
		enum opcode code;
	} table[] = { { LLVMFAdd, OP_FADD }, { LLVMFSub, OP_FSUB }, { LLVMFMul, OP_FMUL },
		      { LLVMFDiv, OP_FDIV }, { LLVMFRem, OP_FREM }, { LLVMFNeg, OP_FNEG } };

	for (unsigned i = 0; i < ARRAY_SIZE(table); i++) {
		if (table[i].llvm != op)
			continue;
		if (w == 80 && op == LLVMFNeg)
			emit3(l, OP_LDCONV, d, a, 0, w)->aux = LD_NEG;
		else if (w == 80)
			emit3(l, OP_LDBIN, d, a, b, w)->aux = (uint8_t)i;
		else
			emit3(l, table[i].code, d, a, b, w);
		return;
	}
	emit_unsupported(l, "LLVM instruction number %d", (int)op);
}

static bool known_fp(LLVMTypeRef t)
{
	LLVMTypeKind k = LLVMGetTypeKind(t);

	return k == LLVMFloatTypeKind || k == LLVMDoubleTypeKind || k == LLVMX86_FP80TypeKind;
}

static bool is_int_like(LLVMTypeRef t)
{
	LLVMTypeKind k = LLVMGetTypeKind(t);

	return k == LLVMIntegerTypeKind || k == LLVMPointerTypeKind;
}

void lower_arith(struct lower *l, LLVMValueRef i)
{
	LLVMOpcode op = LLVMGetInstructionOpcode(i);
	LLVMTypeRef type = scalar_type(LLVMTypeOf(i));
	int32_t a = reg_of(l, LLVMGetOperand(i, 0)),
		b = LLVMGetNumOperands(i) > 1 ? reg_of(l, LLVMGetOperand(i, 1)) : a,
		d = reg_of(l, i), k = (int32_t)type_regs(l->ir, type);

	for (int32_t n = 0; n < (int32_t)lanes(LLVMTypeOf(i)); n++) {
		if (is_int_like(type) && bits_of(type) <= 128)
			int_op(l, op, d + n * k, a + n * k, b + n * k, bits_of(type));
		else if (known_fp(type))
			fp_op(l, op, d + n * k, a + n * k, b + n * k, bits_of(type));
		else
			emit_unsupported(l, "arithmetic on a type the machine does not know");
	}
}

void lower_icmp(struct lower *l, LLVMValueRef i)
{
	LLVMIntPredicate pred = LLVMGetICmpPredicate(i);
	LLVMTypeRef type = scalar_type(LLVMTypeOf(LLVMGetOperand(i, 0)));
	int32_t a = reg_of(l, LLVMGetOperand(i, 0)), b = reg_of(l, LLVMGetOperand(i, 1)),
		d = reg_of(l, i), k = (int32_t)type_regs(l->ir, type);
	unsigned w = bits_of(type);
	bool swap = pred == LLVMIntUGT || pred == LLVMIntUGE || pred == LLVMIntSGT ||
		    pred == LLVMIntSGE;
	enum opcode code = pred == LLVMIntEQ			      ? OP_EQ
			   : pred == LLVMIntNE			      ? OP_NE
			   : pred == LLVMIntULT || pred == LLVMIntUGT ? OP_ULT
			   : pred == LLVMIntULE || pred == LLVMIntUGE ? OP_ULE
			   : pred == LLVMIntSLT || pred == LLVMIntSGT ? OP_SLT
								      : OP_SLE;

	for (int32_t n = 0; n < (int32_t)lanes(LLVMTypeOf(i)); n++) {
		if (w > 64)
			emit3(l, OP_WCMP, d + n, a + n * k, b + n * k, w)->aux = (uint8_t)pred;
		else
			emit3(l, code, d + n, (swap ? b : a) + n, (swap ? a : b) + n, w);
	}
}

void lower_fcmp(struct lower *l, LLVMValueRef i)
{
	LLVMTypeRef type = scalar_type(LLVMTypeOf(LLVMGetOperand(i, 0)));
	int32_t a = reg_of(l, LLVMGetOperand(i, 0)), b = reg_of(l, LLVMGetOperand(i, 1)),
		d = reg_of(l, i), k = (int32_t)type_regs(l->ir, type);

	if (!known_fp(type)) {
		emit_unsupported(l,
				 "comparison of a floating-point type the machine does not know");
		return;
	}
	for (int32_t n = 0; n < (int32_t)lanes(LLVMTypeOf(i)); n++)
		emit3(l, bits_of(type) == 80 ? OP_LDCMP : OP_FCMP, d + n, a + n * k, b + n * k,
		      bits_of(type))
			->aux = (uint8_t)LLVMGetFCmpPredicate(i);
}

/* Lanes of a few bits and an integer of up to 64 bits, lane 0 lowest. */
static bool bitcast_lanes(struct lower *l, LLVMValueRef i)
{
	LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(i, 0)), to = LLVMTypeOf(i);
	bool pack = LLVMGetTypeKind(to) == LLVMIntegerTypeKind;
	LLVMTypeRef vector = pack ? from : to, word = pack ? to : from;
	int32_t a, d, shift, n = (int32_t)lanes(vector);
	unsigned k, w;

	if (LLVMGetTypeKind(vector) != LLVMVectorTypeKind ||
	    LLVMGetTypeKind(word) != LLVMIntegerTypeKind ||
	    LLVMGetTypeKind(LLVMGetElementType(vector)) != LLVMIntegerTypeKind)
		return false;
	k = bits_of(scalar_type(vector));
	w = bits_of(word);
	if (w > 64 || k % 8 == 0)
		return false;
	a = reg_of(l, LLVMGetOperand(i, 0));
	d = reg_of(l, i);
	if (pack) {
		int32_t t = new_regs(l, 1);

		shift = const_reg(l, k);
		emit_mov(l, t, a + n - 1);
		for (int32_t lane = n - 2; lane >= 0; lane--) {
			emit3(l, OP_SHL, t, t, shift, w);
			emit3(l, OP_OR, t, t, a + lane, w);
		}
		emit_mov(l, d, t);
		return true;
	}
	for (int32_t lane = 0; lane < n; lane++) {
		int32_t t = new_regs(l, 1);

		shift = const_reg(l, (uint64_t)lane * k);
		emit3(l, OP_LSHR, t, a, shift, w);
		emit3(l, OP_TRUNC, d + lane, t, 0, k);
	}
	return true;
}

/* Same bits, other type: straight moves when the parts agree, through memory otherwise. */
static void bitcast(struct lower *l, LLVMValueRef i)
{
	LLVMValueRef from = LLVMGetOperand(i, 0);
	struct parts one = { 0 }, two = { 0 };
	int32_t a = reg_of(l, from), d = reg_of(l, i), t, save;
	bool same = type_parts(l->ir, LLVMTypeOf(from), 0, &one) &&
		    type_parts(l->ir, LLVMTypeOf(i), 0, &two) && one.len == two.len;

	for (size_t k = 0; same && k < one.len; k++)
		same = one.data[k].w == two.data[k].w;
	if (!same && bitcast_lanes(l, i)) {
		/* done */
	} else if (same) {
		for (size_t k = 0; k < one.len; k++)
			emit_mov(l, d + (int32_t)k, a + (int32_t)k);
	} else {
		struct op *o;

		save = new_regs(l, 1);
		t = new_regs(l, 1);
		emit(l, OP_STACKSAVE)->d = save;
		o = emit(l, OP_ALLOCA);
		o->d = t;
		o->imm = MAX(type_size(l->ir, LLVMTypeOf(from)), type_size(l->ir, LLVMTypeOf(i)));
		emit_store(l, LLVMTypeOf(from), a, t);
		emit_load(l, LLVMTypeOf(i), d, t);
		emit(l, OP_STACKRESTORE)->a = save;
	}
	vec_deinit(&one);
	vec_deinit(&two);
}

static void extend(struct lower *l, bool is_signed, int32_t d, int32_t a, unsigned from,
		   unsigned to)
{
	int32_t zero, top;

	if (from > 64) {
		emit_unsupported(l, "extension from %u bits", from);
	} else if (to <= 64) {
		if (is_signed)
			emit3(l, OP_SEXT, d, a, 0, from)->aux = (uint8_t)to;
		else
			emit_mov(l, d, a);
	} else if (!is_signed) {
		zero = const_reg(l, 0);
		emit_mov(l, d, a);
		emit_mov(l, d + 1, zero);
	} else {
		top = const_reg(l, 63);
		emit3(l, OP_SEXT, d, a, 0, from)->aux = 64;
		emit3(l, OP_ASHR, d + 1, d, top, 64);
		if (to < 128)
			emit3(l, OP_TRUNC, d + 1, d + 1, 0, to - 64);
	}
}

static void truncate(struct lower *l, int32_t d, int32_t a, unsigned to)
{
	if (to <= 64) {
		emit3(l, OP_TRUNC, d, a, 0, to);
		return;
	}
	emit_mov(l, d, a);
	emit3(l, OP_TRUNC, d + 1, a + 1, 0, to - 64);
}

static void fp_convert(struct lower *l, LLVMOpcode op, int32_t d, int32_t a, unsigned from,
		       unsigned to)
{
	struct op *o;

	if (from == 80 || to == 80) {
		enum ldconv how;

		if (op == LLVMFPExt)
			how = from == 32 ? LD_FROM_F32 : LD_FROM_F64;
		else if (op == LLVMFPTrunc)
			how = to == 32 ? LD_TO_F32 : LD_TO_F64;
		else if (op == LLVMSIToFP || op == LLVMUIToFP)
			how = op == LLVMSIToFP ? LD_FROM_SI : LD_FROM_UI;
		else
			how = op == LLVMFPToSI ? LD_TO_SI : LD_TO_UI;
		if ((how == LD_FROM_SI || how == LD_FROM_UI) ? from > 64
		    : (how == LD_TO_SI || how == LD_TO_UI)   ? to > 64
							     : false) {
			emit_unsupported(l, "conversion between long double and 128-bit integers");
			return;
		}
		o = emit3(l, OP_LDCONV, d, a, 0, how == LD_TO_SI || how == LD_TO_UI ? to : from);
		o->aux = (uint8_t)how;
		return;
	}
	if (from > 64 || to > 64) {
		emit_unsupported(l, "conversion between floating point and 128-bit integers");
		return;
	}
	o = emit3(l,
		  op == LLVMFPToSI   ? OP_FPTOSI
		  : op == LLVMFPToUI ? OP_FPTOUI
		  : op == LLVMSIToFP ? OP_SITOFP
		  : op == LLVMUIToFP ? OP_UITOFP
				     : OP_FPCAST,
		  d, a, 0, from);
	o->aux = (uint8_t)to;
}

void lower_cast(struct lower *l, LLVMValueRef i)
{
	LLVMOpcode op = LLVMGetInstructionOpcode(i);
	LLVMTypeRef from = scalar_type(LLVMTypeOf(LLVMGetOperand(i, 0))),
		    to = scalar_type(LLVMTypeOf(i));
	int32_t a, d, ka = (int32_t)type_regs(l->ir, from), kd = (int32_t)type_regs(l->ir, to);

	if (op == LLVMBitCast || op == LLVMAddrSpaceCast) {
		bitcast(l, i);
		return;
	}
	a = reg_of(l, LLVMGetOperand(i, 0));
	d = reg_of(l, i);
	for (int32_t n = 0; n < (int32_t)lanes(LLVMTypeOf(i)); n++) {
		unsigned wf = bits_of(from), wt = bits_of(to);
		int32_t an = a + n * ka, dn = d + n * kd;

		switch (op) {
		case LLVMTrunc:
			truncate(l, dn, an, wt);
			break;
		case LLVMZExt:
			extend(l, false, dn, an, wf, wt);
			break;
		case LLVMSExt:
			extend(l, true, dn, an, wf, wt);
			break;
		case LLVMPtrToInt:
		case LLVMIntToPtr:
			if (wt < wf)
				truncate(l, dn, an, wt);
			else
				extend(l, false, dn, an, wf, wt);
			break;
		default: {
			bool fp_from = op == LLVMFPToSI || op == LLVMFPToUI || op == LLVMFPExt ||
				       op == LLVMFPTrunc;
			bool fp_to = op == LLVMSIToFP || op == LLVMUIToFP || op == LLVMFPExt ||
				     op == LLVMFPTrunc;

			if ((fp_from && !known_fp(from)) || (fp_to && !known_fp(to)))
				emit_unsupported(l, "conversion of a floating-point type the "
						    "machine does not know");
			else
				fp_convert(l, op, dn, an, wf, wt);
		}
		}
	}
}
