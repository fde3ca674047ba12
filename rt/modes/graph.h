/* rt/modes/graph.h - the graph collector: mode graph, or control with option `graph`.
 *
 *	graph.c        who wrote last, who has read since; edges between accesses
 *	graph-store.c  its files: nodes and edges
 *	graph-hw.c     the model of caches */
#ifndef RT_MODES_GRAPH_H
#define RT_MODES_GRAPH_H

#include "rt/core/rt.h"
#include "unplait/graph.h"

/* ---- what the other files of libplait call ---- */

extern bool rt_graph;	   /* collecting */
bool rt_graph_start(void); /* with the run folder open; false: no graph */
/* Mode graph by words, with all that makes it quick? The graph variant does nothing else. */
bool rt_graph_is_quick(void);
void rt_graph_access(bool write, const void *p, size_t n, uint32_t site);
void rt_graph_fresh(const void *p, size_t n); /* a newly allocated block */

/* ---- what the files of the collector share, and the fast path in the hooks ---- */

/* Where the shadow of an address lies: one bit of the address flipped, and half of that. The places
 * where Linux puts the memory of programs, in units of 1 TB:
 *
 *	memory		cells		sharers
 *	00		10		08		not position independent
 *	14, 15		04, 05		02		no limit on the stack
 *	2a, 2b		3a, 3b		1d		old layout
 *	54 to 57	44 to 47	22, 23		the program and its heap
 *	7c to 7f	6c to 6f	36, 37		all else
 *
 * A program that has memory elsewhere gets a shadow there at its first access (on_fault in graph.c).
 * Pages cost when touched. Instrumented code does the same sum: cc/instrument/shadow.c. */
#define SHADOW_BIT (1ull << PLAIT_SHADOW_BIT)

static inline uint32_t *cell_of(uint64_t a)
{
	return (uint32_t *)((a & ~3ull) ^ SHADOW_BIT);
}

static inline uint16_t *sharers_of(uint64_t a)
{
	return (uint16_t *)(((a & ~3ull) ^ SHADOW_BIT) >> 1);
}

/* May a program have memory there? Only there may it be looked at. */
extern uint64_t graph_shadowed[2]; /* a bit for each TB */
static inline bool is_shadowed(uint64_t a)
{
	return !(a >> 47) && graph_shadowed[a >> 46] >> (a >> 40 & 63) & 1;
}

/* A cell: who wrote last (a tag of 10 bits, 0 = nobody), whether anybody has read it since, and the
 * node of that write. Own writes, the most frequent ones, need not look at the sharers. */
#define NODE_BITS   PLAIT_CELL_NODE_BITS
#define NODE_OF(c)  ((c) & ((1u << NODE_BITS) - 1))
#define CELL_SHARED (1u << NODE_BITS)
#define TAG_SHIFT   (NODE_BITS + 1)
#define TAG_OF(i)   ((i) % 1022 + 1)
#define TAG_OF_NONE 1023u
#define TWO(x)	    ((uint64_t)(x) << 32 | (x))
#define TAGS_OF_TWO TWO(~0u << TAG_SHIFT)
#define OWN_OF_TWO  TWO(~0u << NODE_BITS) /* the tag, and that nobody has read it */

/* Two neighbours in one load. */
typedef uint64_t __attribute__((may_alias)) two_cells;
typedef uint32_t __attribute__((may_alias)) two_sharers;

/* A direct-mapped front of the node table: most writes repeat. */
#define NODE_CACHE 256

/* Per thread, in memory of its own; the edges are a mapped file. */
struct graph_thread {
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

/* Of the two words from a on: nothing new? Looks without a lock; a stale answer only loses an edge
 * (004 section 5.4.2). plait_shadow: what this thread's words look like; until its first access
 * that is looked at, and where an optimisation is off, nothing that a cell ever is. */
__attribute__((always_inline)) static inline bool skips_two(bool write, uint64_t a)
{
	uint64_t cells = *(const volatile two_cells *)cell_of(a);

	if (write)
		return !((cells ^ plait_shadow.write) & OWN_OF_TWO);
	return !((cells ^ plait_shadow.read) & TAGS_OF_TWO) ||
	       (*(const volatile two_sharers *)sharers_of(a) & plait_shadow.bits) ==
		       plait_shadow.want;
}

__attribute__((always_inline)) static inline bool skips_one(bool write, uint64_t a)
{
	uint32_t cell = __atomic_load_n(cell_of(a), __ATOMIC_RELAXED);

	if (write)
		return !((cell ^ (uint32_t)plait_shadow.write) >> NODE_BITS);
	return !((cell ^ (uint32_t)plait_shadow.read) >> TAG_SHIFT) ||
	       (__atomic_load_n(sharers_of(a), __ATOMIC_RELAXED) & (uint16_t)plait_shadow.bits) ==
		       (uint16_t)plait_shadow.want;
}

/* The fast path: true when an access of 1, 2, 4 or 8 bytes is nothing new. An address without a
 * shadow faults here already: failure.c knows. */
__attribute__((always_inline)) static inline bool graph_skips(bool write, uint64_t a, unsigned n)
{
	unsigned over = (unsigned)(a & 3) + n;

	if (n == 1 || over <= 4)
		return skips_one(write, a);
	return skips_two(write, a) && (over <= 8 || skips_two(write, a + 4));
}

/* graph-hw.c */
void graph_hw_init(uint32_t bytes, uint32_t ways);
void graph_hw_access(struct graph_thread *g, bool write, uint64_t line, uint32_t site);

#endif
