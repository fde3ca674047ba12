/* rt/modes/graph-store.c - where a graph is kept while it grows.
 *
 * Nodes of all threads are one mapped file (other threads look up who wrote what); edges are one
 * mapped file per thread. Both only grow, by steps that are reserved on disk first, and an
 * entry is complete before it is counted, so the files make sense at every moment. The hash tables
 * that find an entry again are private memory: nobody needs them after a crash.
 *
 * When there was no room once (a full disk), nothing grows any more: what is known is still
 * counted, what is new is lost. To ask again at every access would nearly stop the program. */
#include "rt/modes/graph.h"

#include "rt/core/record.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define STEP (256ull << 10) /* bytes a file grows by */

struct plait_graph_header *graph_header;
struct plait_graph_node *graph_nodes;
uint32_t graph_mask;

static uint32_t nodes_room; /* nodes that the file has room for */
static uint8_t grow_lock;
static bool full;

static bool graph_path(char *path, const char *name)
{
	size_t dir = strlen(rt_dir), n = strlen(name);

	if (!dir || dir + n + 2 > PATH_MAX)
		return false;
	memcpy(path, rt_dir, dir);
	path[dir] = '/';
	memcpy(path + dir + 1, name, n + 1);
	return true;
}

/* Descriptors do not outlive a call: the target may close all of them. */
static bool reserve(const char *name, uint64_t from, uint64_t n)
{
	char path[PATH_MAX];
	bool done;
	long fd;

	if (!graph_path(path, name))
		return false;
	fd = rt_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
			0644, 0, 0);
	if (fd < 0)
		return false;
	done = rt_buffer_reserve((int)fd, from, n);
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return done;
}

/* The mapping is as long as the file may ever get; what is not reserved yet is never touched. */
static void *map_file(const char *name, uint64_t size)
{
	char path[PATH_MAX];
	long fd, p;

	if (!reserve(name, 0, STEP) || !graph_path(path, name))
		return NULL;
	fd = rt_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return NULL;
	p = rt_syscall(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		       fd, 0);
	rt_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return p < 0 && p > -4096 ? NULL : (void *)p;
}

bool graph_open(void)
{
	char *p = map_file("graph", PLAIT_GRAPH_NODES_AT +
					    PLAIT_GRAPH_NODES * sizeof(struct plait_graph_node));

	if (!p)
		return false;
	graph_header = (struct plait_graph_header *)p;
	graph_nodes = (struct plait_graph_node *)(p + PLAIT_GRAPH_NODES_AT);
	nodes_room = (STEP - PLAIT_GRAPH_NODES_AT) / sizeof(struct plait_graph_node);
	full = false;
	graph_header->nnodes = 1;
	return true;
}

static bool is_full(void)
{
	return __atomic_load_n(&full, __ATOMIC_RELAXED);
}

static void set_full(void)
{
	__atomic_store_n(&full, true, __ATOMIC_RELAXED);
}

static void give_back(void *p, size_t n)
{
	if (p)
		rt_syscall(SYS_munmap, (long)p, (long)n, 0, 0, 0, 0);
}

struct graph_thread *graph_thread_new(uint32_t index)
{
	struct graph_thread *g;
	char name[] = "g00000";

	if (is_full() || !(g = rt_reserve_memory(sizeof(*g), 0)))
		return NULL;
	for (uint32_t i = 5, n = index; i > 0; i--, n /= 10)
		name[i] = (char)('0' + n % 10);
	g->index = index;
	g->tag = TAG_OF(index);
	g->exact_bit = index < 15;
	g->bit = (uint16_t)(1u << (index < 15 ? index : 15));
	g->node_mask = g->edge_mask = 1023;
	g->node_slots = rt_reserve_memory(1024 * sizeof(uint32_t), 0);
	g->edge_slots = rt_reserve_memory(1024 * sizeof(uint32_t), 0);
	g->edges = map_file(name, PLAIT_GRAPH_EDGES * sizeof(struct plait_graph_edge));
	g->edges_room = STEP / sizeof(struct plait_graph_edge);
	if (g->node_slots && g->edge_slots && g->edges)
		return g;
	set_full();
	give_back(g->node_slots, 1024 * sizeof(uint32_t));
	give_back(g->edge_slots, 1024 * sizeof(uint32_t));
	give_back(g->edges, PLAIT_GRAPH_EDGES * sizeof(struct plait_graph_edge));
	give_back(g, sizeof(*g));
	return NULL;
}

static inline uint32_t mix(uint32_t a, uint32_t b)
{
	uint64_t h = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(h >> 32) ^ (uint32_t)(h >> 20);
}

/* ---- nodes ---- */

