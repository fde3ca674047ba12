/* rt/modes/graph.c - mode graph: who communicates with whom, in which context (003 section 4.1, 004
 * section 5).
 *
 * For every word (or cache line) of memory that instrumented code touches, a shadow knows the last
 * writer and who has read it since. When a thread reads or overwrites what another wrote, that is
 * an edge from the node of the write to the node of the access; a node is a site executed in a
 * context, the thread's last N communication events. Nodes carry the context from *before* the
 * access's own event. Then contexts move on:
 *
 *	read of what another thread wrote        reader: local read    writer: remote read
 *	write to what others wrote or read       writer: local write   last writer, and readers
 *	                                                               since: remote write
 *
 * A write by the last writer itself counts as local write when somebody has read the word since
 * (003 calls it an upgrade miss; 004 leaves it out and so never sees the second round between two
 * threads). Reading what nobody has written gives an edge from nowhere, and no context event.
 *
 * The shadow is direct, not a lossy hash: per word of 4 bytes a cell of 4 (ten bits of the thread's
 * index, one that says whether there are readers, 21 of the node) and a set of readers of 2: 1.5
 * times the memory touched. Threads from the sixteenth on share the last bit of the set: for them
 * first-read does not apply, and all of them are told of a remote write. The time of a source is
 * that of the node's last execution.
 *
 * Optimisations (004 section 5.4), each with a switch: first-read and first-write skip what repeats
 * until a remote access comes between; racy look-up asks "is there anything to do?" without
 * taking the lock. Shadows of a block are cleared when it is allocated: a new block has no past.
 *
 * Repetition: data travels in blocks. A thread that reads word after word of what one write left
 * there, in one place and context, meets the same edge again and again; one that fills fresh memory
 * meets the same node. With racy look-up such an access is counted, and only every REPEAT-th asks
 * the clock and the tables: edges, contexts and counts are the same, the last time of the edge is
 * up to REPEAT accesses early. Under control, where times are steps, every access is timed. */
#include "rt/modes/graph.h"

#include "rt/core/record.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define LOCKS  4096
#define REPEAT 16 /* a power of two */

/* What the fast path compares with matches no cell. */
#define SKIP_NOTHING                                                                               \
	{ .read = TWO(TAG_OF_NONE << TAG_SHIFT),                                                   \
	  .write = TWO(TAG_OF_NONE << TAG_SHIFT),                                                  \
	  .tags = TAGS_OF_TWO,                                                                     \
	  .own = OWN_OF_TWO,                                                                       \
	  .want = 0x00010001 }

bool rt_graph;
__thread struct plait_shadow plait_shadow = SKIP_NOTHING;
static uint8_t locks[LOCKS];
static uint32_t shift;
static bool first_read, first_write, hardware, shadow_mapped;
bool graph_racy;
uint64_t graph_shadowed[2];

static inline uint8_t *lock_of(uint64_t address)
{
	uint8_t *lock = &locks[(address >> 6) * 0x9e3779b97f4a7c15ull >> 52];

	for (unsigned n = 0; __atomic_test_and_set(lock, __ATOMIC_ACQUIRE); n++)
		if (n % 64 == 63)
			rt_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
		else
			__builtin_ia32_pause();
	return lock;
}

static inline uint64_t now(void)
{
	return rt_stepping ? rt_steps : rt_tsc();
}

static void touch(uint32_t node, uint64_t time)
{
	graph_nodes[node].time = time;
	graph_nodes[node].count++;
}

/* An edge from what the cell says to this access. */
static struct plait_graph_edge *communicate(struct graph_thread *g, uint32_t cell, uint32_t sink,
					    uint64_t time)
{
	uint32_t src = NODE_OF(cell);

	if (!src)
		return graph_add_edge(g, PLAIT_GRAPH_INITIAL, 0, sink, time);
	return graph_add_edge(g, src, graph_nodes[src].time, sink, time);
}

/* The contexts of both sides move on; writer NULL: nobody has written this. */
static inline void heard_read(struct graph_thread *g, struct graph_thread *writer)
{
	if (!writer)
		return;
	graph_push(g, PLAIT_GRAPH_LOCAL_READ);
	graph_push(writer, PLAIT_GRAPH_REMOTE_READ);
}

static inline void note_reader(const struct graph_thread *g, uint32_t *cell, uint16_t *sharers)
{
	*sharers |= g->bit;
	if (!(*cell & CELL_SHARED))
		__atomic_store_n(cell, *cell | CELL_SHARED, __ATOMIC_RELAXED);
}

/* The cell's new writer; nobody has read it since. */
static inline void note_writer(const struct graph_thread *g, uint32_t *cell, uint16_t *sharers,
			       uint32_t node)
{
	if (*cell & CELL_SHARED)
		*sharers = 0;
	__atomic_store_n(cell, g->tag << TAG_SHIFT | node, __ATOMIC_RELAXED);
}

