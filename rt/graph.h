/* rt/graph.h - inside the graph collector: what graph.c, graph-store.c and graph-hw.c share. */
#ifndef RT_GRAPH_H
#define RT_GRAPH_H

#include "rt/rt.h"
#include "unplait/graph.h"

/* Memory is shadowed by regions of this many bytes; pages of a shadow cost when touched. */
#define REGION_SHIFT 22
#define REGIONS	     (1ull << (47 - REGION_SHIFT))
#define CELLS	     (1ull << (REGION_SHIFT - 2))

/* A cell: who wrote last (a tag of 10 bits, 0 = nobody), whether anybody has read it since, and the
 * node of that write. Own writes, the most frequent ones, need not look at the sharers. */
#define NODE_BITS   21
#define NODE_OF(c)  ((c) & ((1u << NODE_BITS) - 1))
#define CELL_SHARED (1u << NODE_BITS)
#define TAG_SHIFT   (NODE_BITS + 1)
#define TAG_OF(i)   ((i) % 1022 + 1)
#define TAG_OF_NONE 1023u
#define TWO(x)	    ((uint64_t)(x) << 32 | (x))
#define TAGS_OF_TWO TWO(~0u << TAG_SHIFT)
#define OWN_OF_TWO  TWO(~0u << NODE_BITS) /* the tag, and that nobody has read it */

struct region {
	uint32_t writer[CELLS];
	uint16_t sharers[CELLS];
};

/* Two neighbours in one load. */
typedef uint64_t __attribute__((may_alias)) two_cells;
typedef uint32_t __attribute__((may_alias)) two_sharers;

/* A direct-mapped front of the node table: most writes repeat. */
#define NODE_CACHE 256

/* Per thread, in memory of its own; the edges are a mapped file. */
struct graph_thread {
	/* What the fast path compares, for two words at once; values that never match switch off
	 * an optimisation. */
	struct region **regions;
	uint64_t read_tags, write_tags;
	uint32_t read_bits, read_want;
	uint32_t index;
	uint32_t tag;	/* in the upper bits of a cell */
	uint16_t bit;	/* in a set of sharers */
	bool exact_bit; /* nobody else has this bit */
	/* Other threads push into it: on a line of its own, or each push would slow down the fast
	 * path. */
	__attribute__((aligned(64))) uint32_t context;
	__attribute__((aligned(64))) char after_context[0];
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
	/* The last communication by a read and the last write of words nobody else has: see
	 * graph.c, "Repetition". */
	struct {
		struct plait_graph_edge *edge; /* NULL: none */
		struct graph_thread *writer;
		uint32_t src, site, context, times;
	} read;
	struct {
		uint32_t node, site, context, times; /* node 0: none */
	} write;
};

/* This thread's; until its first access that is looked at, that of nobody, who skips nothing. */
extern __thread struct graph_thread *graph_self_ __attribute__((tls_model("initial-exec")));
extern struct plait_graph_header *graph_header;
extern struct plait_graph_node *graph_nodes;
extern uint32_t graph_mask; /* of a context */
extern bool graph_racy;	    /* look-ups and contexts without locks */

/* graph-store.c. The node of a site in a context, for this thread; 0 when there is no room. */
uint32_t graph_node_of(struct graph_thread *g, uint32_t site, uint32_t context);
/* Note an edge, or that it happened again. NULL when there is no room. */
struct plait_graph_edge *graph_add_edge(struct graph_thread *g, uint32_t src, uint64_t src_time,
					uint32_t sink, uint64_t sink_time);
struct graph_thread *graph_thread_new(uint32_t index);
bool graph_open(void);
void *graph_memory(size_t n); /* zeroed, lazily; NULL */

/* Push an event into a thread's context. With racy look-up two that come at once may leave one of
 * them: a lock for each communication costs more than all the rest of it. A context that is full of
 * this event is not written: its line stays where it is. */
static inline void graph_push(struct graph_thread *g, uint32_t event)
{
	uint32_t old = __atomic_load_n(&g->context, __ATOMIC_RELAXED);
	uint32_t now = (old << 2 | event) & graph_mask;

	if (graph_racy) {
		if (now != old)
			__atomic_store_n(&g->context, now, __ATOMIC_RELAXED);
		return;
	}
	while (!__atomic_compare_exchange_n(&g->context, &old, (old << 2 | event) & graph_mask,
					    true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static inline struct graph_thread *graph_of(uint32_t thread)
{
	return __atomic_load_n((struct graph_thread **)&rt_threads[thread].graph, __ATOMIC_ACQUIRE);
}

/* Of the two words from number i on: nothing new? */
__attribute__((always_inline)) static inline bool
graph_skips_two(const struct graph_thread *g, const struct region *r, bool write, uint64_t i)
{
	uint64_t cells = *(const volatile two_cells *)&r->writer[i];

	if (write)
		return !((cells ^ g->write_tags) & OWN_OF_TWO);
	return !((cells ^ g->read_tags) & TAGS_OF_TWO) ||
	       (*(const volatile two_sharers *)&r->sharers[i] & g->read_bits) == g->read_want;
}

__attribute__((always_inline)) static inline bool
graph_skips_one(const struct graph_thread *g, const struct region *r, bool write, uint64_t i)
{
	uint32_t cell = __atomic_load_n(&r->writer[i], __ATOMIC_RELAXED);

	if (write)
		return !((cell ^ (uint32_t)g->write_tags) >> NODE_BITS);
	return !((cell ^ (uint32_t)g->read_tags) >> TAG_SHIFT) ||
	       (__atomic_load_n(&r->sharers[i], __ATOMIC_RELAXED) & (uint16_t)g->read_bits) ==
		       (uint16_t)g->read_want;
}

/* The fast path: true when an aligned access of 1, 2, 4 or 8 bytes is nothing new. Looks without a
 * lock; a stale answer only loses an edge (004 section 5.4.2). */
__attribute__((always_inline)) static inline bool graph_skips(bool write, uint64_t a, unsigned n)
{
	const struct graph_thread *g = graph_self_;
	const struct region *r;
	uint64_t i = (a & ((1ull << REGION_SHIFT) - 1)) >> 2;

	/* not aligned, or no address of a program: the low bits go to the top */
	if (unlikely((a >> __builtin_ctz(n) | a << (64 - __builtin_ctz(n)) % 64) >>
		     (47 - __builtin_ctz(n))))
		return false;
	r = __atomic_load_n(&g->regions[a >> REGION_SHIFT], __ATOMIC_RELAXED);
	if (unlikely(!r))
		return false;
	return n == 8 ? graph_skips_two(g, r, write, i) : graph_skips_one(g, r, write, i);
}

/* The same for one that is not aligned: up to three words. */
static inline bool graph_skips_odd(bool write, uint64_t a, unsigned n)
{
	const struct graph_thread *g = graph_self_;
	const struct region *r;
	uint64_t i = (a & ((1ull << REGION_SHIFT) - 1)) >> 2;

	if (!(a & (n - 1)) || a >> 47 || i + 3 > CELLS)
		return false;
	r = __atomic_load_n(&g->regions[a >> REGION_SHIFT], __ATOMIC_RELAXED);
	if (unlikely(!r))
		return false;
	if ((a & 3) + n <= 4)
		return graph_skips_one(g, r, write, i);
	return graph_skips_two(g, r, write, i) &&
	       ((a & 3) + n <= 8 || graph_skips_two(g, r, write, i + 1));
}

/* graph-hw.c */
void graph_hw_init(uint32_t bytes, uint32_t ways);
void graph_hw_access(struct graph_thread *g, bool write, uint64_t line, uint32_t site);

#endif
