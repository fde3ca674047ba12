/* rt/log/log.h - mode sync: what is written down, and giving it back (doc/design/record.md).
 *
 *	order.c    which operation came right after which: hand-overs
 *	locks.c    pthreads' and C11's objects, as they are recorded
 *	atomics.c  ... and the program's own atomics (loads.S, atomics-kept.S: how the program comes there)
 *	futex.c    ... and raw futexes
 *	noted.c    calls that bring something in or send it out, as they are recorded
 *	given.c    ... and as a replay gives it back
 *	heard.c    the same for runs under control: what comes from others
 *	answers.c  the answers of a log, thread by thread
 *	passing.c  what such a call fills (calls.def, talks.def)
 *
 * This room sees rt/interpose, whose jumps it turns to its own functions. */
#ifndef RT_LOG_LOG_H
#define RT_LOG_LOG_H

#include "rt/interpose/interpose.h"

/* Mode sync: take over what is recorded. After interpose_init. */
void log_record_init(void);
/* A replay whose log is mapped: give answers in place of calls. */
void log_give_init(void);
/* A run under control: what it hears from others is written down, or comes from the log that is mapped. */
void log_hear_init(void);
/* Recording begins at main: what constructors do is the same in every run. */
extern bool log_begun;

/* ---- order.c ---- */

/* The next operation of this thread. It was just done to the object (which is still held), or is about
 * to be done by giving the object away. kind: of the event that a replay makes of it
 * (of plait_log_class). */
void log_operation(const void *object, uint32_t kind);
/* ... and this object takes part in it as well. */
void log_also(const void *object);
/* Stamps of mutexes written so far are not ours. */
void log_new_nonce(void);
/* The last one returned something else than 0. */
void log_result(int64_t result);

/* ---- atomics.c: around an atomic access of p, with its helpers of general registers alone ---- */

void log_atomic_enter(const void *p);
bool log_atomic_leave(void);
void log_atomic_record(void);
/* An operation on a futex's word, ordered with all atomics on it; what the word was then. */
uint32_t log_word_operation(const uint32_t *word);
/* How many of the thread's operations were atomics. */
uint64_t log_atomics_of(const struct rt_thread *t);
/* In the child of a fork: nobody is inside anything. */
void log_forked(void);

/* ---- locks.c, noted.c, futex.c ---- */

void atomics_init(void);
void futex_init(void);
void locks_init(void);
void noted_init(void);
void noted_begin(void); /* main begins */

#endif
