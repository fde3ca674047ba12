/* cc/analyse/nodes.c - the graph under the points-to analysis: nodes that merge, links per offset. */
#include "cc/analyse/nodes.h"

#include "cc/program.h"

#include <stdlib.h>
#include <string.h>

#define COPIED_ALL (INT32_MAX / 4)
#define MAX_LINKS  200 /* per node; beyond, fields are no longer told apart */

struct cell node_new(struct pointsto *pt, unsigned flags, LLVMValueRef home)
{
	struct node *n = vec_add(&pt->nodes);

	n->flags = (uint16_t)flags;
	n->home = home;
	return (struct cell){ (uint32_t)pt->nodes.len - 1, 0 };
}

static int32_t floor_mod(int32_t a, uint32_t m)
{
	int32_t r = a % (int32_t)m;

	return r < 0 ? r + (int32_t)m : r;
}

static int32_t fold(const struct node *n, int32_t off)
{
	if (n->collapsed)
		return 0;
	return n->stride ? floor_mod(off, n->stride) : off;
}

struct cell pointsto_find(struct pointsto *pt, struct cell c)
{
	struct node *n = &pt->nodes.data[c.node];

	while (n->up) {
		struct node *up = &pt->nodes.data[n->up];

		if (up->up) { /* path halving */
			n->shift += up->shift;
			n->up = up->up;
		}
		c.off += n->shift;
		c.node = n->up;
		n = &pt->nodes.data[c.node];
	}
	c.off = fold(n, c.off);
	return c;
}

static size_t fn_words(const struct pointsto *pt)
{
	return pt->functions.len / 64 + 1;
}

bool node_add_functions(struct pointsto *pt, uint32_t node, const uint64_t *fns)
{
	struct node *n = &pt->nodes.data[node];
	bool changed = false;

	if (!fns)
		return false;
	if (!n->fns)
		n->fns = xcalloc(fn_words(pt), sizeof(uint64_t));
	for (size_t i = 0; i < fn_words(pt); i++) {
		changed |= (fns[i] & ~n->fns[i]) != 0;
		n->fns[i] |= fns[i];
	}
	return changed;
}

size_t node_count_functions(const struct pointsto *pt, uint32_t node)
{
	const uint64_t *fns = pt->nodes.data[node].fns;
	size_t n = 0;

	for (size_t i = 0; fns && i < fn_words(pt); i++)
		n += (size_t)__builtin_popcountll(fns[i]);
	return n;
}

bool pointsto_next_function(struct pointsto *pt, struct cell c, size_t *at, LLVMValueRef *ret)
{
	const uint64_t *fns;

	c = pointsto_find(pt, c);
	fns = pt->nodes.data[c.node].fns;
	for (; fns && *at < pt->functions.len; ++*at) {
		if (!fns[*at / 64])
			*at |= 63; /* nothing in this word */
		else if (fns[*at / 64] >> (*at % 64) & 1) {
			*ret = pt->functions.data[(*at)++];
			return true;
		}
	}
	return false;
}

static void later(struct pointsto *pt, struct cell a, struct cell b)
{
	vec_push(&pt->pending, (struct edge){ a, b });
}

/* The slot of the link at `off` (folded); created empty when absent. */
static struct cell *link_slot(struct node *n, int32_t off)
{
	size_t lo = 0, hi = n->links.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (n->links.data[mid].off < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == n->links.len || n->links.data[lo].off != off) {
		vec_add(&n->links);
		memmove(&n->links.data[lo + 1], &n->links.data[lo],
			(n->links.len - 1 - lo) * sizeof(n->links.data[0]));
		n->links.data[lo] = (struct link_field){ off, NOWHERE };
	}
	return &n->links.data[lo].to;
}

/* Offsets have changed their meaning: sort the links in again. */
static void refold(struct pointsto *pt, uint32_t node)
{
	struct node *n = &pt->nodes.data[node];
	struct link_field *old = n->links.data;
	size_t len = n->links.len;

	n->links.data = NULL;
	n->links.len = n->links.cap = 0;
	for (size_t i = 0; i < len; i++) {
		struct cell *slot = link_slot(n, fold(n, old[i].off));

		if (!slot->node)
			*slot = old[i].to;
		else
			later(pt, *slot, old[i].to);
	}
	free(old);
	pt->merges++;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t t = a % b;

		a = b;
		b = t;
	}
	return a;
}