/* The cell is locked, or nobody minds. */
static void analyse_read(struct graph_thread *g, uint32_t *cell, uint16_t *sharers, uint32_t site)
{
	uint32_t context = __atomic_load_n(&g->context, __ATOMIC_RELAXED), src = NODE_OF(*cell);
	uint32_t node;

	if (g->read.edge && src == g->read.src && site == g->read.site &&
	    context == g->read.context && ++g->read.times % REPEAT) {
		g->read.edge->count++;
		note_reader(g, cell, sharers);
		heard_read(g, g->read.writer);
		return;
	}
	node = graph_node_of(g, site, context);
	if (!node) {
		graph_header->lost++;
		return;
	}
	touch(node, now());
	g->read.edge = communicate(g, *cell, node, graph_nodes[node].time);
	g->read.src = src;
	g->read.site = site;
	g->read.context = context;
	g->read.writer = src ? graph_of(graph_nodes[src].thread) : NULL;
	note_reader(g, cell, sharers);
	heard_read(g, g->read.writer);
	if (!graph_racy || rt_stepping)
		g->read.edge = NULL;
}

/* Threads whose bit is set, and the last writer: each hears of the write once. */
static void tell_others(const struct graph_thread *g, uint32_t cell, uint16_t sharers)
{
	uint32_t writer = NODE_OF(cell) ? graph_nodes[NODE_OF(cell)].thread : g->index;
	uint32_t nthreads = sharers & 0x8000 ? rt_run->nthreads : 15;

	for (uint32_t i = 0; sharers && i < nthreads && i < PLAIT_MAX_THREADS; i++) {
		struct graph_thread *t = graph_of(i);

		if (t && (sharers & t->bit) && t != g && i != writer)
			graph_push(t, PLAIT_GRAPH_REMOTE_WRITE);
	}
	if (writer != g->index && graph_of(writer))
		graph_push(graph_of(writer), PLAIT_GRAPH_REMOTE_WRITE);
}

static inline bool is_mine(const struct graph_thread *g, uint32_t cell)
{
	return cell >> TAG_SHIFT == g->tag;
}

static void analyse_write(struct graph_thread *g, uint32_t *cell, uint16_t *sharers, uint32_t site)
{
	uint32_t old = *cell, context = __atomic_load_n(&g->context, __ATOMIC_RELAXED), node;
	uint16_t others = 0;
	bool foreign;

	if (old & CELL_SHARED)
		others = *sharers & (uint16_t)~(g->exact_bit ? g->bit : 0);
	if (!others && (!NODE_OF(old) || is_mine(g, old)) && g->write.node &&
	    site == g->write.site && context == g->write.context && ++g->write.times % REPEAT) {
		note_writer(g, cell, sharers, g->write.node);
		return;
	}
	foreign = NODE_OF(old) && graph_nodes[NODE_OF(old)].thread != g->index;
	node = graph_node_of(g, site, context);
	if (!node) {
		graph_header->lost++;
		return;
	}
	touch(node, now());
	if (foreign)
		communicate(g, old, node, graph_nodes[node].time);
	g->write.node = graph_racy && !rt_stepping ? node : 0;
	g->write.site = site;
	g->write.context = context;
	note_writer(g, cell, sharers, node);
	if (!foreign && !others)
		return;
	tell_others(g, old, others);
	graph_push(g, PLAIT_GRAPH_LOCAL_WRITE);
}

/* Nothing new: own word, or read before. */
static inline bool skip_read(const struct graph_thread *g, uint32_t cell, const uint16_t *sharers)
{
	return is_mine(g, cell) || ((cell & CELL_SHARED) && first_read && g->exact_bit &&
				    (__atomic_load_n(sharers, __ATOMIC_RELAXED) & g->bit));
}

static inline bool skip_write(const struct graph_thread *g, uint32_t cell)
{
	return first_write && is_mine(g, cell) && !(cell & CELL_SHARED);
}

static inline bool skips(const struct graph_thread *g, bool write, const uint32_t *cell,
			 const uint16_t *sharers)
{
	uint32_t c = __atomic_load_n(cell, __ATOMIC_RELAXED);

	return write ? skip_write(g, c) : skip_read(g, c, sharers);
}

