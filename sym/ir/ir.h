/* sym/ir/ir.h - the program as the machine runs it: arrays of fixed-size operations.
 *
 * A module is made once from bitcode (ir.c, func.c: the only files here that know LLVM) and
 * never changes while it runs, except that a function is lowered when it is first called.
 * Everything in it lives in its arena. */
#ifndef SYM_IR_IR_H
#define SYM_IR_IR_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum opcode {
#define OP(name) OP_##name,
#include "sym/ir/ops.def"
#undef OP
	OP_COUNT
};

/* Functions that the machine itself provides; see builtins.def. */
enum builtin {
#define BUILTIN(id, name) BI_##id,
#include "sym/ir/builtins.def"
#undef BUILTIN
	BI_COUNT
};

enum intrin {
	IN_CTPOP,
	IN_CTLZ,
	IN_CTTZ,
	IN_BSWAP,
	IN_BITREVERSE,
	IN_ABS,
	IN_SMIN,
	IN_SMAX,
	IN_UMIN,
	IN_UMAX,
	IN_UADDSAT,
	IN_USUBSAT,
	IN_SADDSAT,
	IN_SSUBSAT,
	IN_FSHL,
	IN_FSHR,
	IN_SADDO,
	IN_UADDO,
	IN_SSUBO,
	IN_USUBO,
	IN_SMULO,
	IN_UMULO,
	IN_ISFPCLASS,
};

enum fmath {
#define FMATH(id, call1, call2) FM_##id,
#include "sym/ir/fmath.def"
#undef FMATH
	FM_COUNT
};

enum ldconv {
	LD_FROM_F32,
	LD_FROM_F64,
	LD_TO_F32,
	LD_TO_F64,
	LD_FROM_SI,
	LD_FROM_UI,
	LD_TO_SI,
	LD_TO_UI,
	LD_NEG,
	LD_ABS
};

struct op {
	uint16_t code;
	uint8_t w, aux;
	int32_t d, a, b; /* negative registers are the function's constants */
	uint64_t imm;
};

/* Where an operation came from. `ir` counts the instructions of the function from 0: with the
 * function's name it is the operation's site. */
struct op_src {
	uint32_t line;
	uint32_t file; /* index into ir->files; NAMES_NONE when unknown */
	uint32_t ir;
	uint32_t place; /* index into ir->places; 0 = not known */
};

/* A line of the source, in the function that its author wrote it in. */
struct ir_place {
	uint32_t function; /* index into ir->names: its own name (base/demangle.h) */
	uint32_t line;
	uint32_t outer; /* where that function was inlined; 0 = it was not */
};

struct switch_table {
	uint32_t n;
	bool dense;	   /* values[i] == values[0] + i: index instead of search */
	uint64_t *values;  /* ascending */
	uint32_t *targets; /* n + 1: the last is the default */
	uint32_t *arms;	   /* per value: which successor of the instruction it is, from 1 */
};

/* What a landing pad is for: the types it catches (addresses of type infos, 0 = everything). */
struct landing {
	bool cleanup, filters; /* filters: it has some; refused when an exception comes by */
	uint32_t n;
	uint64_t *types;
};

/* A call that exceptions may leave. */
struct unwind {
	uint32_t call, to; /* operations */
	uint32_t landing;  /* index into ir->landings */
};

struct function {
	const char *name;
	uint32_t index;
	bool lowered, declared_only, variadic, is_model;
	bool watched;	  /* calls of it are told to the guide (guide.called) */
	bool never;	  /* a dump says that the program never called it */
	uint32_t nparams; /* registers of the parameters; a variadic function has one more, the
			   * address of the rest */
	uint32_t nconst;  /* registers -nconst..-1 hold constants */
	uint32_t nregs;	  /* registers 0..nregs: parameters first */
	uint32_t nret;	  /* registers of the result */
	uint8_t ret_w;	  /* bits of the result when it is one register, else 0 */
	bool ret_pointer;
	uint64_t *consts;
	struct op *ops;
	struct op_src *src;
	uint32_t nops;
	struct unwind *unwinds; /* ascending by call */
	uint32_t nunwinds;
	uint32_t line, file; /* of the definition */
	uint8_t *covered;    /* per operation that starts a block: seen by some state */
	uint32_t body;	     /* among the functions with bodies of the program's own bitcode;
			      * UINT32_MAX for others */
	uint32_t *sites;     /* following a plait: per operation its site, 0 = none; else NULL */
	uint32_t *points;    /* exploring schedules: per operation the site of a shared access */
	uint64_t *live;	     /* live.c: per operation a bit per register; NULL = not asked yet */
	void *llvm;
};

