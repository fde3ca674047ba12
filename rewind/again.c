/* rewind/again.c - see again.h.
 *
 * malloc() returns a block, and somebody reads in it through a pointer. That pointer is followed back through the memory it was
 * kept in. If it lay there before the call that returned the block, it is of the block's former life: the reader used
 * freed memory, and what it found there is what the new owner wrote, rightly. */
#include "rewind/again.h"

#include "debug/heap.h"
#include "rewind/trail.h"

/* A moment in the best suffix: deeper is older. */
struct when {
	uint32_t depth, order;
};

static bool is_older(struct when a, struct when b)
{
	return a.depth > b.depth || (a.depth == b.depth && a.order < b.order);
}

/* When a link's instruction read or wrote its memory; the failing instruction is the newest. */
static struct when when_of(const struct link *l)
{
	const struct step *s = &l->node->step;
	struct when w = { l->node->depth, 0 };

	for (uint32_t i = 0; l->node->parent && i < s->naccesses; i++)
		if (s->accesses[i].insn == l->insn)
			w.order = s->accesses[i].order;
	return w;
}

static bool gives_out(const struct effect *e)
{
	return e && (e->kind == EFFECT_ALLOCATES || e->kind == EFFECT_ZEROES ||
		     e->kind == EFFECT_DOUBLES || e->kind == EFFECT_MAKES);
}

static bool gives_back(const struct effect *e)
{
	return e && (e->kind == EFFECT_FREES || e->kind == EFFECT_RESIZES);
}

/* The last call before `upto` that handed the block out, and the last one before that which freed it. */
static bool find_calls(struct rewind *r, uint64_t start, struct when upto, struct again *ret,
		       struct when *given)
{
	uint64_t at, freed = 0;

	*ret = (struct again){ 0 };
	for (const struct node *n = r->best; n && n->parent; n = n->parent)
		for (uint32_t i = 0; i < n->step.naccesses; i++) {
			const struct access *a = &n->step.accesses[i];
			const struct effect *e = a->w ? NULL : step_effect(&n->step, a->insn);
			struct when now = { n->depth, a->order };

			if (!e || !is_older(now, upto) ||
			    !past_value(&r->h, r->best->past, a->address, &at) || at != start)
				continue;
			if (gives_back(e) && !a->is_write) {
				freed = a->insn;
			} else if (gives_out(e)) {
				*ret = (struct again){ .given = a->insn, .freed = freed };
				*given = now;
				freed = 0;
			}
		}
	return ret->given != 0;
}

/* Behind the instruction of the link, which is the next to look at going back. False: the best suffix does not have it. */
static bool go_to(struct trail *t, const struct link *l)
{
	const struct step *s = &l->node->step;
	uint32_t order = when_of(l).order;

	t->at = (struct cursor){ .node = l->node };
	for (uint32_t i = 0; l->node->parent && i < s->npieces; order -= s->pieces[i++].n)
		if (order < s->pieces[i].n) {
			t->at.piece = i;
			t->at.insn = order;
			return true;
		}
	return !l->node->parent;
}

/* The register of the instruction that pointed into the block when it ran. */
static bool find_pointer(struct trail *t, const struct link *l, const struct heap_chunk *block)
{
	const char *why;
	const struct function *f = code_function(t->r->code, l->insn, &why);
	const struct insn *in = f ? function_insn(f, l->insn) : NULL;
	const struct past *p =
		l->node->parent ? step_inside(t->h, t->best, &l->node->step, when_of(l).order)
				: t->r->start;
	uint64_t v;

	for (unsigned i = 0; in && i < in->nops; i++) {
		const struct lift_op *op = &insn_ops(f, in)[i];

		if (op->kind == LIFT_GET && op->imm < 16 && op->imm != LIFT_RSP &&
		    past_value(t->h, p, p->registers[op->imm], &v) &&
		    v - block->start < block->size) {
			t->place = (struct place){ .reg = (unsigned)op->imm };
			return true;
		}
	}
	return false;
}

/* Along the chain from `first` on: did the pointer lie in memory before that moment? */
static bool lay_before(const struct cause *c, size_t first, struct when given)
{
	for (size_t i = first; i < c->chain.len; i++) {
		const struct link *l = &c->chain.data[i];

		if (l->searched)
			return false;
		if (i > first && l->has_address && !l->function &&
		    (l->kind == LINK_BEFORE ||
		     (l->kind == LINK_WRITTEN && is_older(when_of(l), given))))
			return true;
	}
	return false;
}

bool again_find(struct rewind *r, const struct link *read, const struct link *written,
		struct again *ret)
{
	struct trail t = { .r = r, .h = &r->h, .best = r->best->past };
	size_t len = r->cause.chain.len;
	struct link from = *read; /* the chain may move */
	struct heap_chunk block;
	struct when given;
	bool found;

	if (!heap_chunk_at(&r->dump, read->address, &block) ||
	    !find_calls(r, block.start, when_of(written), ret, &given) || !go_to(&t, &from) ||
	    !find_pointer(&t, &from, &block))
		return false;
	trail_walk(&t);
	found = !t.lost && lay_before(&r->cause, len, given);
	r->cause.chain.len = len;
	return found;
}
