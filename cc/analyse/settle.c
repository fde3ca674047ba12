/* cc/analyse/settle.c - the fixed point of the points-to analysis.
 *
 * Edges, copies, calls through pointers, started threads and callbacks are looked at in turn until
 * none of them merges anything more. */
#include "cc/analyse/settle.h"

#include "base/mem.h"
#include "cc/analyse/bind.h"
#include "cc/analyse/cells.h"
#include "cc/analyse/nodes.h"

#define MAX_ROUNDS 200 /* programs need about ten */

/* Rounds after which a node that still gets new fields is one whose fields wander: a function calls
 * itself, by way of others, with a pointer some bytes further on each time, or an array is moved by some
 * bytes (redis). It would get one more field in every round, until it has too many to be told apart
 * (Catch2: more than 200 rounds). */
#define PATIENCE 16

/* The link at a place where another node's fields come to. */
static struct cell arriving_link(struct pointsto *pt, struct cell field)
{
	if (pt->rounds > PATIENCE && !node_find_link(pt, field).node)
		node_collapse(pt, pointsto_find(pt, field).node);
	return node_link(pt, field);
}

/* Links of a become links of b: where a's could be anywhere, so can b's. */
static void match_offsets(struct pointsto *pt, uint32_t a, uint32_t b, int32_t size)
{
	const struct node *n = &pt->nodes.data[a];

	if (!n->links.len)
		return;
	if (n->collapsed)
		node_collapse(pt, b);
	else if (n->stride && (size < 0 || (uint32_t)size > n->stride))
		node_set_stride(pt, b, n->stride);
}

/* Seen through b, bytes of these objects are copied elsewhere, whether or not anybody looks at them
 * there: the links at a's side are links at b's. */
static void copied_edge(struct pointsto *pt, struct cell a, struct cell b)
{
	int32_t from = pt->nodes.data[b.node].copied, to = pt->nodes.data[b.node].copied_end;
	int32_t delta = b.off - a.off;

	if (from == to)
		return;
	node_note_copied(pt, (struct cell){ a.node, MAX(from - delta, -INT32_MAX / 4) }, to - from);
	match_offsets(pt, a.node, b.node, to - from);
	for (size_t i = 0; i < pt->nodes.data[a.node].links.len; i++) {
		int32_t off = pt->nodes.data[a.node].links.data[i].off;

		if (pt->nodes.data[a.node].stride || pt->nodes.data[a.node].collapsed ||
		    (off + delta >= from && off + delta < to))
			arriving_link(pt, (struct cell){ b.node, off + delta });
		if (pt->nodes.data[a.node].up || pt->nodes.data[b.node].up)
			return;
	}
}

/* Objects of `from` are seen through `to`: what fields `to` uses point to the same things. */
static void settle_edge(struct pointsto *pt, struct edge e)
{
	struct cell a = pointsto_find(pt, e.from), b = pointsto_find(pt, e.to);
	int32_t delta = b.off - a.off;

	if (a.node == b.node) {
		if (delta)
			node_unify(pt, a, b);
		return;
	}
	copied_edge(pt, a, b);
	if (pt->nodes.data[a.node].up || pt->nodes.data[b.node].up)
		return; /* they have changed under us; the next round goes on */
	if (pt->nodes.data[b.node].collapsed && pt->nodes.data[b.node].links.len)
		node_collapse(pt, a.node);
	else if (pt->nodes.data[b.node].stride && pt->nodes.data[b.node].links.len)
		node_set_stride(pt, a.node, pt->nodes.data[b.node].stride);
	for (size_t i = 0; i < pt->nodes.data[b.node].links.len; i++) {
		struct link_field l = pt->nodes.data[b.node].links.data[i];
		struct cell field = { a.node, l.off - delta }, x, y;

		x = pointsto_find(pt, arriving_link(pt, field));
		y = pointsto_find(pt, l.to);
		if (x.node != y.node || x.off != y.off)
			node_unify(pt, x, y);
		if (pt->nodes.data[a.node].up || pt->nodes.data[b.node].up)
			return;
	}
}

static void settle_copy(struct pointsto *pt, const struct copy *c)
{
	struct cell a = pointsto_find(pt, c->from), b = pointsto_find(pt, c->to);

	match_offsets(pt, a.node, b.node, c->size);
	for (size_t i = 0; i < pt->nodes.data[a.node].links.len; i++) {
		struct link_field l = pt->nodes.data[a.node].links.data[i];

		if (c->size >= 0 && !pt->nodes.data[a.node].stride &&
		    !pt->nodes.data[a.node].collapsed &&
		    (l.off < a.off || l.off >= a.off + c->size))
			continue;
		node_add_edge(pt, l.to,
			      arriving_link(pt, (struct cell){ b.node, l.off - a.off + b.off }));
		if (pt->nodes.data[a.node].up || pt->nodes.data[b.node].up)
			return;
	}
}

