/* lift/vex.h - private to unplait-lift: from VEX's statements to ours. */
#ifndef LIFT_VEX_H
#define LIFT_VEX_H

#include "lift/lifted.h"

#include <libvex.h>
#include <libvex_guest_amd64.h>
#include <libvex_ir.h>
#include <stdbool.h>

/* A value: up to 256 bits in parts of 64, the lowest first; one part when it is narrower. */
struct value {
	uint16_t part[4];
	uint8_t n, w; /* parts, and bits of each */
};

/* The instruction that is being translated. */
struct lifting {
	struct lift_op ops[LIFT_MAX_OPS];
	unsigned nops, ntemps;
	uint16_t constant[LIFT_MAX_OPS +
			  1]; /* per temporary: its operation + 1, if it is a constant */
	bool refused;	      /* no room, or something nobody can say */
	uint64_t next;
	IRSB *block;
	struct value *temps; /* of VEX's temporaries */
	/* the thunk that VEX keeps instead of flags, as far as this instruction sets it */
	IRExpr *cc_op;
	uint16_t dep1, dep2, ndep;
	bool thunk;
};

/* emit.c: one operation; the temporary that holds its result */
uint16_t emit(struct lifting *l, enum lift_kind kind, unsigned w, uint16_t a, uint16_t b);
uint16_t emit_op(struct lifting *l, struct lift_op op);
uint16_t emit_const(struct lifting *l, unsigned w, uint64_t imm);
uint16_t emit_opaque(struct lifting *l, unsigned w);
uint16_t emit_extract(struct lifting *l, uint16_t a, unsigned low, unsigned w);
uint16_t emit_ite(struct lifting *l, unsigned w, uint16_t cond, uint16_t yes, uint16_t no);
uint16_t emit_not(struct lifting *l, uint16_t bit);
uint16_t emit_get(struct lifting *l, unsigned reg);
void emit_put(struct lifting *l, unsigned reg, uint16_t a);
/* The high half of a 64 by 64 bit product. */
uint16_t emit_mul_high(struct lifting *l, uint16_t a, uint16_t b, bool is_signed);

/* state.c: VEX's guest state is our registers */
struct value state_get(struct lifting *l, int offset, IRType type);
void state_put(struct lifting *l, int offset, struct value v, IRExpr *source);
/* Somebody wrote so many bytes of it, nobody knows what. */
void state_forget(struct lifting *l, int offset, int size);

/* flags.c */
void flags_finish(struct lifting *l); /* the thunk becomes flags */
/* The answer of one of VEX's helpers about flags; 0 when it is none of those. */
uint16_t flags_helper(struct lifting *l, const char *name, IRExpr **args);

/* opcodes.c */
void undefined_flags(struct lifting *l, const uint8_t *bytes);
/* bt and its family on registers; false: it is something else. */
bool lift_bit_test(struct lifting *l, const uint8_t *bytes);
/* An instruction that stores a segment register. */
bool reads_segment(const uint8_t *bytes);

/* ops.c */
struct value value_of(struct lifting *l, IRExpr *e);
struct value value_unknown(struct lifting *l, IRType type);
struct value value_one(uint16_t temp, unsigned w);
unsigned type_parts(IRType type, unsigned *w);
struct value op_unary(struct lifting *l, IROp op, struct value a, IRType type);
struct value op_binary(struct lifting *l, IROp op, struct value a, struct value b, IRType type);

#endif
