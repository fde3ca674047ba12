/* sym/machine/interp-slow.h - private to interp-slow*.c: one function for each family of operations that
 * the inner loop hands over. Each leaves the number of the next operation in f->pc. */
#ifndef SYM_MACHINE_INTERP_SLOW_H
#define SYM_MACHINE_INTERP_SLOW_H

#include "sym/machine/machine.h"

static inline enum stop slow_next(struct frame *f)
{
	f->pc++;
	return STOP_NONE;
}

static inline enum stop slow_put(struct machine *m, struct frame *f, int32_t r, struct val v)
{
	set_reg(m, f, r, v);
	return slow_next(f);
}

static inline expr_id slow_operand(struct machine *m, struct frame *f, int32_t r, unsigned w)
{
	return val_expr(m, get_reg(f, r), w);
}

/* interp-slow-num.c */
enum expr_op slow_binary_op(uint16_t code);
enum stop slow_divide(struct machine *m, struct frame *f, const struct op *o);
enum stop slow_fp(struct machine *m, struct frame *f, const struct op *o);
enum stop slow_intrinsic(struct machine *m, struct frame *f, const struct op *o);
enum stop slow_overflow(struct machine *m, struct frame *f, const struct op *o);
enum stop slow_wide(struct machine *m, struct frame *f, const struct op *o);
enum stop slow_long_double(struct machine *m, struct frame *f, const struct op *o);
enum stop slow_fmath(struct machine *m, struct frame *f, const struct op *o);

/* interp-slow-memory.c */
struct val slow_address(struct machine *m, struct frame *f, const struct op *o, bool indexed);
enum stop slow_load(struct machine *m, struct frame *f, const struct op *o, bool indexed);
enum stop slow_store(struct machine *m, struct frame *f, const struct op *o, bool indexed);
enum stop slow_atomic(struct machine *m, struct frame *f, const struct op *o);
enum stop slow_block_op(struct machine *m, struct frame *f, const struct op *o);
enum stop slow_allocate(struct machine *m, struct frame *f, const struct op *o);
enum stop slow_relative(struct machine *m, struct frame *f, const struct op *o);

#endif
