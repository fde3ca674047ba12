/* rewind/between.h - private to rewind/: is the order of the threads' steps the cause? */
#ifndef REWIND_BETWEEN_H
#define REWIND_BETWEEN_H

#include "rewind/threads.h"

struct err;

/* The interleaving of t->weave makes a bad value, described by q. If keeping other threads out of one place
 * in the code makes that impossible, t->cause says which. */
struct err *between_find(struct threads *t, const struct weave_input *in,
			 const struct weave_question *q, double deadline);
/* Ask for orders without it: nobody comes in between, or the two are the other way round. False: these ways of the
 * threads do not come to both. */
bool between_forbid(const struct between *b, const struct track *const *tracks,
		    struct weave_question *q);

#endif
