/* sym/explore/visited.h - private to sym/: states that have been seen, by 128 bits of hash. */
#ifndef SYM_EXPLORE_VISITED_H
#define SYM_EXPLORE_VISITED_H

#include "sym/machine/machine.h"

struct words VEC_FIELDS(uint64_t);

struct visited {
	uint64_t (*slots)[2];	    /* both 0 = free */
	uint32_t *numbers;	    /* by slot: what the search knows of it */
	size_t len, cap;	    /* cap is a power of two */
	struct words frames, whole; /* being hashed */
	uint64_t bytes;		    /* of memory, hashed so far */
};

void visited_deinit(struct visited *v);
/* Its number, 0 for a new one; to be filled in before the next is added. */
uint32_t *visited_put(struct visited *v, const uint64_t hash[2]);

/* Everything the future of the state depends on: memory, threads with the registers that may still
 * be read, who waits for what, the clock. A thread that has run since the last time must have its
 * hash cleared, and nobody may own objects of the state across this: clear the cache. */
void state_hash(struct visited *v, struct machine *m, struct state *s, uint64_t ret[2]);

#endif
