#include "cc/analyse/elements.h"

#include <stdlib.h>
#include <string.h>

static struct cell find(struct elements *e, struct cell c)
{
	assert(c.node < e->up.len);
	while (e->up.data[c.node].node != c.node) {
		struct cell u = e->up.data[c.node], uu = e->up.data[u.node];

		if (uu.node != u.node) { /* path halving */
			u = (struct cell){ uu.node, u.off + uu.off };
			e->up.data[c.node] = u;
		}
		c.off += u.off;
		c.node = u.node;
	}
	if (e->collapsed.data[c.node])
		c.off = 0;
	return c;
}

static void join(struct elements *e, struct cell a, struct cell b)
{
	a = find(e, a);
	b = find(e, b);
	if (a.node == b.node) {
		if (a.off != b.off)
			e->collapsed.data[a.node] = 1;
		return;
	}
	/* b's offset 0 is at a.off - b.off in a */
	e->up.data[b.node] = (struct cell){ a.node, a.off - b.off };
	e->collapsed.data[a.node] |= e->collapsed.data[b.node];
}

void elements_init(struct elements *e, struct pointsto *pt)
{
	memset(e, 0, sizeof(*e));
	e->pt = pt;
	for (size_t i = 0; i < pt->nodes.len; i++) {
		const struct node *n = &pt->nodes.data[i];

		vec_push(&e->up, (struct cell){ (uint32_t)i, 0 });
		vec_push(&e->collapsed, (uint8_t)(n->collapsed && !n->up));
	}
	for (size_t i = 0; i < pt->edges.len; i++) {
		struct cell a = pointsto_find(pt, pt->edges.data[i].from);
		struct cell b = pointsto_find(pt, pt->edges.data[i].to);

		join(e, a, b);
	}
	/* arrays: offsets only mean something modulo the stride, unless the whole class has it */
	for (size_t i = 1; i < pt->nodes.len; i++) {
		const struct node *n = &pt->nodes.data[i];
		struct cell c = find(e, (struct cell){ (uint32_t)i, 0 });

		if (!n->up && n->stride && pt->nodes.data[c.node].stride != n->stride)
			e->collapsed.data[c.node] = 1;
	}
}

void elements_deinit(struct elements *e)
{
	vec_deinit(&e->up);
	vec_deinit(&e->collapsed);
	vec_deinit(&e->parts);
}

/* Asking for the cell of a value that nobody has used as an address before makes a new node; it is
 * in a class of its own. */
static void catch_up(struct elements *e)
{
	while (e->up.len < e->pt->nodes.len) {
		vec_push(&e->up, (struct cell){ (uint32_t)e->up.len, 0 });
		vec_push(&e->collapsed, (uint8_t)0);
	}
}

struct cell elements_class(struct elements *e, struct cell c)
{
	uint32_t stride;

	catch_up(e);
	c = find(e, pointsto_find(e->pt, c));
	stride = e->pt->nodes.data[c.node].stride;
	if (stride && !e->collapsed.data[c.node])
		c.off = (c.off % (int32_t)stride + (int32_t)stride) % (int32_t)stride;
	return c;
}

void elements_add(struct elements *e, LLVMValueRef ptr, uint64_t size)
{
	struct cell c = pointsto_cell(e->pt, ptr);
	struct part *p;

	c = elements_class(e, c);
	if (size)
		size += pointsto_spread(e->pt, ptr);
	p = vec_add(&e->parts);
	p->class = c.node;
	p->off = c.off;
	p->end = c.off + (size && size < 1 << 20 ? (int32_t)size : 1);
}

static int compare(const void *x, const void *y)
{
	const struct part *a = x, *b = y;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	return (a->off > b->off) - (a->off < b->off);
}

uint32_t elements_number(struct elements *e)
{
	size_t n = 0;

	vec_sort(&e->parts, compare);
	for (size_t i = 0; i < e->parts.len; i++) {
		struct part *p = &e->parts.data[i];
		struct part *last = n ? &e->parts.data[n - 1] : NULL;

		if (last && last->class == p->class &&
		    (p->off < last->end || e->collapsed.data[p->class])) {
			last->end = MAX(last->end, p->end);
		} else {
			e->parts.data[n] = *p;
			e->parts.data[n].id = (uint32_t)n;
			n++;
		}
	}
	e->parts.len = n;
	return (uint32_t)n;
}

uint32_t elements_find(struct elements *e, LLVMValueRef ptr)
{
	struct cell c = elements_class(e, pointsto_cell(e->pt, ptr));
	size_t lo = 0, hi = e->parts.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct part *p = &e->parts.data[mid];

		if (p->class < c.node || (p->class == c.node && p->end <= c.off))
			lo = mid + 1;
		else
			hi = mid;
	}
	assert(lo < e->parts.len && e->parts.data[lo].class == c.node);
	return e->parts.data[lo].id;
}