void node_set_stride(struct pointsto *pt, uint32_t node, uint32_t stride)
{
	struct node *n = &pt->nodes.data[node];
	uint32_t s = gcd(n->stride, stride);

	if (n->collapsed || s == n->stride)
		return;
	n->stride = s;
	if (s == 1)
		n->collapsed = true;
	refold(pt, node);
}

void node_collapse(struct pointsto *pt, uint32_t node)
{
	struct node *n = &pt->nodes.data[node];

	if (n->collapsed)
		return;
	n->collapsed = true;
	refold(pt, node);
}

static void widen_copied(struct pointsto *pt, struct node *n, int32_t from, int32_t to)
{
	if (n->copied_end != n->copied && from >= n->copied && to <= n->copied_end)
		return;
	if (n->copied_end == n->copied) {
		n->copied = from;
		n->copied_end = to;
	} else {
		n->copied = MIN(n->copied, from);
		n->copied_end = MAX(n->copied_end, to);
	}
	pt->merges++;
}

void node_note_copied(struct pointsto *pt, struct cell c, int32_t size)
{
	struct node *n;

	c = pointsto_find(pt, c);
	n = &pt->nodes.data[c.node];
	if (n->collapsed || n->stride || size < 0 || size >= COPIED_ALL)
		widen_copied(pt, n, -COPIED_ALL, COPIED_ALL);
	else
		widen_copied(pt, n, MAX(c.off, -COPIED_ALL), MIN(c.off + size, COPIED_ALL));
}

static void merge_nodes(struct pointsto *pt, struct cell a, struct cell b)
{
	struct node *na = &pt->nodes.data[a.node], *nb = &pt->nodes.data[b.node];
	bool refolded;

	if (na->links.len > nb->links.len || a.node == pt->outside) {
		struct cell c = a;
		struct node *n = na;

		a = b;
		b = c;
		na = nb;
		nb = n;
	}
	refolded = (na->collapsed && !nb->collapsed) || gcd(na->stride, nb->stride) != nb->stride;
	na->up = b.node;
	na->shift = b.off - a.off;
	nb->collapsed |= na->collapsed;
	nb->stride = gcd(na->stride, nb->stride);
	nb->flags |= na->flags;
	if (!nb->home || (nb->flags & NODE_GLOBAL && na->home && LLVMIsAGlobalVariable(na->home)))
		nb->home = na->home ? na->home : nb->home;
	if (na->copied_end != na->copied) {
		struct cell copied = { b.node, na->copied + na->shift };

		node_note_copied(pt, copied,
				 na->copied == -COPIED_ALL ? -1 : na->copied_end - na->copied);
	}
	node_add_functions(pt, b.node, na->fns);
	free(na->fns);
	na->fns = NULL;
	if (refolded)
		refold(pt, b.node);
	for (size_t i = 0; i < na->links.len; i++) {
		int32_t off = fold(nb, na->links.data[i].off + na->shift);
		struct cell *slot = link_slot(nb, off);

		if (!slot->node)
			*slot = na->links.data[i].to;
		else
			later(pt, *slot, na->links.data[i].to);
	}
	vec_deinit(&na->links);
	pt->merges++;
	if (nb->links.len > MAX_LINKS)
		node_collapse(pt, b.node);
}

void node_unify(struct pointsto *pt, struct cell a, struct cell b)
{
	later(pt, a, b);
	while (pt->pending.len) {
		struct edge e = vec_pop(&pt->pending);

		if (!e.from.node || !e.to.node)
			continue;
		a = pointsto_find(pt, e.from);
		b = pointsto_find(pt, e.to);
		if (a.node != b.node)
			merge_nodes(pt, a, b);
		else if (a.off != b.off)
			node_set_stride(pt, a.node, (uint32_t)abs(a.off - b.off));
	}
}

/* What the memory at c points to. */
struct cell node_link(struct pointsto *pt, struct cell c)
{
	struct cell *slot;

