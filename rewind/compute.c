/* rewind/compute.c - see compute.h. */
#include "rewind/compute.h"

static enum expr_op op_of(unsigned kind)
{
	static const uint8_t table[LIFT_KINDS] = {
#define X(NAME) [LIFT_##NAME] = EX_##NAME,
#include "lift/lifted.def"
#undef X
	};

	return table[kind];
}

expr_id compute(struct exprs *x, const struct lift_op *op, const expr_id *t)
{
	switch (op->kind) {
	case LIFT_ITE:
		return expr_ite(x, t[op->a], t[op->b], t[op->c]);
	case LIFT_ZEXT:
		return expr_zext(x, t[op->a], op->w);
	case LIFT_SEXT:
		return expr_sext(x, t[op->a], op->w);
	case LIFT_EXTRACT:
		return expr_extract(x, t[op->a], (unsigned)op->imm, op->w);
	case LIFT_CONCAT:
		return expr_concat(x, t[op->a], t[op->b]);
	default:
		return expr_binary(x, op_of(op->kind), t[op->a], t[op->b]);
	}
}
