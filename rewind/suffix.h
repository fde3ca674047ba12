/* rewind/suffix.h - the tree of all ways that can have led to a dump.
 *
 * The root is the dump; a child lies one step before its parent. A child that contradicts the dump is
 * dropped, and so is a parent all of whose children are. What the remaining leaves share is
 * certain, as far as the tree is complete; the rest is one of several. */
#ifndef REWIND_SUFFIX_H
#define REWIND_SUFFIX_H

#include "base/vec.h"
#include "rewind/step.h"

enum node_state {
	NODE_LIVE,  /* can be walked on from */
	NODE_INNER, /* has children */
	NODE_ENDED, /* `why` it goes no further */
	NODE_DEAD,  /* every way to it was refuted */
};

struct route;
struct shortcut;

struct node {
	struct node *parent;
	struct piece via;	 /* by which it was reached from its parent */
	struct step step;	 /* from this node's past to its parent's; none for the root */
	const struct past *past; /* NULL while the step is open */
	struct piece *open;	 /* an open step: to be made longer */
	uint32_t nopen;
	const struct past *open_after;
	struct shortcut *shortcut; /* an open step over all turns of a loop; NULL = none */
	const struct function *tried_in;
	uint64_t tried; /* a bit for each of its loops for which there is such a step here */
	uint64_t pc;
	uint32_t depth, insns;	 /* blocks and instructions up to the dump */
	uint32_t passed;	 /* branch records up to the dump (route.h) */
	uint32_t children, dead; /* how many */
	uint8_t state;
	bool guessed;	 /* a step to it was */
	bool incomplete; /* there may be more ways to it than its children */
	const char *why; /* NODE_ENDED */
	uint64_t where;
};

struct suffix_options {
	uint32_t blocks;	     /* how far back */
	uint32_t width;		     /* most ways that are followed at the same time */
	double deadline;	     /* of work_seconds(); 0 = none */
	uint64_t first_pc, first_sp; /* where the thread began; 0 = not known */
	bool (*enough)(void *arg);   /* asked after each level; NULL = never */
	void *arg;
};

struct tree {
	struct history *h;
	const struct route *route; /* what branch records say about the way; NULL = nothing */
	VEC(struct node *) nodes;  /* [0] is the root */
	uint64_t tried, refuted;   /* steps */
	struct reaches *reaches;   /* while it passes over what did not write a place; NULL */
	uint64_t passed_over;	   /* parts */
	bool cut;		   /* not every way was followed */
	bool out_of_time, interrupted;
	uint32_t reached;    /* blocks back */
	VEC(double) seconds; /* of processor time, of each step that was tried */
};

/* Borrows the history. start: the state of the dump to begin with. */
void tree_init(struct tree *t, struct history *h, const struct past *start);
/* Before it grows: go where the branch records lead. Borrows the route. */
void tree_follow(struct tree *t, const struct route *route);
void tree_deinit(struct tree *t);
void tree_grow(struct tree *t, const struct suffix_options *o);

/* Go on from this node, and forget all that lay further back: look for who wrote a place, w bits, and pass over what cannot
 * have done it. value: what is there. Then tree_grow() again. */
void tree_skim(struct tree *t, struct node *n, uint64_t address, unsigned w, uint64_t value);

/* What tree_skim() changes, to undo it. */
struct tree_state {
	VEC(struct node) nodes;
	bool cut, out_of_time;
	uint32_t reached;
};
void tree_save(const struct tree *t, struct tree_state *ret);
void tree_restore(struct tree *t, const struct tree_state *s);
void tree_state_deinit(struct tree_state *s);

/* The best leaf that is not dead; NULL when every way is contradictory. */
struct node *tree_best(const struct tree *t);
/* The leaves that are not dead, the best `most` of them, best first, each as far as it is known. How many. */
size_t tree_leaves(const struct tree *t, struct node **ret, size_t most);
/* How many leaves are not dead. */
size_t tree_alive(const struct tree *t);
/* Processor time of a step in the median; 0 when there was none. */
double tree_step_seconds(struct tree *t);
/* Is this node on the way of every leaf that is alive? */
bool tree_is_certain(const struct tree *t, const struct node *n);

#endif
