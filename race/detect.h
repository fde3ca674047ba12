/* race/detect.h - the data races of one recorded run: pairs of accesses that nothing orders.
 *
 *	struct race_instances found = { 0 };
 *
 *	err = race_detect(t, &found);
 *	for (size_t i = 0; i < found.len; i++)
 *		use(&found.data[i]);
 *	race_instances_deinit(&found);
 *
 * Two accesses race if they touch a common byte, at least one writes, not both are atomic, they are of
 * different threads, and neither happens before the other (sched/happens.h). A race of a run of
 * `hunt` or `races` (its clock counts steps) is exact for that run. In a recording of mode full the
 * clock of an access is taken beside it, so what is found there are candidates. */
#ifndef RACE_DETECT_H
#define RACE_DETECT_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct event;
struct trace;

struct race_access {
	uint32_t thread;
	uint64_t index; /* per thread, as struct event has it */
	uint64_t step;	/* the event's clock */
	uint32_t site;
	uint64_t address;
	uint64_t size;
	uint32_t kind; /* enum plait_event_kind; PLAIT_EV_FREE is a write of the whole block */
	bool is_write, is_atomic;
	bool in_handler; /* of a signal */
};

/* What an event of a recording is to the detectors; not an access: neither a write nor atomic. */
struct race_access race_access_of(const struct event *ev);

struct race_instance {
	struct race_access first, second; /* in the order of this run */
	uint64_t address;		  /* the first byte that both touch */
};

/* In the order in which the second accesses happened. */
struct race_instances {
	struct race_instance *data;
	size_t len, cap;
	uint64_t seen;	     /* pairs of accesses; data has at most RACE_PER_PAIR of two sites */
	uint64_t lost;	     /* accesses that were not remembered: more races may be there */
	bool exact;	     /* the recording has a total order */
	bool orders_unknown; /* no memory orders: all atomics were taken for sequentially consistent */
};
enum { RACE_PER_PAIR = 8 };

/* *ret must be empty. An error when the plait has no accesses, or cannot be read. */
struct err *race_detect(struct trace *t, struct race_instances *ret);
void race_instances_deinit(struct race_instances *r);

#endif
