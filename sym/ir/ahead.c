/* sym/ir/ahead.c - see ahead.h.
 *
 * Sets flow backwards: what can come from an operation is the operation itself, what its callee can do, and what can
 * come from its successors. Functions are looked at again when what their callees can do has grown. */
#include "sym/ir/ahead.h"

#include "base/mem.h"
#include "base/vec.h"
#include "sym/ir/ir.h"

#include <stdlib.h>
#include <string.h>

enum { SUCCESSORS = 64 };

static uint64_t *set_at(const struct ahead *a, uint32_t function, uint32_t pc)
{
	return a->sets[function] + (size_t)pc * a->words;
}

static bool merge(uint64_t *to, const uint64_t *from, uint32_t words)
{
	uint64_t grown = 0;

	for (uint32_t i = 0; i < words; i++) {
		grown |= from[i] & ~to[i];
		to[i] |= from[i];
	}
	return grown != 0;
}

static void make_sets(struct ahead *a, const struct function *f)
{
	if (!a->sets[f->index])
		a->sets[f->index] = xcalloc(((size_t)f->nops + 1) * a->words, sizeof(uint64_t));
}

/* True when what can come from the beginning of f has grown. */
static bool look_at(struct ahead *a, const struct ir *ir, const struct function *f)
{
	uint32_t next[SUCCESSORS];
	bool grown = true, ever = false;

	while (grown) {
		grown = false;
		for (uint32_t pc = f->nops; pc-- > 0;) {
			const struct op *o = &f->ops[pc];
			uint32_t n = op_successors(ir, f, pc, next, SUCCESSORS);
			bool here = false;

			if (o->code == OP_CALL && a->sets[o->b])
				here = merge(set_at(a, f->index, pc), set_at(a, (uint32_t)o->b, 0),
					     a->words);
			for (uint32_t i = 0; i < n; i++)
				here |= merge(set_at(a, f->index, pc), set_at(a, f->index, next[i]),
					      a->words);
			grown |= here;
			ever |= here && pc == 0;
		}
	}
	return ever;
}

static bool calls(const struct function *f, uint32_t callee)
{
	for (uint32_t pc = 0; pc < f->nops; pc++)
		if (f->ops[pc].code == OP_CALL && (uint32_t)f->ops[pc].b == callee)
			return true;
	return false;
}

/* Can an operation come after itself? Then so can it from one of its successors. */
static bool comes_again(const struct ahead *a, const struct ir *ir, const struct reach_place *p,
			size_t number)
{
	const struct function *f = ir->functions.data[p->function];
	uint32_t next[SUCCESSORS], n = op_successors(ir, f, p->pc, next, SUCCESSORS);

	for (uint32_t i = 0; i < n; i++)
		if (set_at(a, p->function, next[i])[number / 64] >> number % 64 & 1)
			return true;
	return false;
}

void ahead_init(struct ahead *a, const struct reach *r, const struct reach_place *places, size_t n)
{
	const struct ir *ir = r->ir;
	VEC(uint32_t) queue = { 0 };
	bool *queued = xcalloc(r->ncosts + 1, sizeof(*queued)); /* again, or for the first time */
	size_t own; /* functions with places of their own: they may begin with one */

	*a = (struct ahead){ .sets = xcalloc(r->ncosts + 1, sizeof(uint64_t *)),
			     .nfunctions = r->ncosts,
			     .words = (uint32_t)(n + 63) / 64 };
	for (size_t i = 0; i < n; i++) {
		const struct function *f = ir->functions.data[places[i].function];

		if (!a->sets[f->index])
			vec_push(&queue, f->index);
		queued[f->index] = true;
		make_sets(a, f);
		set_at(a, f->index, places[i].pc)[i / 64] |= 1ull << i % 64;
	}
	own = queue.len;
	for (size_t i = 0; i < queue.len; i++) {
		uint32_t f = queue.data[i];

		queued[f] = false;
		if (!look_at(a, ir, ir->functions.data[f]) && i >= own)
			continue;
		for (uint32_t c = 0; c < r->ncosts; c++)
			if (!queued[c] && ir->functions.data[c]->lowered &&
			    calls(ir->functions.data[c], f)) {
				make_sets(a, ir->functions.data[c]);
				vec_push(&queue, c);
				queued[c] = true;
			}
	}
	for (size_t i = 0; i < n && !a->loops; i++)
		a->loops = comes_again(a, ir, &places[i], i);
	vec_deinit(&queue);
	free(queued);
}

void ahead_deinit(struct ahead *a)
{
	for (uint32_t i = 0; i < a->nfunctions; i++)
		free(a->sets[i]);
	free(a->sets);
	*a = (struct ahead){ 0 };
}

uint32_t ahead_count(const struct ahead *a, const struct reach_frame *frames, uint32_t n)
{
	uint32_t count = 0;

	for (uint32_t w = 0; w < a->words; w++) {
		uint64_t all = 0;

		for (uint32_t i = 0; i < n; i++)
			if (frames[i].function < a->nfunctions && a->sets[frames[i].function])
				all |= set_at(a, frames[i].function, frames[i].pc)[w];
		count += (uint32_t)__builtin_popcountll(all);
	}
	return count;
}
