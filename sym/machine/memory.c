/* sym/machine/memory.c - the persistent tree of objects.
 *
 * A tree of nodes with 32 children, as high as the largest number needs. A node with one reference
 * below nodes with one reference belongs to this memory alone and is changed in place; any other
 * is copied first. Dropping the last reference to a node drops its children. Leaves that become
 * empty are given back, so that a long run that calls and returns does not grow. */
#include "sym/machine/memory.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct node {
	uint32_t refs;
	uint32_t used;	       /* children that are there */
	uint64_t hash[2];      /* the children's, added up; both 0 = not known */
	void *child[NODE_FAN]; /* nodes, or objects on the lowest level */
};

static void object_unref(struct object *o)
{
	if (!o || --o->refs)
		return;
	free(o->sym);
	free(o);
}

static void node_unref(struct node *n, uint32_t height)
{
	if (!n || --n->refs)
		return;
	for (uint32_t i = 0; i < NODE_FAN && n->used; i++) {
		if (!n->child[i])
			continue;
		n->used--;
		if (height == 1)
			object_unref(n->child[i]);
		else
			node_unref(n->child[i], height - 1);
	}
	free(n);
}

static struct node *node_new(void)
{
	struct node *n = xcalloc(1, sizeof(*n));

	n->refs = 1;
	return n;
}

/* The node itself if it is ours, else a copy that is. */
static struct node *node_own(struct node *n, uint32_t height)
{
	struct node *c;

	if (n->refs == 1) {
		n->hash[0] = n->hash[1] = 0;
		return n;
	}
	c = xmemdup(n, sizeof(*n));
	c->refs = 1;
	c->hash[0] = c->hash[1] = 0;
	for (uint32_t i = 0; i < NODE_FAN; i++) {
		if (!c->child[i])
			continue;
		if (height == 1)
			((struct object *)c->child[i])->refs++;
		else
			((struct node *)c->child[i])->refs++;
	}
	n->refs--;
	return c;
}

void memory_init(struct memory *m)
{
	*m = (struct memory){ .root = node_new(), .height = 1, .next_id = 1 };
}

void memory_deinit(struct memory *m)
{
	node_unref(m->root, m->height);
	m->root = NULL;
}

void memory_copy(struct memory *to, const struct memory *from)
{
	*to = *from;
	to->root->refs++;
}

static uint32_t slot_of(uint32_t id, uint32_t level)
{
	return id >> ((level - 1) * NODE_BITS) & (NODE_FAN - 1);
}

struct object *memory_find(const struct memory *m, uint32_t id)
{
	void *n = m->root;

	if (m->height < 7 && id >> (m->height * NODE_BITS))
		return NULL;
	for (uint32_t level = m->height; level > 0 && n; level--)
		n = ((struct node *)n)->child[slot_of(id, level)];
	return n;
}

/* The slot of `id`, every node above it owned; makes missing nodes. */
static void **own_slot(struct memory *m, uint32_t id, struct node **leaf)
{
	struct node *n;

	while (id >> (m->height * NODE_BITS)) {
		struct node *top = node_new();

		top->child[0] = m->root;
		top->used = 1;
		m->root = top;
		m->height++;
	}
	n = m->root = node_own(m->root, m->height);
	for (uint32_t level = m->height; level > 1; level--) {
		void **slot = &n->child[slot_of(id, level)];

		if (!*slot) {
			*slot = node_new();
			n->used++;
		} else {
			*slot = node_own(*slot, level - 1);
		}
		n = *slot;
	}
	*leaf = n;
	return &n->child[slot_of(id, 1)];
}

struct object *memory_new(struct memory *m, enum object_kind kind, uint32_t size)
{
	return memory_new_at(m, m->next_id++, kind, size);
}

struct object *memory_new_at(struct memory *m, uint32_t id, enum object_kind kind, uint32_t size)
{
	struct object *o = xcalloc(1, sizeof(*o) + size);
	struct node *leaf;
	void **slot;

	o->refs = 1;
	o->id = id;
	o->size = size;
	o->kind = (uint8_t)kind;
	o->function = UINT32_MAX;
	slot = own_slot(m, o->id, &leaf);
	assert(!*slot);
	*slot = o;
	leaf->used++;
	return o;
}

struct object *memory_own(struct memory *m, uint32_t id)
{
	struct node *leaf;
	void **slot = own_slot(m, id, &leaf);
	struct object *o = *slot, *c;

	assert(o && !o->freed);
	if (o->refs == 1) {
		o->hash[0] = o->hash[1] = 0;
		return o;
	}
	c = xmemdup(o, sizeof(*o) + o->size);
	c->refs = 1;
	c->hash[0] = c->hash[1] = 0;
	if (c->sym)
		c->sym = xmemdup(o->sym, o->size * sizeof(*o->sym));
	o->refs--;
	*slot = c;
	return c;
}

/* Give back the nodes above an empty leaf; the path is owned. */
static void prune(struct memory *m, uint32_t id)
{
	struct node *path[8];
	struct node *n = m->root;

	for (uint32_t level = m->height; level > 1; level--) {
		path[level] = n;
		n = n->child[slot_of(id, level)];
	}
	for (uint32_t level = 2; level <= m->height && !n->used; level++) {
		free(n);
		n = path[level];
		n->child[slot_of(id, level)] = NULL;
		n->used--;
	}
}

void memory_release(struct memory *m, uint32_t id)
{
	struct node *leaf;
	void **slot = own_slot(m, id, &leaf);
	struct object *o = *slot, *mark;

	assert(o);
	if (o->kind != OBJ_HEAP) {
		*slot = NULL;
		leaf->used--;
		object_unref(o);
		if (!leaf->used && m->height > 1)
			prune(m, id);
		return;
	}
	mark = xmemdup(o, sizeof(*o));
	mark->refs = 1;
	mark->sym = NULL;
	mark->freed = true;
	mark->hash[0] = mark->hash[1] = 0;
	*slot = mark;
	object_unref(o);
}

void object_make_symbolic(struct object *o)
{
	if (!o->sym)
		o->sym = xcalloc(o->size ? o->size : 1, sizeof(*o->sym));
}

/* --- hashing: a sum over the objects, so that where they hang in the tree does not matter --- */

static void object_hash(struct object *o)
{
	XXH128_hash_t h = XXH3_128bits_withSeed(o->bytes, o->freed ? 0 : o->size,
						hash_u64(o->id * 4ull + o->freed));

	o->hash[0] = h.low64;
	o->hash[1] = h.high64 | 1;
}

static uint64_t node_hash(struct node *n, uint32_t height)
{
	uint32_t left = n->used;
	uint64_t bytes = 0;

	if (n->hash[0] | n->hash[1])
		return 0;
	for (uint32_t i = 0; left; i++) {
		const uint64_t *h;

		if (!n->child[i])
			continue;
		left--;
		if (height == 1) {
			struct object *o = n->child[i];

			if (!(o->hash[0] | o->hash[1])) {
				object_hash(o);
				bytes += o->size;
			}
			h = o->hash;
		} else {
			bytes += node_hash(n->child[i], height - 1);
			h = ((struct node *)n->child[i])->hash;
		}
		n->hash[0] += h[0];
		n->hash[1] += h[1];
	}
	return bytes;
}

uint64_t memory_hash(struct memory *m, uint64_t ret[2])
{
	uint64_t bytes = node_hash(m->root, m->height);

	ret[0] = m->root->hash[0];
	ret[1] = m->root->hash[1];
	return bytes;
}
