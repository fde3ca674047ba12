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

/* Who used an object last. Objects may share a place: then their operations are kept in order
 * together, which is more than is needed and never wrong. */
struct log_place;

/* The next operation of this thread. It was just done to the object (which is still held), or is about
 * to be done by giving the object away. */
void log_operation(const void *object);
/* ... and this object takes part in it as well. */
void log_also(const void *object);
/* The last one returned something else than 0. */
void log_result(int64_t result);
/* An operation that does not wait, between these two: nobody else is in this place meanwhile. open
 * returns NULL when nothing is to be written. */
struct log_place *log_open(const void *object);
void log_close(struct log_place *p);
/* Somebody has failed to take an object here. From now on, giving it back is ordered, too. */
void log_tried(struct log_place *p);

/* ---- locks.c, noted.c ---- */

void locks_init(void);
void noted_init(void);
void noted_begin(void); /* main begins */

#endif
