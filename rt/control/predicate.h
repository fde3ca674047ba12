/* rt/control/predicate.h - private to control/: a condition that the user wants to hold. */
#ifndef RT_CONTROL_PREDICATE_H
#define RT_CONTROL_PREDICATE_H

#include <stdbool.h>

struct rt_sync;

extern bool predicate_on; /* there is one */

void predicate_begin(void);
/* A synchronisation has happened: does it hold, if this hands something on? */
void predicate_sync(const struct rt_sync *s);
/* The program is about to end. */
void predicate_end(void);

#endif
