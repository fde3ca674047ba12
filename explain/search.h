/* explain/search.h - find the nearest schedule that passes. */
#ifndef EXPLAIN_SEARCH_H
#define EXPLAIN_SEARCH_H

#include "explain/pairs.h"
#include "explain/runner.h"

struct alternate {
	bool found;
	struct step_pair pair; /* of the failing run; second came first in the passing one */
	struct steps passing;  /* linked */
	uint64_t pairs_tried;  /* until the first alternate */
};

struct search_budget {
	uint64_t max_pairs; /* 0 = 500 */
	double seconds;	    /* 0 = 30 */
};

/* A pattern that names step i of the failing run wherever the thread gets to it in another run: its
 * thread, site and object, and the how-manieth such event it is. */
struct plait_pattern search_pattern(const struct steps *s, uint32_t i);

/* failed: the thread that failed, or STEP_NONE. */
struct err *search_alternate(const struct explain_runner *runner, const struct steps *failing,
			     uint32_t failed, const struct search_budget *budget,
			     struct alternate *ret);

#endif
