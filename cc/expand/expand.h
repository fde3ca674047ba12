/* cc/expand/expand.h - put the bodies of library functions in the place of their calls. */
#ifndef CC_EXPAND_EXPAND_H
#define CC_EXPAND_EXPAND_H

struct analysis;
struct err;
struct program;

/* Calls of library functions on memory that may be shared become code of the program: see expand.c.
 * Names of functions that stay unseen are added to p->unseen. The plain variant has been started
 * before: it keeps the calls. */
struct err *expand_program(struct program *p, struct analysis *a);

#endif
