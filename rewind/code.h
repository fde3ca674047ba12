/* rewind/code.h - the machine code of a dump's modules, as blocks of simple operations.
 *
 * Code is taken from the modules' files, function by function, when somebody asks, and lifted by the
 * program unplait-lift (lift/lifted.h). Addresses are those of the process. A function that
 * cannot be lifted is remembered as such. */
#ifndef REWIND_CODE_H
#define REWIND_CODE_H

#include "base/map.h"
#include "base/vec.h"
#include "debug/text.h"
#include "lift/lifted.h"
#include "rewind/loops.h"

struct dump;
struct dump_module;
struct err;
struct fixed_block;

struct insn {
	uint64_t address;
	uint32_t first_op; /* in the function's ops */
	uint16_t length, nops, ntemps;
};

/* Instructions that run one after the other; jumps lead to the first one only. */
struct block {
	uint64_t start, end; /* end: behind the last instruction */
	uint32_t first, n;   /* instructions */
};

struct function {
	uint64_t low, high;
	VEC(struct insn) insns;
	VEC(struct lift_op) ops;
	VEC(struct block) blocks;  /* by start */
	VEC(uint64_t) indirect;	   /* where jump tables of this function lead */
	VEC(uint64_t) partners;	   /* targets of its jumps outside it */
	struct fixed_block *fixed; /* per block */
	struct loops loops;
	bool is_part; /* a rarely executed part of another function, or a linkage table: no call leads to it */
	bool incomplete; /* part of it could not be decoded: it may jump anywhere */
	bool wide;	 /* and that part begins with an instruction of AVX-512 */
};

/* How control can get from one block to an address. */
enum way_kind {
	WAY_JUMP,    /* by an exit or by the end of the block, in the same function */
	WAY_CALL,    /* the block ends with a call; the address is a function's first */
	WAY_RETURN,  /* the block ends with a return to the address */
	WAY_SKIPPED, /* the block ends with a call that returned to the address; what it did is a
			summary */
	WAY_LOOP,    /* no block, but all turns of a loop, from its header to the address */
};

struct way {
	const struct function *function;
	uint32_t block;
	uint8_t kind;
	int16_t exit; /* number of the exit in the last instruction; -1 = by its end */
};

struct ways {
	struct way *data;
	size_t len, cap;
};

struct code;

struct lifter;
struct modules;

/* What serves one dump after the other: the debug information that was read, and the lifter that runs. */
struct code_tools {
	struct modules *modules;
	struct lifter *lifter; /* NULL = not started yet */
};

void code_tools_init(struct code_tools *t);
void code_tools_deinit(struct code_tools *t);

/* Starts unplait-lift at the first question. Borrows the dump, and the tools; NULL = it has its own. */
struct code *code_new(const struct dump *d, struct code_tools *tools);
void code_free(struct code *c);
/* What the binaries are opened with. */
struct modules *code_modules(const struct code *c);

/* The function around an address; NULL when it has no file, no unwind entry, or cannot be lifted;
 * *why then says so (borrowed, a constant). */
const struct function *code_function(struct code *c, uint64_t address, const char **why);
/* The block that contains an address; NULL when there is none. */
const struct block *function_block(const struct function *f, uint64_t address);
/* The instruction at an address; NULL when none begins there. */
const struct insn *function_insn(const struct function *f, uint64_t address);
const struct lift_op *insn_ops(const struct function *f, const struct insn *i);
/* How the block ends: its last operation. */
const struct lift_op *block_end(const struct function *f, const struct block *b);

/* Append how control can have come to `address` of `f` by jumps, also from its partners. False: there may
 * be more, in code that could not be decoded. */
bool code_jumps_to(struct code *c, const struct function *f, uint64_t address, struct ways *ret);
/* Append the blocks of `f` that return. */
void code_returns(const struct function *f, struct ways *ret);
/* The call instruction that ends at `address`; NULL when there is none. */
const struct insn *code_call_before(struct code *c, uint64_t address, const struct function **f);
/* Where a call or jump goes when that is fixed, with stubs of the linkage table followed; 0 = not
 * known. */
uint64_t code_target(struct code *c, const struct function *f, const struct insn *i);
/* The imported function that a call calls, directly or through a stub: "free"; NULL when it calls none
 * by name. Borrowed. */
const char *code_import(struct code *c, const struct function *f, const struct insn *i);
/* The name under which some module imports the function at an address, "malloc"; NULL when none does. Borrowed. */
const char *code_imported(struct code *c, uint64_t address);
/* The instructions of the linkage stub at an address; false when there is none. */
bool code_stub(struct code *c, uint64_t address, const struct function **f, uint32_t *first,
	       uint32_t *n);
/* If a linkage stub lies at `address`, where it leads; else the address itself. */
uint64_t code_behind_stub(struct code *c, uint64_t address);

/* The bytes of the module's file at an address of the process; NULL when there are none. *flags:
 * PF_R, PF_W, PF_X of the segment. */
const uint8_t *code_file_bytes(struct code *c, uint64_t address, size_t *len, uint32_t *flags);
/* The text of a module; NULL when its file cannot be used (*why). */
const struct text *code_text(struct code *c, const struct dump_module *m, const char **why);
/* How many instructions were lifted so far. */
uint64_t code_lifted(const struct code *c);
/* Where the code is not what the files say, in words. Owned by c. */
const struct names *code_notes(const struct code *c);
/* Why unplait-lift cannot be used; NULL when it can. Owned by c. */
const char *code_problem(struct code *c);

#endif
