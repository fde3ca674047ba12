/* lift/lifted.h - what unplait-lift answers: machine instructions as small programs.
 *
 * unplait-lift is a program of its own, because it links VEX, which is under the GPL. It reads
 * requests from standard input and writes answers to standard output:
 *
 *   request:  struct lift_request, then `length` bytes of code
 *   answer:   per instruction struct lift_head, then `nops` times struct lift_op;
 *             a head of length 0 ends the answer
 *
 * The whole range is decoded from its first byte to its last. Each instruction stands alone: its
 * temporaries begin at 1, and it reads and writes nothing but registers, flags and memory. Flags are
 * registers of one bit. Values have 1 to 64 bits; wider registers come in parts of 64.
 * What VEX cannot say becomes LIFT_OPAQUE, "some value"; an instruction whose effect on memory is
 * not known, or that cannot be decoded, is refused (LIFT_REFUSE). */
#ifndef LIFT_LIFTED_H
#define LIFT_LIFTED_H

#include <stddef.h>
#include <stdint.h>

enum lift_kind {
	LIFT_NONE,
	LIFT_CONST,  /* dst = imm */
	LIFT_GET,    /* dst = register imm */
	LIFT_PUT,    /* register imm = a */
	LIFT_LOAD,   /* dst = w bits of memory at a */
	LIFT_STORE,  /* w bits of memory at a = b */
	LIFT_OPAQUE, /* dst = w bits that nobody knows */
	LIFT_EXIT,   /* if a: go to imm */
	LIFT_NEXT,   /* go to a (a temporary) or, when a is 0, to imm; w is an enum lift_flow */
	LIFT_REFUSE, /* cannot be stepped over */
#define X(NAME) LIFT_##NAME,
#include "lift/lifted.def"
#undef X
	LIFT_KINDS
};

enum lift_flow {
	LIFT_JUMP, /* also the next instruction */
	LIFT_CALL,
	LIFT_RETURN,
	LIFT_SYSCALL,
	LIFT_TRAP, /* int3, ud2, hlt */
};

/* The registers. The first sixteen are in the order of their encoding. */
enum lift_register {
	LIFT_RAX,
	LIFT_RCX,
	LIFT_RDX,
	LIFT_RBX,
	LIFT_RSP,
	LIFT_RBP,
	LIFT_RSI,
	LIFT_RDI,
	LIFT_R8,
	LIFT_R9,
	LIFT_R10,
	LIFT_R11,
	LIFT_R12,
	LIFT_R13,
	LIFT_R14,
	LIFT_R15,
	LIFT_CF,
	LIFT_PF,
	LIFT_AF,
	LIFT_ZF,
	LIFT_SF,
	LIFT_OF,
	LIFT_DF, /* one bit each */
	LIFT_FS,
	LIFT_GS,  /* the bases of the segments */
	LIFT_YMM, /* 16 registers of 4 parts, the lowest first */
	LIFT_REGISTERS = LIFT_YMM + 16 * 4,
};

static inline unsigned lift_register_width(unsigned r)
{
	return r >= LIFT_CF && r <= LIFT_DF ? 1 : 64;
}

struct lift_op {
	uint8_t kind; /* enum lift_kind */
	uint8_t w;    /* bits of the result; of LIFT_STORE: of what is stored */
	uint16_t dst, a, b, c;
	uint64_t imm;
};

struct lift_head {
	uint64_t address;
	uint16_t length; /* bytes of the instruction */
	uint16_t nops;
	uint16_t ntemps; /* temporaries are 1 to ntemps */
};

struct lift_request {
	uint64_t address;
	uint32_t length;
	uint32_t unused;
};

enum { LIFT_MAX_RANGE = 1 << 20, LIFT_MAX_OPS = 4096 };

#endif
