/* rewind/objects.c - see objects.h.
 *
 * A row of writes: one instruction that writes at a, a + n, a + 2n and so on, one after the other in time. If the first
 * ones lie in an object and the last one behind its end, the row left it. A list whose nodes are written one after the
 * other makes no row, because its nodes do not lie at equal distances by more than chance, and three are asked for.
 * Backwards a loop can always have run once more, so a row whose beginning is not in the suffix says nothing: it may be
 * longer than it was. */
#include "rewind/objects.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "debug/heap.h"
#include "rewind/moment.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_STRIDE = 256, SHORTEST_ROW = 3 };

/* ---- moments and names ---- */

const struct past *link_moment(struct rewind *r, const struct link *l)
{
	const struct step *s = &l->node->step;

	if (!l->node->parent || !r->best)
		return r->start;
	for (uint32_t i = 0; i < s->naccesses; i++)
		if (s->accesses[i].insn == l->insn)
			return step_inside(&r->h, r->best->past, s, s->accesses[i].order);
	return NULL;
}

/* The local variable around an address, in any frame of the moment. */
static bool local_at(struct rewind *r, const struct past *when, uint64_t address,
		     struct object *ret, struct strbuf *name)
{
	struct moment *m = xmalloc(sizeof(*m));
	bool found = false;

	moment_init(m, r, when);
	for (size_t i = 0; i < m->n && !found; i++) {
		struct source_frames frames = { 0 };
		const struct source_frame *f;

		found = scope_local_at(&m->scopes[i], address, &ret->base, &ret->size, name);
		if (!found)
			continue;
		dump_names_frames(&r->names, m->frames[i].pc - (i > 0), &frames);
		f = frames.len ? &frames.data[frames.len - 1] : NULL;
		if (f && f->function)
			strbuf_addf(name, " of %s", f->function);
		vec_deinit(&frames);
	}
	free(m);
	return found;
}

bool object_at(struct rewind *r, const struct past *when, uint64_t address, struct object *ret)
{
	struct strbuf name = { 0 };
	struct heap_chunk chunk;
	bool found;

	if (dump_names_global(&r->names, address, &ret->base, &ret->size))
		return true;
	if (heap_chunk_at(&r->dump, address, &chunk)) {
		*ret = (struct object){ chunk.start, chunk.size };
		return chunk.state != HEAP_TOP;
	}
	found = when && local_at(r, when, address, ret, &name);
	strbuf_deinit(&name);
	return found;
}

void object_add_name(struct rewind *r, const struct past *when, uint64_t address,
		     struct strbuf *out)
{
	struct strbuf name = { 0 };
	struct heap_chunk chunk;
	struct object o;

	if (!when || dump_names_global(&r->names, address, &o.base, &o.size) ||
	    heap_chunk_at(&r->dump, address, &chunk) || !local_at(r, when, address, &o, &name))
		dump_names_add_object(&r->names, address, out);
	else
		strbuf_adds(out, strbuf_str(&name));
	strbuf_deinit(&name);
}

/* ---- rows of writes ---- */

struct row_write {
	uint64_t address;
	const struct node *node;
	uint32_t order; /* of its instruction in the node's step */
};
struct row VEC_FIELDS(struct row_write);

/* Where the link's instruction wrote, in the order of time, up to the link itself. */
static void find_row(struct rewind *r, const struct link *l, struct row *ret)
{
	for (const struct node *n = r->best; n && n->parent; n = n->parent) {
		for (uint32_t i = 0; i < n->step.naccesses; i++) {
			const struct access *a = &n->step.accesses[i];
			uint64_t at;

			if (!a->is_write || !a->w || a->insn != l->insn ||
			    !past_value(&r->h, r->best->past, a->address, &at))
				continue;
			vec_push(ret, ((struct row_write){ at, n, a->order }));
			if (n == l->node && at == l->address)
				return;
		}
		if (n == l->node)
			break;
	}
	vec_clear(ret);
}

struct turns {
	struct map inside; /* instructions that ran between two writes of the row */
	bool other;	   /* something else ran before the first one */
};

/* Instructions from one place of the suffix to another: noted as those of a turn, or compared with them. from NULL: from its
 * beginning on. */
static void look_between(const struct node *best, const struct row_write *from,
			 const struct row_write *to, struct turns *c)
{
	bool on = !from;

	for (const struct node *n = best; n && n->parent; n = n->parent) {
		uint32_t order = 0;

		for (uint32_t i = 0; i < n->step.npieces; i++) {
			const struct piece *p = &n->step.pieces[i];

			for (uint32_t k = 0; k < p->n; k++, order++) {
				uint64_t insn = p->function->insns.data[p->first + k].address;

				on |= from && n == from->node && order == from->order;
				if (n == to->node && order == to->order)
					return;
				if (on && from)
					map_put(&c->inside, insn, 1);
				else if (on && !map_find(&c->inside, insn))
					c->other = true;
			}
		}
	}
}

