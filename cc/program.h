/* cc/program.h - the whole program as one module, and what has been decided about it.
 *
 * Life of a program: merge_objects (driver/merge.h) merges the bitcode; prepare_program
 * (analyse/prepare.h) gives every function and variable a name of its own; plan_program
 * (analyse/plan.h) walks the instructions, numbers the sites and says what each becomes; then one
 * forked child per variant changes its own copy of the module (instrument/) and writes an object
 * file. A link for hunting alone has a program per object (driver/units.c). Nobody changes the module between prepare_program and that fork, so the bitcode kept in the
 * binary is what the site table's positions refer to. */
#ifndef CC_PROGRAM_H
#define CC_PROGRAM_H

#include "base/map.h"
#include "base/racing.h"
#include "base/vec.h"
#include "cc/llvm.h"
#include "unplait/hooks.h"
#include "unplait/sites.h"

#include <stdint.h>

struct strbuf;

struct err;

/* A function with a body. */
struct fn {
	LLVMValueRef f;
	char *name; /* its symbol: what the dispatch stub will be called */
	bool was_local;
	bool needs_stub;    /* exported or its address is taken */
	bool interposable;  /* calls must go through the symbol */
	bool block_address; /* somebody takes the address of a label in it */
	bool hands_off;	    /* naked and the like: never instrument */
};

/* Something done at one instruction. */
struct plan {
	LLVMValueRef at;
	uint32_t site;	   /* 1.. ; 0 = none needed */
	uint8_t action;	   /* enum action */
	uint8_t operand;   /* which operand is the address, for accesses */
	bool instrumented; /* an access that the full variant hooks */
	bool racing;	   /* a plain access that counts as an atomic in the log of mode sync */
};

enum action {
	ACT_LOAD = 1,
	ACT_STORE,
	ACT_RMW,
	ACT_CAS,
	ACT_FENCE,
	ACT_RANGE_READ,	 /* memcpy source, wide load */
	ACT_RANGE_WRITE, /* memcpy or memset destination, wide store */
	ACT_BRANCH,
	ACT_SWITCH,
	ACT_CALL,	 /* an external call: say where it comes from */
	ACT_RESULT,	 /* a call whose result alone matters */
	ACT_ALLOC,	 /* the same, of an allocating function */
	ACT_SCOPE_BEGIN, /* local variables with locks in them come to life here (scopes.c) */
	ACT_SCOPE_END,	 /* ... or end */
};

/* An atomic load, store or read-modify-write of the program as it came, in module order; or a plain load or store on
 * a racing line, which is recorded like one. */
struct atomic {
	LLVMValueRef at;
	bool hooked; /* full has a hook for it */
};

/* Some bytes of something with a type, and what to call that: by a global, by a local variable, by
 * a name ("results[]"), else by its type. */
struct view {
	LLVMMetadataRef type;
	int64_t off;
	LLVMValueRef variable; /* the global it is a part of, or NULL */
	LLVMMetadataRef local; /* the local variable it is a part of, or NULL */
	char name[120];	       /* "" = none */
};

/* An answer of types.c: what a pointer points to, asked for at this depth of its search. */
struct look {
	struct view view;
	bool found;
	int depth;
};

struct program {
	LLVMContextRef context;
	LLVMModuleRef module;
	LLVMTargetDataRef layout;
	char *error;	   /* what LLVM complained about last; owned */
	char folder[4096]; /* where the link happens; "" when that is not known */

	bool library;	  /* -shared */
	const char *unit; /* one object of several that are instrumented by themselves: the
				      * variable that says where its sites begin; NULL: all of them */
	struct names external_refs;  /* symbols that objects without bitcode mention */
	bool trace_all;		     /* instrument pruned accesses too, to check the pruning */
	bool absent[PLAIT_VARIANTS]; /* variants that are not made: full stands in for them */
	bool no_places;		     /* the atomics of plain cannot be recorded (atomics.h) */

	VEC(struct fn) fns;   /* in module order: index = ir_function */
	struct map fn_index;  /* LLVMValueRef -> index in fns */
	struct map variables; /* LLVMValueRef -> type of what it points to (types.c) */
	struct map locals;    /* LLVMValueRef of an alloca -> the local variable that it is */
	struct map looked;    /* LLVMValueRef -> index in looks */
	VEC(struct look) looks;

	VEC(struct plan) plans;
	VEC(struct atomic) atomics;
	struct racing racing;	      /* lines whose plain accesses are recorded as well */
	VEC(struct plait_site) sites; /* strings: ids in `strings` until written */
	VEC(struct plait_element) elements;
	struct names strings;
	struct plait_sites_header counts;
	struct names unseen; /* library functions that get shared memory and stay unseen */
};

void program_deinit(struct program *p);
/* As if nothing had been planned yet. */
void program_forget_sites(struct program *p);

static inline struct fn *program_fn(struct program *p, LLVMValueRef f)
{
	uint64_t *i = map_find(&p->fn_index, (uint64_t)(uintptr_t)f);

	return i ? &p->fns.data[*i] : NULL;
}

/* Is there code outside of this module that we have not seen and that may start threads? */
static inline bool program_is_open(const struct program *p)
{
	return p->library || p->unit;
}

/* May code outside this module mention this function or variable by name? */
bool program_is_exported(const struct program *p, LLVMValueRef global);

/* A zstd frame with a checksum, as debug/binary.c wants it, behind what `ret` has. */
struct err *bitcode_pack(const void *data, size_t len, struct strbuf *ret);
/* The module as bitcode, packed, into a file. */
struct err *program_write_bitcode(struct program *p, const char *path);

/* 1, 2, 4, 8 for what one register holds; 0 for everything wide or odd. */
unsigned scalar_size(LLVMTypeRef t);

#endif
