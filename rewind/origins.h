/* rewind/origins.h - where can control have come from? The ways to a node of the tree (suffix.h). */
#ifndef REWIND_ORIGINS_H
#define REWIND_ORIGINS_H

#include "rewind/suffix.h"

enum { MOST_WAYS = 64 };

struct origins {
	struct piece data[MOST_WAYS];
	unsigned n;
	bool complete;	 /* there are no others */
	const char *why; /* when there are none */
};

void origins_find(struct tree *t, const struct node *n, struct origins *ret);

/* All turns of a loop, up to the address `to`. */
struct piece piece_of_loop(const struct loop *l, uint64_t to);
/* Does the piece lie in the loop? The way out of a call does if the call does. */
bool piece_is_in_loop(struct tree *t, const struct loop *l, const struct piece *p);

#endif
