/* synth/map.h - private: a schedule of the unplait build as turns of the shipped binary.
 *
 * Where a thread is interrupted, the unplait build has an event: an access or a call at a line. The shipped binary
 * has instructions of that line, one or many. A plan has, per switch, the places that it may mean; a walk over the plan
 * chooses among them, the likely ones first. */
#ifndef SYNTH_MAP_H
#define SYNTH_MAP_H

#include "run/script.h"

struct err;

struct map_switch {
	VEC(struct turn) places; /* at least one */
};

struct map_plan {
	VEC(struct map_switch) switches; /* in the order of the schedule */
	size_t nplaces;			 /* of all */
};

/* The plait is of the unplait build; program: the shipped binary, which has lines. */
struct err *map_schedule(const char *plait, const char *program, struct map_plan *ret);
void map_plan_deinit(struct map_plan *p);

/* Zero-initialised is the beginning. */
struct map_walk {
	VEC(size_t) chosen; /* per switch */
	size_t sum;	    /* of them */
	bool begun;
};
/* The next choice, as the script's turns; false: there is none. */
bool map_next(const struct map_plan *p, struct map_walk *w, struct script *ret);
void map_walk_deinit(struct map_walk *w);

#endif
