/* cc/analyse/elements.c - accesses that may touch the same bytes of the same object are one element.
 *
 * Each access is a part of its node: some bytes of the objects that its pointer may see. What is done
 * through a node is done to the objects of every node that flows into it, so parts flow against the
 * points-to edges, and a part and what it becomes there belong together. At last, parts of one node
 * that overlap belong together.
 *
 * So a function that gets pointers to two kinds of objects joins those bytes of them that it accesses,
 * and nothing else: a wrapper of free joins nothing, a lock's owner field joins locks.
 *
 * A copy of unknown length, and an access of expanded code whose index varies (cc/expand), count for
 * the place where they begin: where they end is not known, and to take the whole object would make
 * one element of every struct that has a string in it. */
#include "cc/analyse/elements.h"

#include "cc/analyse/intervals.h"

#include <stdlib.h>
#include <string.h>

static uint32_t find(struct elements *e, uint32_t label)
{
	while (e->up.data[label] != label) {
		e->up.data[label] = e->up.data[e->up.data[label]]; /* path halving */
		label = e->up.data[label];
	}
	return label;
}

/* The lower label stands for the set: numbers do not depend on the order of joining. */
static void join(struct elements *e, uint32_t a, uint32_t b)
{
	a = find(e, a);
	b = find(e, b);
	e->up.data[a > b ? a : b] = a > b ? b : a;
}

static struct parts *parts_of(struct elements *e, uint32_t node)
{
	while (e->nodes.len <= node)
		vec_add(&e->nodes);
	return &e->nodes.data[node];
}

/* The label of these bytes; a new part, if there is none like it. */
static uint32_t part_label(struct elements *e, uint32_t node, int32_t off, int32_t size,
			   bool *is_new)
{
	struct parts *parts = parts_of(e, node);
	uint32_t label = (uint32_t)e->up.len;

	interval_widen(pointsto_node(e->pt, node), parts->len, &off, &size);
	for (size_t i = 0; i < parts->len; i++)
		if (parts->data[i].off == off && parts->data[i].size == size)
			return parts->data[i].label;
	vec_push(parts, (struct part){ off, size, label });
	vec_push(&e->up, label);
	*is_new = true;
	return label;
}

void elements_init(struct elements *e, struct pointsto *pt)
{
	memset(e, 0, sizeof(*e));
	e->pt = pt;
}

void elements_deinit(struct elements *e)
{
	for (size_t i = 0; i < e->nodes.len; i++)
		vec_deinit(&e->nodes.data[i]);
	vec_deinit(&e->nodes);
	vec_deinit(&e->up);
	vec_deinit(&e->numbers);
}

void elements_add(struct elements *e, LLVMValueRef ptr, uint64_t size)
{
	struct cell c = pointsto_find(e->pt, pointsto_cell(e->pt, ptr));
	bool is_new;

	size = MAX(size, 1) + pointsto_spread(e->pt, ptr);
	part_label(e, c.node, c.off, (int32_t)MIN(size, EVERYTHING), &is_new);
}

/* a's objects are seen through b. */
static bool flow_parts(struct pointsto *pt, struct cell a, struct cell b, void *context)
{
	struct elements *e = context;
	bool is_new = false;

	for (size_t i = 0; i < parts_of(e, b.node)->len; i++) {
		struct part p = parts_of(e, b.node)->data[i];

		interval_shift(pointsto_node(pt, b.node), pointsto_node(pt, a.node), a.off - b.off,
			       &p.off, &p.size);
		join(e, p.label, part_label(e, a.node, p.off, p.size, &is_new));
	}
	return is_new;
}

static int compare(const void *x, const void *y)
{
	const struct part *a = x, *b = y;

	return (a->off > b->off) - (a->off < b->off);
}

static void join_overlapping(struct elements *e, struct parts *parts)
{
	int64_t end = INT64_MIN;

	vec_sort(parts, compare);
	for (size_t i = 0; i < parts->len; i++) {
		struct part *p = &parts->data[i];

		if (i && p->off < end)
			join(e, p[-1].label, p->label);
		end = MAX(end, (int64_t)p->off + p->size);
	}
}

uint32_t elements_number(struct elements *e)
{
	uint32_t n = 0;

	pointsto_flow(e->pt, POINTSTO_AGAINST, flow_parts, e);
	for (size_t i = 0; i < e->nodes.len; i++)
		join_overlapping(e, &e->nodes.data[i]);
	for (uint32_t i = 0; i < e->up.len; i++)
		vec_push(&e->numbers, find(e, i) == i ? n++ : 0);
	return n;
}

/* Parts that hold the first byte overlap: each of them names the element. */
uint32_t elements_find(struct elements *e, LLVMValueRef ptr)
{
	struct cell c = pointsto_find(e->pt, pointsto_cell(e->pt, ptr));
	const struct parts *parts = parts_of(e, c.node);
	size_t i = 0;

	while (i < parts->len &&
	       (c.off < parts->data[i].off || c.off - parts->data[i].off >= parts->data[i].size))
		i++;
	assert(i < parts->len);
	return e->numbers.data[find(e, parts->data[i].label)];
}
