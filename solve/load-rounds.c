#include "solve/load-rounds.h"

#include "base/map.h"

#include <string.h>

/* Changes nothing that anybody could notice. */
static bool is_idle(const struct sym_step *s)
{
	return s->kind == SYM_STEP_BRANCH || (s->kind == SYM_STEP_READ && !s->known && !s->part);
}

static uint64_t part_hash(const struct load_rounds *r)
{
	uint64_t h = 1;

	for (size_t i = r->part; i < r->held.len; i++) {
		const struct sym_step *s = &r->held.data[i];
		uint64_t what = s->kind == SYM_STEP_BRANCH ? s->n : s->address;

		h = hash_u64(h ^ hash_u64((uint64_t)s->kind << 32 | s->site) ^ hash_u64(what) * 3);
	}
	return h;
}

static void hand_on(struct load_rounds *r, size_t n, rounds_fn *fn, void *arg)
{
	for (size_t i = 0; i < n; i++)
		fn(arg, &r->held.data[i]);
	memmove(r->held.data, r->held.data + n, (r->held.len - n) * sizeof(*r->held.data));
	r->held.len -= n;
	r->part = r->part > n ? r->part - n : 0;
}

void rounds_flush(struct load_rounds *r, rounds_fn *fn, void *arg)
{
	hand_on(r, r->held.len, fn, arg);
	r->part = 0;
	r->period = r->matched = 0;
	r->repeated = 0;
	memset(r->past, 0, sizeof(r->past));
}

static void remember(struct load_rounds *r, uint64_t hash)
{
	memmove(r->past + 1, r->past, (ROUND_PARTS - 1) * sizeof(*r->past));
	r->past[0] = hash;
}

/* How many parts ago was this one? 0: not lately. */
static uint32_t find_period(const struct load_rounds *r, uint64_t hash)
{
	for (uint32_t i = 0; i < ROUND_PARTS; i++)
		if (r->past[i] == hash)
			return i + 1;
	return 0;
}

/* A part is complete, all before it being handed on but for the round that may be a repetition. */
static void end_part(struct load_rounds *r, rounds_fn *fn, void *arg)
{
	uint64_t hash = part_hash(r);

	if (r->period && r->past[r->period - 1] != hash) { /* it leaves the loop */
		hand_on(r, r->part, fn, arg);
		r->period = r->matched = 0;
		r->repeated = 0;
	}
	if (!r->period)
		r->period = find_period(r, hash);
	remember(r, hash);
	r->matched = r->period ? r->matched + 1 : 0;
	if (r->period && r->matched < r->period) { /* in the middle of a round */
		r->part = r->held.len;
		return;
	}
	if (r->period && ++r->repeated > ROUNDS_KEPT) {
		r->held.len = 0;
		r->dropped++;
	} else {
		hand_on(r, r->held.len, fn, arg);
	}
	r->matched = 0;
	r->part = r->held.len;
}

void rounds_step(struct load_rounds *r, const struct sym_step *s, rounds_fn *fn, void *arg)
{
	struct sym_step copy = *s;

	if (!is_idle(s)) {
		rounds_flush(r, fn, arg);
		fn(arg, s);
		return;
	}
	copy.where = copy.text = NULL;
	vec_push(&r->held, copy);
	if (s->kind == SYM_STEP_BRANCH)
		end_part(r, fn, arg);
}

void rounds_deinit(struct load_rounds *r)
{
	vec_deinit(&r->held);
}
