/* explain/find/search.h - find the nearest schedule that passes. */
#ifndef EXPLAIN_FIND_SEARCH_H
#define EXPLAIN_FIND_SEARCH_H

#include "explain/find/pairs.h"
#include "explain/runner.h"

struct alternate {
	bool found;
	struct step_pair pair; /* of the failing run; second came first in the passing one */
	struct steps passing;  /* linked */
	size_t difference;     /* steps and flows that a report on it would show */
	/* The failing run may have ended before a step that one of its last reads (early) sees in the
	 * passing run: this one of the passing run, and where it stands at the end of the failing
	 * run (passing.c; 0: nowhere). Without anything to turn round, pair.second is STEP_NONE until then.
	 * STEP_NONE: nothing is missing. */
	uint32_t unreached, early, missed;
};

/* Without a passing run yet. pair NULL: none so far. */
struct alternate alternate_of(const struct step_pair *pair);

/* The few passing schedules that differ least, of different places in the program; the nearest
 * first. */
enum { MAX_ALTERNATES = 4 };
struct alternates {
	struct alternate data[MAX_ALTERNATES];
	size_t len;
	uint64_t pairs_tried; /* until the first of them */
};
void alternates_deinit(struct alternates *a);

struct search_budget {
	uint64_t max_pairs; /* 0 = 500 */
	double seconds;	    /* 0 = 30 */
};

/* A pattern that names step i of the failing run wherever the thread gets to it in another run: its
 * thread, site and object, and its number among such events. */
struct plait_pattern search_pattern(const struct steps *s, uint32_t i);

/* failed: the thread that failed, or STEP_NONE. */
struct err *search_alternate(const struct explain_runner *runner, const struct steps *failing,
			     uint32_t failed, const struct search_budget *budget,
			     struct alternates *ret);

#endif
