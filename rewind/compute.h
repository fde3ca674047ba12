/* rewind/compute.h - private to rewind/: what a lifted operation computes. */
#ifndef REWIND_COMPUTE_H
#define REWIND_COMPUTE_H

#include "lift/lifted.h"
#include "sym/value/expr.h"

/* The result of an operation of lift/lifted.def; temps: the instruction's temporaries. */
expr_id compute(struct exprs *x, const struct lift_op *op, const expr_id *temps);

#endif
