/* rt/log/log.h - mode sync: what is written down, and giving it back (doc/design/record.md).
 *
 *	order.c    which operation came right after which: hand-overs
 *	locks.c    pthreads' and C11's objects, as they are recorded
 *	noted.c    calls that bring something in or send it out, as they are recorded
 *	given.c    ... and as a replay gives it back
 *	passing.c  what such a call fills (calls.def)
 *
 * This room sees rt/interpose, whose jumps it turns to its own functions. */
#ifndef RT_LOG_LOG_H
#define RT_LOG_LOG_H

#include "rt/interpose/interpose.h"

/* Mode sync: take over what is recorded. After interpose_init. */
void log_record_init(void);
/* A replay whose log is mapped: give answers in place of calls. */
void log_give_init(void);
/* Recording begins at main: what constructors do is the same in every run. */
extern bool log_begun;

/* ---- order.c ---- */

/* The next operation of this thread. It was just done to the object (which is still held), or is about
 * to be done by giving the object away. */
void log_operation(const void *object);
/* ... and this object takes part in it as well. */
void log_also(const void *object);
/* The last one returned something else than 0. */
void log_result(int64_t result);
/* ---- locks.c, noted.c ---- */

void locks_init(void);
void noted_init(void);
void noted_begin(void); /* main begins */

#endif
