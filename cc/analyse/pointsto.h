/* cc/analyse/pointsto.h - what may a pointer point to? Whole program, flow-insensitive, field-aware.
 *
 * A node stands for a set of objects (or for what some pointers point to); a cell is a byte offset
 * in a node. See pointsto.c for the algorithm. */
#ifndef CC_ANALYSE_POINTSTO_H
#define CC_ANALYSE_POINTSTO_H

#include "base/map.h"
#include "base/vec.h"
#include "cc/llvm.h"

#include <stdint.h>

struct program;

struct cell {
	uint32_t node; /* 0 = points nowhere we know */
	int32_t off;
};

/* Bytes [off, off + size) of a node's objects, and which threads touch them. */
struct interval {
	int32_t off, size;	   /* size INT32_MAX/2: unknown extent */
	uint64_t readers, writers; /* sharing.c: masks of thread entries */
	bool hot;
};

enum node_flags {
	NODE_GLOBAL = 1,
	NODE_STACK = 2,
	NODE_HEAP = 4,
	NODE_OUTSIDE = 8,  /* code we do not see may touch it */
	NODE_ESCAPES = 16, /* reachable by more than the thread that made it */
	NODE_VARARG = 32,
};

struct node {
	uint32_t up;   /* merged into this one; 0 = not merged */
	int32_t shift; /* our offset 0 is this offset there */
	bool collapsed;
	uint32_t stride; /* > 0: an array of elements of this size, offsets are modulo */
	uint16_t flags;
	int32_t copied, copied_end;   /* these bytes are copied elsewhere, so all links count */
	VEC(struct link_field) links; /* sorted by offset */
	uint64_t *fns;		      /* a bit per function of the module, or NULL */
	VEC(struct interval) touched;
	bool touched_all;
	LLVMValueRef home; /* the variable, alloca or call that made the first object */
};

struct link_field {
	int32_t off;
	struct cell to;
};

/* Every object of `from` may also be one of `to`. */
struct edge {
	struct cell from, to;
};

struct indirect_call {
	LLVMValueRef call;
	size_t bound; /* how many of the node's functions had been bound last time */
};

struct copy {
	struct cell to, from;
	int32_t size; /* -1 unknown */
};

/* pthread_create and relatives: who starts where. */
struct creation {
	LLVMValueRef call;
	struct cell entry; /* points to the start routine */
	struct cell arg;
	size_t bound;
};

/* A library will call `fn` with `arg` as its parameters first to last - 1. */
struct callback {
	struct cell fn, arg;
	unsigned first, last;
	size_t bound;
};

struct pointsto {
	struct program *p;
	VEC(struct node) nodes;
	struct map cells; /* LLVMValueRef -> index in values */
	VEC(struct cell) values;
	struct map returns; /* function -> index in values */
	struct map edge_seen;
	VEC(struct edge) edges;
	VEC(struct copy) copies;
	VEC(struct cell) printed; /* no edges as long as nothing is scanned */
	VEC(struct indirect_call) indirect;
	VEC(struct creation) creations;
	VEC(struct edge) pending; /* unifications to do */
	uint32_t outside;	  /* the node of everything we do not see */
	uint32_t specific;	  /* what pthread_setspecific keeps for all threads and keys */
	uint32_t returned;	  /* what threads leave to those that join them */
	struct cell environment;  /* the strings that getenv returns */
	uint64_t merges;
	int rounds;		     /* of settling */
	bool unsettled;		     /* given up: what it says is not all there is */
	bool scans;		     /* it makes pointers of text */
	VEC(LLVMValueRef) functions; /* all of the module; their numbers are bits in node.fns */
	struct map function_ids;
	struct map wrappers;  /* functions that return fresh memory */
	struct map addresses; /* integers that may be one: numbers.c */
	VEC(struct callback) callbacks;
	bool settled;	 /* the graph is done; what comes later is looked up in it */
	struct map late; /* values of code that was put in afterwards -> is the place vague? */
};

void pointsto_run(struct pointsto *pt, struct program *p);
void pointsto_deinit(struct pointsto *pt);

/* Where does this pointer point? */
struct cell pointsto_cell(struct pointsto *pt, LLVMValueRef v);
/* Is it only known which object it points into, not where? So it is with a varying index in code
 * that was put in after the analysis (cc/expand). */
bool pointsto_is_vague(struct pointsto *pt, LLVMValueRef v);
/* It may point this many bytes further, too: `p + (c ? 24 : 16)` only loaded from or stored to. */
uint64_t pointsto_spread(struct pointsto *pt, LLVMValueRef v);
struct cell pointsto_find(struct pointsto *pt, struct cell c);
/* `v` points where `call` points. */
void pointsto_copy(struct pointsto *pt, LLVMValueRef call, LLVMValueRef v);
/* Calls that have been replaced are nobody's home any more. */
void pointsto_forget_homes(struct pointsto *pt);
/* `call` will go and `v` is what it gave: v points where the call pointed. */
void pointsto_replace(struct pointsto *pt, LLVMValueRef call, LLVMValueRef v);
static inline struct node *pointsto_node(struct pointsto *pt, uint32_t n)
{
	return &pt->nodes.data[n];
}
/* Calls flow(pt, a, b, context) for every edge a -> b between two nodes, again and again until none
 * says that it changed the node it flows to. Edges were made with the flow of values: what flows
 * against them settles sooner from the last edge to the first. */
enum pointsto_direction { POINTSTO_ALONG, POINTSTO_AGAINST };
void pointsto_flow(struct pointsto *pt, enum pointsto_direction direction,
		   bool (*flow)(struct pointsto *pt, struct cell a, struct cell b, void *context),
		   void *context);
/* Walk the functions that a pointer to c may name, ours and external: start with *at = 0. */
bool pointsto_next_function(struct pointsto *pt, struct cell c, size_t *at, LLVMValueRef *ret);
/* May it name functions that came from code we do not see? */
bool pointsto_calls_unknown(struct pointsto *pt, struct cell c);
/* The cell of what a call calls. */
struct cell pointsto_callee(struct pointsto *pt, LLVMValueRef call);

#endif