struct global {
	const char *name;
	uint64_t size, align;
	uint8_t *init; /* NULL = zeroes */
	bool readonly, tls, is_model;
	bool foreign;	  /* defined outside of the bitcode: its contents are not known */
	uint64_t address; /* 0 until placed, and always for thread-locals */
	uint32_t tls_index;
	void *llvm;
};

struct numbers VEC_FIELDS(uint32_t);

struct ir {
	struct arena arena;
	VEC(struct function *) functions;
	VEC(struct global) globals;
	VEC(struct switch_table) tables;
	VEC(int32_t) args; /* argument lists of calls and lists of results */
	/* Tables of 32-bit differences of addresses (LLVM's relative lookup tables) cannot hold our
	 * addresses; they hold RELATIVE_TAG | index into this list instead. */
	VEC(uint64_t) relatives;
	VEC(struct landing) landings;
	VEC(uint64_t) types; /* that are caught somewhere; a type's number is its index + 1 */
	VEC(const char *) messages;  /* of OP_UNSUPPORTED */
	struct numbers constructors; /* functions to run before main, in order */
	struct numbers destructors;  /* after main, the last one first */
	struct names files;
	VEC(struct ir_place) places; /* the first means nothing */
	struct names names;
	struct map place_of; /* LLVM's location -> index into places */
	struct map by_llvm;  /* LLVM value -> function index or global index */
	uint32_t ntls;
	bool locals; /* what is lowered from now on has plain local variables in registers */
	/* Called when a function has just been lowered; may be NULL. */
	void (*on_lowered)(void *arg, struct function *f);
	void *on_lowered_arg;
	void *context, *llvm, *layout; /* LLVM's context, module and data layout; owned */
};

/* Where the machine puts things; the same for every run. An object lives at
 * ADDR_TAG | id << 32 | ADDR_BIAS, so that even a pointer 256 MiB off stays inside its own
 * object's range and is told from every other. Functions have addresses of their own. */
#define ADDR_TAG     (1ull << 62)
#define ADDR_BIAS    0x10000000u
#define FUNC_TAG     (1ull << 61)
#define RELATIVE_TAG 0x80000000u
static inline uint64_t object_address(uint32_t id)
{
	return ADDR_TAG | (uint64_t)id << 32 | ADDR_BIAS;
}
static inline uint64_t function_address(uint32_t index)
{
	return FUNC_TAG | ((uint64_t)index + 1) << 4;
}

/* Some bitcode; `what` it is, for messages. Borrowed. */
struct ir_piece {
	const void *data;
	size_t len;
	const char *what;
};

/* Read the bitcode of a program, in one piece or several, link the library models to it, number functions and globals. Global i gets object
 * id i + 1. */
struct err *ir_load(const struct ir_piece *pieces, size_t n, struct ir **ret);
void ir_free(struct ir *ir);
/* Was main compiled with optimisation? */
bool ir_is_optimised(const struct ir *ir);

/* Translate the function's body if that has not happened yet. */
void ir_lower(struct ir *ir, struct function *f);
/* UINT32_MAX when absent. */
uint32_t ir_find_function(const struct ir *ir, const char *name);
uint32_t ir_find_global(const struct ir *ir, const char *name);
/* "file.c:12" of operation pc, in buf. */
const char *ir_where(const struct ir *ir, const struct function *f, uint32_t pc, char *buf,
		     size_t len);
/* The number by which handlers know a type info. */
uint32_t ir_type_number(struct ir *ir, uint64_t type);
/* The function at this address, NULL when there is none. */
struct function *ir_function_at(const struct ir *ir, uint64_t address);
/* The text at a constant address that register r of f holds; NULL = none. */
const char *ir_constant_text(const struct ir *ir, const struct function *f, int32_t r);
/* The machine's own function of that name (enum builtin), -1 = none. */
int ir_builtin(const char *name);
const char *ir_builtin_name(enum builtin b);
const char *op_name(enum opcode code);

/* The models, embedded at build time. */
extern const unsigned char sym_models_bc[];
extern const unsigned int sym_models_bc_len;
extern const unsigned char sym_models_cxx_bc[]; /* of the C++ library */
extern const unsigned int sym_models_cxx_bc_len;

/* Which registers matter: a bit for each, what may still be read before it is written, from pc on. */
const uint64_t *live_registers(struct ir *ir, struct function *f, uint32_t pc);

/* Over how many branches a side of the branch at pc leads to a call that does not come back;
 * IR_NO_DOOM: none is near. */
#define IR_NO_DOOM 255u
unsigned ir_doom(const struct function *f, uint32_t pc, bool taken);
/* The masks of the sites that lie ahead on this side of the branch at pc, without those of the other
 * side. */
uint64_t ir_only_ahead(const struct ir *ir, const struct function *f, uint32_t pc, bool taken,
		       uint64_t (*mask)(void *arg, uint32_t site), void *arg);

#endif
