/* cc/instrument/atomics.c - see atomics.h.
 *
 * A load becomes a place (places.c): one instruction, over which a run in mode sync writes a jump. Any other
 * atomic stays as it is, with a place in front of it and one behind: ten bytes of nothing until then. A plain access
 * on a racing line is treated as an atomic one: nothing else is needed to have it in the recorded order. */
#include "cc/instrument/atomics.h"

#include "cc/analyse/names.h"
#include "cc/instrument/full.h"
#include "cc/instrument/hooks.h"
#include "cc/instrument/places.h"
#include "cc/program.h"

#include <stdio.h>
#include <string.h>

static bool is_atomic(LLVMValueRef i)
{
	unsigned opcode = LLVMGetInstructionOpcode(i);

	return opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg ||
	       ((opcode == LLVMLoad || opcode == LLVMStore) &&
		LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic);
}

/* A plain load or store of one register's bytes, on a line of the list of racing ones? */
static bool is_listed(struct program *p, LLVMValueRef f, LLVMValueRef in)
{
	bool load = LLVMIsALoadInst(in) != NULL;
	struct plait_site site = { 0 };
	LLVMValueRef ptr;

	if (!p->racing.len || !(load || LLVMIsAStoreInst(in)))
		return false;
	ptr = LLVMGetOperand(in, load ? 0 : 1);
	if (!scalar_size(LLVMTypeOf(load ? in : LLVMGetOperand(in, 0))) ||
	    LLVMGetPointerAddressSpace(LLVMTypeOf(ptr)) != 0)
		return false;
	names_locate(p, f, in, &site);
	return racing_find(&p->racing, p->strings.text[site.file], site.line);
}

void atomics_collect(struct program *p)
{
	names_intern(&p->strings, "");
	for (size_t i = 0; i < p->fns.len; i++)
		for_each_block(b, p->fns.data[i].f) for_each_instruction(in, b)
		{
			if (is_atomic(in) || is_listed(p, p->fns.data[i].f, in))
				vec_push(&p->atomics, ((struct atomic){ .at = in }));
		}
}

/* Does full announce it by itself? */
static bool has_hook(const struct plan *plan)
{
	switch (plan->action) {
	case ACT_LOAD:
	case ACT_STORE:
	case ACT_CAS:
		return plan->instrumented;
	case ACT_RMW:
		return plan->instrumented && full_has_rmw(plan->at);
	default:
		return false;
	}
}

void atomics_decide(struct program *p)
{
	struct map plans = { 0 };

	for (size_t i = 0; i < p->plans.len; i++)
		if (has_hook(&p->plans.data[i]))
			map_put(&plans, (uint64_t)(uintptr_t)p->plans.data[i].at, i);
	for (size_t i = 0; i < p->atomics.len; i++) {
		struct atomic *a = &p->atomics.data[i];
		uint64_t *plan = map_find(&plans, (uint64_t)(uintptr_t)a->at);

		a->hooked = plan != NULL;
		if (plan)
			p->plans.data[*plan].racing = !is_atomic(a->at);
	}
	map_deinit(&plans);
}

void atomics_look_for_racing(struct program *p, const char *list)
{
	const struct racing_line *missing = NULL;
	size_t found = 0;

	for (size_t i = 0; i < p->plans.len; i++) {
		const struct plait_site *s = &p->sites.data[p->plans.data[i].site - 1];
		struct racing_line *line =
			p->plans.data[i].instrumented && s->flags & PLAIT_SITE_POINT
				? racing_find(&p->racing, p->strings.text[s->file], s->line)
				: NULL;

		if (line)
			line->found = true;
	}
	for (size_t i = 0; i < p->racing.len; i++) {
		found += p->racing.data[i].found;
		if (!missing && !p->racing.data[i].found)
			missing = &p->racing.data[i];
	}
	if (missing)
		fprintf(stderr,
			"unplait: %s: %zu of %zu lines have no access that threads may share in "
			"this "
			"program (%s:%u is the first)\n",
			list, p->racing.len - found, p->racing.len, missing->file, missing->line);
}

/* A load through a general register. */
static bool is_one_move(struct hooks *h, LLVMValueRef at)
{
	unsigned n;

	if (!LLVMIsALoadInst(at) ||
	    LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(at, 0))) != 0)
		return false;
	n = hooks_bytes(h, LLVMTypeOf(at));
	return n == 1 || n == 2 || n == 4 || n == 8;
}

static void make_load(struct hooks *h, LLVMValueRef at)
{
	LLVMValueRef v =
		place_sync_load(h->b, LLVMGetOperand(at, 0), hooks_bytes(h, LLVMTypeOf(at)));

	hooks_replace(at, hooks_from_int(h, v, LLVMTypeOf(at)));
}

static void make_places(struct hooks *h, LLVMValueRef at)
{
	place_sync_enter(h->b, LLVMGetOperand(at, LLVMIsAStoreInst(at) ? 1 : 0));
	LLVMPositionBuilderBefore(h->b, LLVMGetNextInstruction(at));
	place_sync_leave(h->b);
}

void atomics_make_places(struct program *p)
{
	struct hooks h = { .p = p, .b = LLVMCreateBuilderInContext(p->context) };

	for (size_t i = 0; i < p->atomics.len; i++) {
		LLVMValueRef at = p->atomics.data[i].at;

		if (!p->atomics.data[i].hooked)
			continue;
		hooks_stand_before(&h, at);
		if (is_one_move(&h, at))
			make_load(&h, at);
		else
			make_places(&h, at);
	}
	hooks_deinit(&h);
}
