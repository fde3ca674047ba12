/* graph/derive.h - the communication graph of a run whose events were all recorded. */
#ifndef GRAPH_DERIVE_H
#define GRAPH_DERIVE_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct trace;

struct derive_options {
	unsigned context; /* events per context, 0 to 16 */
	unsigned shift;	  /* log2 of the granularity: 2 word, 6 line */
	bool first_read, first_write;
};

/* One communication: may come many times with the same ends. UINT32_MAX as src_site: no write. */
struct derived_edge {
	uint32_t src_site, src_context, sink_site, sink_context;
	uint64_t src_time, sink_time;
};
typedef void (*derive_sink)(const struct derived_edge *e, void *arg);

/* An access of shared memory that gave no edge, because it repeats (first-read, first-write): the
 * time of its last execution in that context. */
typedef void (*derive_bystander)(uint32_t site, uint32_t context, uint64_t time, void *arg);

/* Calls back for each communication in order of the events, then for each bystander (may be NULL).
 * Exact where the trace's clock orders
 * all events (runs under control); by time stamps otherwise. */
struct err *graph_derive(struct trace *t, const struct derive_options *o, derive_sink sink,
			 derive_bystander bystander, void *arg);

#endif