/* Does the suffix contain what ran before the row's first turn? */
static bool row_begins(const struct node *best, const struct row *row)
{
	struct turns c = { 0 };

	look_between(best, &row->data[0], &row->data[row->len - 1], &c);
	look_between(best, NULL, &row->data[0], &c);
	map_deinit(&c.inside);
	return c.other;
}

static bool is_behind(const struct object *o, uint64_t address)
{
	return address - o->base >= o->size && address > o->base;
}

static bool has_prefix(struct rewind *r, const struct past *when, uint64_t address,
		       const char *text)
{
	struct strbuf name = { 0 };
	bool has;

	object_add_name(r, when, address, &name);
	has = strncmp(strbuf_str(&name), text, strlen(text)) == 0;
	strbuf_deinit(&name);
	return has;
}

/* Did a row that began in an array member come to another member? A row over all of a record begins at its first
 * member, so that one says nothing. */
static bool is_behind_member(struct rewind *r, const struct past *when, uint64_t first, uint64_t at)
{
	struct strbuf from = { 0 };
	char *dot, *bracket;
	bool other = false;

	object_add_name(r, when, first, &from);
	bracket = strrchr(strbuf_str(&from), '[');
	dot = strrchr(strbuf_str(&from), '.');
	if (dot && bracket > dot) {
		bracket[1] = '\0';
		other = !has_prefix(r, when, at, from.data);
		dot[1] = '\0';
		other &= has_prefix(r, when, first - 1, from.data);
	}
	strbuf_deinit(&from);
	return other;
}

/* Only its last part counts, in which each write follows the one before it at the same distance. */
static bool row_left(struct rewind *r, const struct past *when, const struct row *row,
		     uint64_t *from)
{
	size_t last = row->len - 1, first = last;
	uint64_t stride = row->data[last].address - row->data[last - 1].address;
	struct object o;

	if (stride - 1 >= LONGEST_STRIDE)
		return false;
	while (first > 0 && row->data[first - 1].address + stride == row->data[first].address)
		first--;
	for (size_t i = first; i + SHORTEST_ROW <= row->len; i++)
		if (object_at(r, when, row->data[i].address, &o)) {
			*from = row->data[i].address;
			return (is_behind(&o, row->data[last].address) ||
				is_behind_member(r, when, *from, row->data[last].address)) &&
			       row_begins(r->best, row);
		}
	return false;
}

bool object_left(struct rewind *r, const struct link *l, uint64_t *from)
{
	const struct past *when = link_moment(r, l);
	struct row row = { 0 };
	struct object o;
	bool left = false;

	if (l->from) {
		*from = l->from;
		return object_at(r, when, l->from, &o) && is_behind(&o, l->address);
	}
	find_row(r, l, &row);
	if (row.len >= SHORTEST_ROW)
		left = row_left(r, when, &row, from);
	vec_deinit(&row);
	return left;
}

/* ---- freed blocks ---- */

/* Is there a call at this instruction that gives blocks back? */
static bool frees_at(const struct step *s, uint64_t insn)
{
	const struct effect *e = step_effect(s, insn);

	return e && (e->kind == EFFECT_FREES || e->kind == EFFECT_RESIZES);
}

/* The argument of this call, whose value is not known, was read from a place where the dump has the block's address: the pointer
 * was freed and stayed. */
static bool was_read_there(struct rewind *r, const struct step *s, const struct access *freed,
			   uint64_t start)
{
	expr_id block = past_simplify(&r->h, r->best->past, freed->address);
	uint64_t at, there;

	for (uint32_t i = 0; i < s->naccesses; i++) {
		const struct access *a = &s->accesses[i];

		if (!a->is_write && a->w == 64 && a->order <= freed->order &&
		    past_simplify(&r->h, r->best->past, a->value) == block &&
		    past_value(&r->h, r->best->past, a->address, &at) &&
		    dump_read(&r->dump, at, &there, 8) && there == start)
			return true;
	}
	return false;
}

uint64_t object_freed_at(struct rewind *r, uint64_t start, const struct link *l)
{
	uint64_t found = 0, at;
	bool known;

	for (const struct node *n = r->best; n && n->parent; n = n->parent) {
		for (uint32_t i = 0; i < n->step.naccesses; i++) {
			const struct access *a = &n->step.accesses[i];

			if (n == l->node && a->insn == l->insn && a->w)
				return found;
			if (a->w || a->is_write || !frees_at(&n->step, a->insn))
				continue;
			known = past_value(&r->h, r->best->past, a->address, &at);
			if (known ? at == start
				  : r->h.skim.block && was_read_there(r, &n->step, a, start))
				found = a->insn;
			else if (!known && r->h.skim.block) /* it may have been this block */
				found = 0;
		}
		if (n == l->node)
			break;
	}
	return found;
}
