/* cc/analyse/plan.h - decide, before anything is changed, what happens at each instruction. */
#ifndef CC_ANALYSE_PLAN_H
#define CC_ANALYSE_PLAN_H

#include "cc/analyse/pointsto.h"
#include "cc/analyse/sharing.h"

struct program;

/* What may point where, and what may be shared. The module may change afterwards as cc/expand does
 * it: what was there stays, and new code takes its addresses from it. */
struct analysis {
	struct pointsto pt;
	struct sharing sharing;
};
void analysis_run(struct analysis *a, struct program *p);
void analysis_deinit(struct analysis *a);

/* Fill p->plans, p->sites, p->elements and p->counts. */
void plan_program(struct program *p, struct analysis *a);

#endif
