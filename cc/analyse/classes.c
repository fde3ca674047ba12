/* cc/analyse/classes.c - nodes connected by edges, whichever way, form one class.
 *
 * Coarser than elements (elements.c): a function that gets pointers to two kinds of objects makes
 * one class of them even if it looks at neither. In return every cell has a class, also one that no
 * access mentions, and a class has all bytes of its objects. */
#include "cc/analyse/classes.h"

#include <stdlib.h>
#include <string.h>

static struct cell find(struct classes *s, struct cell c)
{
	assert(c.node < s->up.len);
	while (s->up.data[c.node].node != c.node) {
		struct cell u = s->up.data[c.node], uu = s->up.data[u.node];

		if (uu.node != u.node) { /* path halving */
			u = (struct cell){ uu.node, u.off + uu.off };
			s->up.data[c.node] = u;
		}
		c.off += u.off;
		c.node = u.node;
	}
	if (s->collapsed.data[c.node])
		c.off = 0;
	return c;
}

static void join(struct classes *s, struct cell a, struct cell b)
{
	a = find(s, a);
	b = find(s, b);
	if (a.node == b.node) {
		if (a.off != b.off)
			s->collapsed.data[a.node] = 1;
		return;
	}
	/* b's offset 0 is at a.off - b.off in a */
	s->up.data[b.node] = (struct cell){ a.node, a.off - b.off };
	s->collapsed.data[a.node] |= s->collapsed.data[b.node];
}

void classes_init(struct classes *s, struct pointsto *pt)
{
	memset(s, 0, sizeof(*s));
	s->pt = pt;
	for (size_t i = 0; i < pt->nodes.len; i++) {
		const struct node *n = &pt->nodes.data[i];

		vec_push(&s->up, (struct cell){ (uint32_t)i, 0 });
		vec_push(&s->collapsed, (uint8_t)(n->collapsed && !n->up));
	}
	for (size_t i = 0; i < pt->edges.len; i++) {
		struct cell a = pointsto_find(pt, pt->edges.data[i].from);
		struct cell b = pointsto_find(pt, pt->edges.data[i].to);

		join(s, a, b);
	}
	/* arrays: offsets only mean something modulo the stride, unless the whole class has it */
	for (size_t i = 1; i < pt->nodes.len; i++) {
		const struct node *n = &pt->nodes.data[i];
		struct cell c = find(s, (struct cell){ (uint32_t)i, 0 });

		if (!n->up && n->stride && pt->nodes.data[c.node].stride != n->stride)
			s->collapsed.data[c.node] = 1;
	}
}

void classes_deinit(struct classes *s)
{
	vec_deinit(&s->up);
	vec_deinit(&s->collapsed);
}

/* Asking for the cell of a value that nobody has used as an address before makes a new node; it is
 * in a class of its own. */
static void catch_up(struct classes *s)
{
	while (s->up.len < s->pt->nodes.len) {
		vec_push(&s->up, (struct cell){ (uint32_t)s->up.len, 0 });
		vec_push(&s->collapsed, (uint8_t)0);
	}
}

struct cell classes_find(struct classes *s, struct cell c)
{
	uint32_t stride;

	catch_up(s);
	c = find(s, pointsto_find(s->pt, c));
	stride = s->pt->nodes.data[c.node].stride;
	if (stride && !s->collapsed.data[c.node])
		c.off = (c.off % (int32_t)stride + (int32_t)stride) % (int32_t)stride;
	return c;
}
