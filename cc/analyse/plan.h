/* cc/analyse/plan.h - decide, before anything is changed, what happens at each instruction. */
#ifndef CC_ANALYSE_PLAN_H
#define CC_ANALYSE_PLAN_H

struct program;

/* Fill p->plans, p->sites, p->elements and p->counts. */
void plan_program(struct program *p);

#endif
