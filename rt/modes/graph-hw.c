/* rt/modes/graph-hw.c - the hardware variant as a model (003 section 4.2): a private cache per thread,
 * kept coherent by MESI, and nothing is seen but what travels between caches.
 *
 * A cached line carries the node of its last write; the node is lost when the line is evicted. A
 * read or write miss that another cache serves is an edge from the line's node and an event in both
 * contexts; a read miss that memory serves is an edge from nowhere. Edges go through a
 * communication table of a fixed size: when it is full, software is trapped to empty it. Ours is
 * counted only, the edges are kept at once. One lock: this is a model, not a fast path. */
#include "rt/modes/graph.h"

#include "rt/core/record.h"

#include <sys/syscall.h>

enum { LINE_BYTES = 64, TABLE = 16384, MAX_WAYS = 64 };

enum state { INVALID, SHARED, EXCLUSIVE, MODIFIED };

struct line {
	uint64_t number;
	uint64_t used; /* for LRU */
	uint32_t node;
	uint8_t state; /* enum state */
};

static uint32_t nsets, nways;
static uint8_t model_lock;
static uint64_t tick;

void graph_hw_init(uint32_t bytes, uint32_t ways)
{
	nways = ways < 1 ? 1 : ways > MAX_WAYS ? MAX_WAYS : ways;
	nsets = bytes / LINE_BYTES / nways;
	if (nsets < 1)
		nsets = 1;
	model_lock = 0;
	graph_header->cache_bytes = nsets * nways * LINE_BYTES;
	graph_header->cache_ways = nways;
}

static struct line *find(const struct graph_thread *g, uint64_t number)
{
	struct line *set = g->cache_model;

	if (!set)
		return NULL;
	set += number % nsets * nways;
	for (uint32_t i = 0; i < nways; i++)
		if (set[i].state != INVALID && set[i].number == number)
			return &set[i];
	return NULL;
}

/* A place for the line: a free one, or the one not used for longest. */
static struct line *evict(struct graph_thread *g, uint64_t number)
{
	struct line *set = (struct line *)g->cache_model + number % nsets * nways, *best = set;

	for (uint32_t i = 0; i < nways; i++) {
		if (set[i].state == INVALID) {
			best = &set[i];
			break;
		}
		if (set[i].used < best->used)
			best = &set[i];
	}
	*best = (struct line){ .number = number };
	return best;
}

static void add_edge(struct graph_thread *g, uint32_t src, uint32_t sink)
{
	graph_nodes[sink].time = rt_stepping ? rt_steps : rt_tsc();
	graph_nodes[sink].count++;
	if (++graph_header->table_writes % TABLE == 0)
		graph_header->traps++;
	if (!src)
		graph_add_edge(g, PLAIT_GRAPH_INITIAL, 0, sink, graph_nodes[sink].time);
	else if (graph_nodes[src].thread != g->index)
		graph_add_edge(g, src, graph_nodes[src].time, sink, graph_nodes[sink].time);
}

/* Ask the other caches. The node of the line that one of them has; *others says whether any. */
static uint32_t snoop(struct graph_thread *g, bool write, uint64_t number, bool *others)
{
	uint32_t node = 0, n = rt_run->nthreads;

	for (uint32_t i = 0; i < n && i < PLAIT_MAX_THREADS; i++) {
		struct graph_thread *t = graph_of(i);
		struct line *l = t && t != g ? find(t, number) : NULL;

		if (!l)
			continue;
		*others = true;
		node = l->node ? l->node : node;
		if (write) {
			l->state = INVALID;
			graph_push(t, PLAIT_GRAPH_REMOTE_WRITE);
		} else {
			if (l->state != SHARED)
				graph_push(t, PLAIT_GRAPH_REMOTE_READ);
			l->state = SHARED;
		}
	}
	return node;
}

static void miss(struct graph_thread *g, bool write, uint64_t number, uint32_t sink, struct line *l)
{
	bool others = false, upgrade = l != NULL;
	uint32_t src = snoop(g, write, number, &others);

	if (upgrade)
		graph_header->upgrades++;
	else if (write)
		graph_header->write_misses++;
	else
		graph_header->read_misses++;
	if (!l)
		l = evict(g, number);
	if (others && src)
		add_edge(g, src, sink);
	else if (!write)
		add_edge(g, 0, sink);
	if (others)
		graph_push(g, write ? PLAIT_GRAPH_LOCAL_WRITE : PLAIT_GRAPH_LOCAL_READ);
	l->state = write ? MODIFIED : others ? SHARED : EXCLUSIVE;
	l->node = write ? sink : src;
	graph_header->metadata_writes++;
}

void graph_hw_access(struct graph_thread *g, bool write, uint64_t number, uint32_t site)
{
	struct line *l;
	uint32_t sink;

	while (__atomic_test_and_set(&model_lock, __ATOMIC_ACQUIRE))
		rt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	if (!g->cache_model)
		g->cache_model = rt_reserve_memory(nsets * nways * sizeof(struct line), 0);
	l = g->cache_model ? find(g, number) : NULL;
	graph_header->operations++;
	if (g->cache_model && (!l || (write && l->state == SHARED))) {
		sink = graph_node_of(g, site, __atomic_load_n(&g->context, __ATOMIC_RELAXED));
		if (sink) {
			miss(g, write, number, sink, l);
			l = find(g, number);
		}
	}
	if (l) {
		l->used = ++tick;
		if (write)
			l->state = MODIFIED;
	}
	__atomic_clear(&model_lock, __ATOMIC_RELEASE);
}