static uint32_t new_node(struct graph_thread *g, uint32_t site, uint32_t context)
{
	uint32_t id;
	bool room;

	if (is_full())
		return 0;
	id = __atomic_fetch_add(&graph_header->nnodes, 1, __ATOMIC_RELAXED);
	room = id < 1u << NODE_BITS;
	while (room && id >= __atomic_load_n(&nodes_room, __ATOMIC_ACQUIRE)) {
		if (__atomic_test_and_set(&grow_lock, __ATOMIC_ACQUIRE))
			continue;
		if (id >= nodes_room) {
			uint64_t end = PLAIT_GRAPH_NODES_AT + nodes_room * sizeof(*graph_nodes);

			room = !is_full() && reserve("graph", end & ~4095ull, STEP);
			if (room)
				__atomic_store_n(&nodes_room,
						 nodes_room + STEP / sizeof(*graph_nodes),
						 __ATOMIC_RELEASE);
			else
				set_full(); /* those behind us must not get room either */
		}
		__atomic_clear(&grow_lock, __ATOMIC_RELEASE);
	}
	if (!room) {
		__atomic_fetch_sub(&graph_header->nnodes, 1, __ATOMIC_RELAXED);
		return 0;
	}
	graph_nodes[id] =
		(struct plait_graph_node){ .site = site, .context = context, .thread = g->index };
	return id;
}

static void grow_nodes(struct graph_thread *g)
{
	uint32_t mask = g->node_mask * 2 + 1, *slots = rt_reserve_memory((mask + 1ull) * 4, 0);

	if (!slots)
		return;
	for (uint32_t i = 0; i <= g->node_mask; i++) {
		uint32_t id = g->node_slots[i], h;

		if (!id)
			continue;
		h = mix(graph_nodes[id].site, graph_nodes[id].context);
		while (slots[h & mask])
			h++;
		slots[h & mask] = id;
	}
	give_back(g->node_slots, (g->node_mask + 1ull) * 4);
	g->node_slots = slots;
	g->node_mask = mask;
}

uint32_t graph_node_of(struct graph_thread *g, uint32_t site, uint32_t context)
{
	uint32_t c = (site ^ context * 7) % NODE_CACHE, h;

	if (likely(g->cache[c].node && g->cache[c].site == site && g->cache[c].context == context))
		return g->cache[c].node;
	for (h = mix(site, context);; h++) {
		uint32_t id = g->node_slots[h & g->node_mask];

		if (!id)
			break;
		if (graph_nodes[id].site == site && graph_nodes[id].context == context) {
			g->cache[c].site = site;
			g->cache[c].context = context;
			g->cache[c].node = id;
			return id;
		}
	}
	if (g->nnodes * 4ull > g->node_mask * 3ull)
		return 0; /* the table could not grow */
	h = h & g->node_mask;
	g->node_slots[h] = new_node(g, site, context);
	if (g->node_slots[h] && ++g->nnodes * 2 > g->node_mask) {
		uint32_t id = g->node_slots[h];

		grow_nodes(g);
		return id;
	}
	return g->node_slots[h];
}

/* ---- edges ---- */

static void grow_edges(struct graph_thread *g)
{
	uint32_t mask = g->edge_mask * 2 + 1, *slots = rt_reserve_memory((mask + 1ull) * 4, 0);

	if (!slots)
		return;
	for (uint32_t i = 0; i < g->nedges; i++) {
		uint32_t h = mix(g->edges[i].src, g->edges[i].sink);

		while (slots[h & mask])
			h++;
		slots[h & mask] = i + 1;
	}
	give_back(g->edge_slots, (g->edge_mask + 1ull) * 4);
	g->edge_slots = slots;
	g->edge_mask = mask;
}

static bool edge_room(struct graph_thread *g)
{
	char name[] = "g00000";

	if (g->nedges * 4ull > g->edge_mask * 3ull || g->nedges + 1 >= PLAIT_GRAPH_EDGES)
		return false;
	if (g->nedges + 1 < g->edges_room) /* one more stays zero: the end */
		return true;
	for (uint32_t i = 5, n = g->index; i > 0; i--, n /= 10)
		name[i] = (char)('0' + n % 10);
	if (is_full() || !reserve(name, g->edges_room * sizeof(*g->edges), STEP)) {
		set_full();
		return false;
	}
	g->edges_room += STEP / sizeof(*g->edges);
	return true;
}

struct plait_graph_edge *graph_add_edge(struct graph_thread *g, uint32_t src, uint64_t src_time,
					uint32_t sink, uint64_t sink_time)
{
	struct plait_graph_edge *e;
	uint32_t h = mix(src, sink), at;

	for (;; h++) {
		at = g->edge_slots[h & g->edge_mask];
		if (!at)
			break;
		e = &g->edges[at - 1];
		if (e->src == src && e->sink == sink) {
			e->src_time = src_time;
			e->sink_time = sink_time;
			e->count++;
			return e;
		}
	}
	if (!edge_room(g)) {
		__atomic_fetch_add(&graph_header->lost, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	e = &g->edges[g->nedges];
	e->src = src;
	e->src_time = src_time;
	e->sink_time = sink_time;
	e->count = 1;
	__atomic_store_n(&e->sink, sink, __ATOMIC_RELEASE);
	g->edge_slots[h & g->edge_mask] = ++g->nedges;
	if (g->nedges * 2 > g->edge_mask)
		grow_edges(g);
	return e;
}
