/* rt/graph.h - inside the graph collector: what graph.c, graph-store.c and graph-hw.c share. */
#ifndef RT_GRAPH_H
#define RT_GRAPH_H

#include "rt/rt.h"
#include "unplait/graph.h"

/* A direct-mapped front of the node table: most writes repeat. */
#define NODE_CACHE 256

/* Per thread, in memory of its own; the edges are a mapped file. */
struct graph_thread {
	uint32_t index;
	uint32_t context; /* atomic: other threads push into it */
	uint32_t tag;	  /* in the upper bits of a cell */
	uint16_t bit;	  /* in a set of sharers */
	bool exact_bit;	  /* nobody else has this bit */
	struct {
		uint32_t site, context, node;
	} cache[NODE_CACHE];
	uint32_t *node_slots; /* hash of (site, context) -> node; 0 = free */
	uint32_t nnodes, node_mask;
	struct plait_graph_edge *edges;
	uint32_t nedges, edges_room;
	uint32_t *edge_slots; /* hash of (src, sink) -> edge + 1 */
	uint32_t edge_mask;
	void *cache_model; /* graph-hw.c */
};

extern struct plait_graph_header *graph_header;
extern struct plait_graph_node *graph_nodes;
extern uint32_t graph_mask; /* of a context */

/* graph-store.c. The node of a site in a context, for this thread; 0 when there is no room. */
uint32_t graph_node_of(struct graph_thread *g, uint32_t site, uint32_t context);
/* Note an edge, or that it happened again. */
void graph_add_edge(struct graph_thread *g, uint32_t src, uint64_t src_time, uint32_t sink,
		    uint64_t sink_time);
struct graph_thread *graph_thread_new(uint32_t index);
bool graph_open(void);
void *graph_memory(size_t n); /* zeroed, lazily; NULL */

/* Push an event into a thread's context. */
static inline void graph_push(struct graph_thread *g, uint32_t event)
{
	uint32_t old = __atomic_load_n(&g->context, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(&g->context, &old, (old << 2 | event) & graph_mask,
					    true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static inline struct graph_thread *graph_of(uint32_t thread)
{
	return __atomic_load_n((struct graph_thread **)&rt_threads[thread].graph, __ATOMIC_ACQUIRE);
}

/* graph-hw.c */
void graph_hw_init(uint32_t bytes, uint32_t ways);
void graph_hw_access(struct graph_thread *g, bool write, uint64_t line, uint32_t site);

#endif
