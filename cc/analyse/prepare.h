/* cc/analyse/prepare.h - the first step of the analysis: raise assembly, name and list everything. */
#ifndef CC_ANALYSE_PREPARE_H
#define CC_ANALYSE_PREPARE_H

struct err;
struct program;

/* Change p->module for the last time before it is kept; fill p->fns, p->fn_index, p->variables. */
struct err *prepare_program(struct program *p);

#endif
