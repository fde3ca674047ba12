/* explain/find/grip.h - what should have kept an object alive for the thread that used it after its end? */
#ifndef EXPLAIN_FIND_GRIP_H
#define EXPLAIN_FIND_GRIP_H

#include "explain/find/gone.h"

enum grip_kind {
	GRIP_NOT,
	GRIP_COUNTED, /* its last share in a count was gone: another thread took the count to zero */
	GRIP_LOOKED_UP, /* found under the lock under which it is freed, and used after the unlock */
	GRIP_REPLACED,	/* read through a pointer that the other thread sets to something else */
};

struct grip {
	enum grip_kind kind;
	uint32_t seen; /* of the user: its last change of the count; else where it met the object */
	uint32_t other;	 /* of who freed it: takes the count to zero; took the lock; replaces it */
	bool in_passing; /* `other` is a step of the passing run */
};

/* passing NULL: there is none. */
struct grip grip_find(const struct steps *failing, const struct steps *passing,
		      const struct gone *gone);

#endif
