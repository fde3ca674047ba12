/* sched/decisions.h - schedules as bytes: the decisions of a run, a few bytes each.
 *
 * A decision says: after so many executed events, this happens. Stored as two varints, the number
 * of events since the previous decision (times four, plus the kind) and the value. What is not in
 * the list needs no decision: the running thread goes on. */
#ifndef SCHED_DECISIONS_H
#define SCHED_DECISIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum decision_kind {
	DECISION_SWITCH,  /* thread `value` goes on (if it waits with a timeout: that expires) */
	DECISION_CHOICE,  /* alternative `value` of several (which waiter a signal wakes) */
	DECISION_WAKE,	  /* thread `value` wakes without a signal */
	DECISION_OUTSIDE, /* the running thread stays in code we do not see; `value` goes on
			     meanwhile */
};

struct decision {
	uint64_t step; /* events executed before it */
	uint32_t kind;
	uint32_t value;
};

#define DECISION_MAX_BYTES 16

/* Appends at p, which has DECISION_MAX_BYTES of room; returns the end. `last` is the previous
 * decision's step. */
uint8_t *decision_write(uint8_t *p, const struct decision *d, uint64_t last);

struct decision_reader {
	const uint8_t *next, *end;
	uint64_t step;
	bool damaged;
};
void decision_reader_init(struct decision_reader *r, const void *data, size_t len);
/* False at the end (and when the bytes are damaged). */
bool decision_read(struct decision_reader *r, struct decision *ret);

#endif