	if (!c.node)
		return NOWHERE;
	c = pointsto_find(pt, c);
	slot = link_slot(&pt->nodes.data[c.node], c.off);
	if (!slot->node) {
		struct cell fresh = node_new(pt, 0, NULL);

		/* new_node may have moved the nodes */
		slot = link_slot(&pt->nodes.data[c.node], c.off);
		*slot = fresh;
		if (pt->nodes.data[c.node].links.len > MAX_LINKS)
			node_collapse(pt, c.node);
		return fresh;
	}
	return *slot;
}

struct cell node_find_link(struct pointsto *pt, struct cell c)
{
	const struct node *n;

	c = pointsto_find(pt, c);
	n = &pt->nodes.data[c.node];
	for (size_t i = 0; i < n->links.len; i++)
		if (n->links.data[i].off == c.off)
			return n->links.data[i].to;
	return NOWHERE;
}

void node_add_edge(struct pointsto *pt, struct cell from, struct cell to)
{
	uint64_t key;

	if (!from.node || !to.node)
		return;
	from = pointsto_find(pt, from);
	to = pointsto_find(pt, to);
	if (from.node == to.node) {
		node_unify(pt, from, to);
		return;
	}
	key = hash_u64(((uint64_t)from.node << 32 | to.node) ^
		       hash_u64((uint64_t)(uint32_t)from.off << 32 | (uint32_t)to.off));
	if (map_find(&pt->edge_seen, key))
		return;
	map_put(&pt->edge_seen, key, 1);
	vec_push(&pt->edges, (struct edge){ from, to });
	pt->merges++;
}

/* An edge is looked at again when the node it flows from has changed since. */
void pointsto_flow(struct pointsto *pt, enum pointsto_direction direction,
		   bool (*flow)(struct pointsto *pt, struct cell a, struct cell b, void *context),
		   void *context)
{
	bool along = direction == POINTSTO_ALONG, changed = true;
	size_t n = pt->edges.len;
	uint32_t *changes = xcalloc(pt->nodes.len, sizeof(*changes)); /* per node */
	uint32_t *seen = xcalloc(n + 1, sizeof(*seen));		      /* per edge, one more */

	while (changed) {
		changed = false;
		for (size_t i = 0; i < n; i++) {
			size_t k = along ? i : n - 1 - i;
			struct cell a = pointsto_find(pt, pt->edges.data[k].from);
			struct cell b = pointsto_find(pt, pt->edges.data[k].to);
			uint32_t from = along ? a.node : b.node, to = along ? b.node : a.node;

			if (a.node == b.node || seen[k] > changes[from])
				continue;
			seen[k] = changes[from] + 1;
			if (flow(pt, a, b, context)) {
				changes[to]++;
				changed = true;
			}
		}
	}
	free(changes);
	free(seen);
}

struct cell node_outside(struct pointsto *pt)
{
	return (struct cell){ pt->outside, 0 };
}

struct cell node_library(struct pointsto *pt)
{
	struct cell c = node_new(pt, NODE_OUTSIDE | NODE_ESCAPES, NULL);

	pt->nodes.data[c.node].collapsed = true;
	node_point_to_itself(pt, c.node);
	return c;
}

void node_add_function(struct pointsto *pt, uint32_t node, LLVMValueRef f)
{
	struct node *n = &pt->nodes.data[node];
	uint64_t id = map_get_or(&pt->function_ids, (uint64_t)(uintptr_t)f, 0);

	if (!n->fns)
		n->fns = xcalloc(fn_words(pt), sizeof(uint64_t));
	n->fns[id / 64] |= 1ull << (id % 64);
}

/* One more function, after those of the module. */
void node_add_unknown(struct pointsto *pt, uint32_t node)
{
	struct node *n = &pt->nodes.data[node];

	if (!n->fns)
		n->fns = xcalloc(fn_words(pt), sizeof(uint64_t));
	n->fns[pt->functions.len / 64] |= 1ull << (pt->functions.len % 64);
}

bool pointsto_calls_unknown(struct pointsto *pt, struct cell c)
{
	const uint64_t *fns = pt->nodes.data[pointsto_find(pt, c).node].fns;

	return fns && fns[pt->functions.len / 64] >> (pt->functions.len % 64) & 1;
}

void node_point_to_itself(struct pointsto *pt, uint32_t node)
{
	*link_slot(&pt->nodes.data[node], 0) = (struct cell){ node, 0 };
}
