/* order/why/projection.h - what differs between two runs, and nothing else (000 section 4.1.6).
 *
 * The input is two total orders of plain events; they may come from a model or from native runs. An
 * event is the same in both when thread and index agree. Shown are the ends of data flows that
 * exist in one run only and members of conflicting pairs (one object, different threads, not both
 * reads) whose order differs; a common start shows up only where a differing flow begins in it. */
#ifndef ORDER_WHY_PROJECTION_H
#define ORDER_WHY_PROJECTION_H

#include "order/order.h"

struct projected_event {
	uint32_t thread, index; /* identity: the index-th event of its thread */
	uint64_t object;
	uint64_t value; /* read or written, where known */
	uint64_t site;
	bool reads, writes; /* neither: never conflicts */
	bool memory;	    /* takes part in data flow (locks only in order) */
};

#define PROJECTION_INITIAL SIZE_MAX

struct order_flow {
	bool in_second;
	size_t from, to; /* positions in that run; from PROJECTION_INITIAL: the initial value */
};

struct order_projection {
	VEC(struct order_flow) flows; /* in one run only */
	bool *shown[2];		      /* by position */
	size_t nshown[2];
	size_t prefix;	       /* length of the common start */
	size_t total_flows[2]; /* all data flows of each run */
	size_t flow_events;    /* events at the ends of differing flows, counted once */
};

void order_project(const struct projected_event *first, size_t nfirst,
		   const struct projected_event *second, size_t nsecond,
		   struct order_projection *ret);
void order_projection_deinit(struct order_projection *p);

/* The events of a model in this order, with what reads and writes saw. The caller frees them. */
struct projected_event *order_projected_events(const struct order_model *m, const uint32_t *order,
					       size_t len);

#endif