static void settle_creation(struct pointsto *pt, struct creation *c)
{
	size_t n = node_count_functions(pt, pointsto_find(pt, c->entry).node), at = 0;
	LLVMValueRef f;

	if (c->bound == n)
		return;
	while (pointsto_next_function(pt, c->entry, &at, &f)) {
		if (LLVMIsDeclaration(f))
			continue;
		if (LLVMCountParams(f) > 0)
			node_add_edge(pt, c->arg, pointsto_cell(pt, LLVMGetParam(f, 0)));
		if (cell_carries(LLVMGetReturnType(LLVMGlobalGetValueType(f))))
			node_add_edge(pt, cell_of_return(pt, f), (struct cell){ pt->returned, 0 });
	}
	c->bound = n;
	pt->merges++;
}

static void settle_callback(struct pointsto *pt, struct callback *c)
{
	size_t n = node_count_functions(pt, pointsto_find(pt, c->fn).node), at = 0;
	LLVMValueRef f;

	if (c->bound == n)
		return;
	while (pointsto_next_function(pt, c->fn, &at, &f))
		for (unsigned k = c->first; k < c->last && k < LLVMCountParams(f); k++)
			if (!LLVMIsDeclaration(f))
				node_add_edge(pt, c->arg, pointsto_cell(pt, LLVMGetParam(f, k)));
	c->bound = n;
	pt->merges++;
}

static void settle_indirect(struct pointsto *pt, size_t i)
{
	LLVMValueRef call = pt->indirect.data[i].call, f;
	struct cell c = pointsto_cell(pt, LLVMGetCalledValue(call));
	size_t n = node_count_functions(pt, pointsto_find(pt, c).node), at = 0;

	/* bind all again when there are new ones: edges are only added once */
	if (pt->indirect.data[i].bound == n)
		return;
	while (pointsto_next_function(pt, c, &at, &f)) {
		if (LLVMIsDeclaration(f))
			bind_unseen(pt, call, f);
		else
			bind_function(pt, call, f);
	}
	if (pointsto_calls_unknown(pt, c))
		bind_unseen(pt, call, NULL);
	pt->indirect.data[i].bound = n;
	pt->merges++;
}

/* A function pointer flows along edges: the target of the edge can be called as well. */
static bool flow_functions(struct pointsto *pt, struct cell a, struct cell b, void *context)
{
	(void)context;
	return node_add_functions(pt, b.node, pointsto_node(pt, a.node)->fns);
}

/* Functions that reach unseen code may be called with anything. */
static void settle_outside(struct pointsto *pt, struct map *done)
{
	LLVMValueRef f;
	size_t at = 0;

	while (pointsto_next_function(pt, node_outside(pt), &at, &f)) {
		if (LLVMIsDeclaration(f) || map_find(done, (uint64_t)(uintptr_t)f))
			continue;
		map_put(done, (uint64_t)(uintptr_t)f, 1);
		for (unsigned k = 0; k < LLVMCountParams(f); k++)
			if (cell_carries(LLVMTypeOf(LLVMGetParam(f, k))))
				node_add_edge(pt, node_outside(pt),
					      pointsto_cell(pt, LLVMGetParam(f, k)));
		node_add_edge(pt, cell_of_return(pt, f), node_outside(pt));
	}
}

void settle_all(struct pointsto *pt)
{
	struct map outside_done = { 0 };
	uint64_t before;

	do {
		before = pt->merges;
		for (size_t i = 0; i < pt->edges.len; i++)
			settle_edge(pt, pt->edges.data[i]);
		for (size_t i = pt->edges.len; i-- > 0;)
			settle_edge(pt, pt->edges.data[i]);
		for (size_t i = 0; i < pt->copies.len; i++)
			settle_copy(pt, &pt->copies.data[i]);
		pointsto_flow(pt, POINTSTO_ALONG, flow_functions, NULL);
		settle_outside(pt, &outside_done);
		for (size_t i = 0; i < pt->indirect.len; i++)
			settle_indirect(pt, i);
		for (size_t i = 0; i < pt->creations.len; i++)
			settle_creation(pt, &pt->creations.data[i]);
		for (size_t i = 0; i < pt->callbacks.len; i++)
			settle_callback(pt, &pt->callbacks.data[i]);
		if (pt->scans)
			bind_printed(pt);
	} while (pt->merges != before && ++pt->rounds < MAX_ROUNDS);
	pt->unsettled = pt->merges != before;
	map_deinit(&outside_done);
}