/* The words (or the line) from one address to another, all of one lock. */
static void access_words(struct graph_thread *g, bool write, uint64_t a, uint64_t end,
			 uint32_t site)
{
	uint64_t unit = 1ull << shift;
	uint8_t *lock;

	if (unlikely(!is_shadowed(a)))
		return;
	a &= ~(unit - 1);
	while (graph_racy && a < end && skips(g, write, cell_of(a), sharers_of(a)))
		a += unit;
	if (a >= end)
		return;
	lock = lock_of(a);
	for (; a < end; a += unit) {
		if (skips(g, write, cell_of(a), sharers_of(a)))
			continue;
		if (write)
			analyse_write(g, cell_of(a), sharers_of(a), site);
		else
			analyse_read(g, cell_of(a), sharers_of(a), site);
	}
	__atomic_clear(lock, __ATOMIC_RELEASE);
}

static struct graph_thread *attach(struct rt_thread *t)
{
	struct graph_thread *g;

	if (t == &rt_nobody || t->detached_from_trace)
		return NULL;
	g = graph_thread_new(t->index);
	if (!g) {
		__atomic_fetch_add(&graph_header->lost, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	plait_shadow = (struct plait_shadow)SKIP_NOTHING;
	if (graph_racy && shift == 2) {
		plait_shadow.read = TWO(g->tag << TAG_SHIFT);
		if (first_write)
			plait_shadow.write = plait_shadow.read;
		if (first_read && g->exact_bit)
			plait_shadow.bits = plait_shadow.want = g->bit * 0x00010001u;
	}
	__atomic_store_n((struct graph_thread **)&t->graph, g, __ATOMIC_RELEASE);
	return g;
}

static void access_range(struct graph_thread *g, bool write, uint64_t from, size_t n, uint32_t site)
{
	uint64_t unit = 1ull << shift, end = from + n;

	for (uint64_t a = from & ~(unit - 1), next; a < end; a = next) {
		next = (a & ~63ull) + 64;
		if (hardware)
			graph_hw_access(g, write, a >> shift, site);
		else
			access_words(g, write, a, next < end ? next : end, site);
	}
}

void rt_graph_access(bool write, const void *p, size_t n, uint32_t site)
{
	struct rt_thread *t = rt_self();
	struct graph_thread *g = t->graph;
	uint64_t a = (uint64_t)p, last = a + n - 1;

	if (unlikely(t->depth != 0)) {
		/* a signal handler in the middle of an analysis: it may hold the very lock */
		if (t != &rt_nobody && n)
			__atomic_fetch_add(&graph_header->lost, 1, __ATOMIC_RELAXED);
		return;
	}
	if (unlikely(!g && !(g = attach(t))))
		return;
	t->depth = RT_BUSY;
	__asm__ volatile("" ::: "memory");
	if (likely(a >> shift == last >> shift && !hardware))
		access_words(g, write, a, last + 1, site);
	else if (n)
		access_range(g, write, a, n, site);
	__asm__ volatile("" ::: "memory");
	t->depth = 0;
	if (!rt_writing) /* records say sites as differences to this one */
		t->last_site = site;
}

/* From the graph variant. */
void plait_shadow_slow(uint32_t site, const void *p, uint32_t size, uint32_t write)
{
	if (rt_graph && !graph_skips(write, (uint64_t)p, size))
		rt_graph_access(write, p, size, site);
}

static void before_access(uint32_t kind, const void *p, size_t size, uint32_t site)
{
	if (plait_is_access(kind))
		rt_graph_access(plait_writes(kind), p, size, site);
}

/* Fresh memory: whole pages of the shadow go back, the rest is zeroed where it is not zero yet. */
static void clear_array(char *from, char *to)
{
	char *low = (char *)(((uint64_t)from + 4095) & ~4095ull);
	char *high = (char *)((uint64_t)to & ~4095ull);

	if (high > low) {
		rt_syscall(SYS_madvise, (long)low, high - low, MADV_DONTNEED, 0, 0, 0);
		clear_array(from, low);
		clear_array(high, to);
		return;
	}
	for (uint16_t *p = (uint16_t *)from; (char *)p < to; p++)
		if (*p)
			*p = 0;
}

void rt_graph_fresh(const void *p, size_t n)
{
	uint64_t unit = 1ull << shift, at = ((uint64_t)p + unit - 1) & ~(unit - 1);
	uint64_t end = ((uint64_t)p + n) & ~(unit - 1);

	if (at >= end || !is_shadowed(at) || !is_shadowed(end - 1))
		return;
	clear_array((char *)cell_of(at), (char *)cell_of(end - 4) + 4);
	clear_array((char *)sharers_of(at), (char *)sharers_of(end - 4) + 2);
}

extern void __asan_init(void) __attribute__((weak));

/* Room for all of the shadow, that is: of numbers for its pages. */
static bool map_shadow(uint64_t from, uint64_t to)
{
	static const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	long want = (long)from, n = (long)(to - from);
	long p = rt_syscall(SYS_mmap, want, n, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (p == -17 /* EEXIST: of the run before, in a process that was forked */ && shadow_mapped)
		p = rt_syscall(SYS_mmap, want, n, PROT_READ | PROT_WRITE,
			       (flags & ~MAP_FIXED_NOREPLACE) | MAP_FIXED, -1, 0);
	if (p != want)
		return false;
	rt_syscall(SYS_madvise, want, n, MADV_NOHUGEPAGE, 0, 0, 0);
	rt_syscall(SYS_madvise, want, n, MADV_DONTDUMP, 0, 0, 0);
	return true;
}

/* For the memory from one TB to another. */
static bool map_shadows_of(uint64_t from, uint64_t to)
{
	uint64_t cells = from << 40 ^ SHADOW_BIT, n = (to - from) << 40;

	if (!map_shadow(cells, cells + n) || !map_shadow(cells >> 1, (cells + n) >> 1))
		return false;
	for (; from < to; from++)
		__atomic_fetch_or(&graph_shadowed[from / 64], 1ull << from % 64, __ATOMIC_RELEASE);
	return true;
}

/* AddressSanitizer's own shadow lies where those of the lowest memory would: with it the variables
 * of a program that is not position independent are not seen. */
static bool map_shadows(void)
{
	static const struct {
		uint8_t from, to; /* TB */
		bool low;
	} memory[] = { { 0x00, 0x01, true },
		       { 0x14, 0x16, true },
		       { 0x2a, 0x2c, false },
		       { 0x54, 0x58, false },
		       { 0x7c, 0x80, false } };

	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
		if (!(memory[i].low && __asan_init) &&
		    !map_shadows_of(memory[i].from, memory[i].to))
			return false;
	shadow_mapped = true;
	return true;
}

/* What a program may have is shadowed: a fault elsewhere is one of the look that comes first. */
static uint64_t meant(uint64_t address)
{
	return rt_graph && !is_shadowed(address) ? address ^ SHADOW_BIT : address;
}

/* A look has failed: is there memory that it was for? Two threads may come at once. */
static bool make_shadow(uint64_t address)
{
	uint64_t a = meant(address);
	unsigned char present;

	if (a == address || a >> 47)
		return false;
	if (rt_syscall(SYS_mincore, (long)(a & ~4095ull), 1, (long)&present, 0, 0, 0) < 0)
		return false;
	return is_shadowed(a) || map_shadows_of(a >> 40, (a >> 40) + 1) || is_shadowed(a);
}

static bool on_fault(int signal, uint64_t *address)
{
	if (signal == SIGSEGV && make_shadow(*address))
		return true;
	*address = meant(*address);
	return false;
}

static uint32_t number(const char *option, uint32_t otherwise)
{
	const char *v = rt_option_value(option);

	return v && *v ? (uint32_t)strtoul(v, NULL, 10) : otherwise;
}

/* Options: context=N, granularity=word|line, no-first-read, no-first-write, no-racy,
 * hw-bytes=N, hw-ways=N. */
bool rt_graph_start(void)
{
	uint32_t context = number("context", 5), bytes = number("hw-bytes", 0);
	const char *granularity = rt_option_value("granularity");

	rt_graph = false;
	/* not of the run before, in a process that was forked */
	plait_shadow = (struct plait_shadow)SKIP_NOTHING;
	shift = bytes || (granularity && granularity[0] == 'l') ? 6 : 2;
	if (context > PLAIT_GRAPH_CONTEXT)
		context = PLAIT_GRAPH_CONTEXT;
	graph_mask = context == 16 ? UINT32_MAX : (1u << 2 * context) - 1;
	first_read = !rt_option("no-first-read");
	first_write = !rt_option("no-first-write");
	graph_racy = !rt_option("no-racy");
	hardware = bytes != 0;
	if (!map_shadows() || !graph_open())
		return false;
	memset(locks, 0, sizeof(locks));
	graph_header->version = PLAIT_GRAPH_VERSION;
	graph_header->size = sizeof(*graph_header);
	graph_header->context = context;
	graph_header->shift = shift;
	graph_header->flags = (first_read ? PLAIT_GRAPH_FIRST_READ : 0) |
			      (first_write ? PLAIT_GRAPH_FIRST_WRITE : 0) |
			      (graph_racy ? PLAIT_GRAPH_RACY : 0) |
			      (hardware ? PLAIT_GRAPH_HARDWARE : 0);
	if (hardware)
		graph_hw_init(bytes, number("hw-ways", 8));
	memcpy(graph_header->magic, PLAIT_GRAPH_MAGIC, 8);
	rt_before_access = before_access;
	rt_on_fault = on_fault;
	rt_graph = true;
	return true;
}

bool rt_graph_is_quick(void)
{
	return rt_graph && rt_mode == PLAIT_MODE_GRAPH && shift == 2 && !hardware && graph_racy;
}
