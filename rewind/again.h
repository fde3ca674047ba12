/* rewind/again.h - private to rewind/: blocks that were used through a pointer older than they are. */
#ifndef REWIND_AGAIN_H
#define REWIND_AGAIN_H

#include "rewind/rewind.h"

/* A block that was freed, and handed out again while somebody still had its address. */
struct again {
	uint64_t given; /* the call that handed it out again */
	uint64_t freed; /* the one that had freed it; 0 = older than the suffix */
};

/* Was what this link read, and what `written` had put there, in a block that is younger than the pointer used to read it? */
bool again_find(struct rewind *r, const struct link *read, const struct link *written,
		struct again *ret);

#endif
