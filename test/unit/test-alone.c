/* Accesses that no other thread can disturb (explain/find/alone.c), against a look at all pairs. */
#include "explain/find/alone.h"

#include "base/mem.h"
#include "base/vec.h"
#include "unplait/abi.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { THREADS = 5, STEPS = 60, WORDS = 6, ROUNDS = 400 };

static uint32_t draw(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % n;
}

/* Threads are created one after another, by any that is there; each step is done by any that is. */
static void make_run(uint32_t seed, struct steps *s, struct birth *births)
{
	uint32_t there = 1;

	s->nthreads = THREADS;
	for (uint32_t clock = 0; clock < STEPS; clock++) {
		uint32_t thread = draw(&seed, there);

		if (there < THREADS && draw(&seed, 8) == 0) {
			births[there++] = (struct birth){ .parent = thread, .clock = clock + 1 };
			continue;
		}
		vec_push(s, (struct step){ .thread = thread,
					   .kind = draw(&seed, 3) ? PLAIT_EV_READ : PLAIT_EV_WRITE,
					   .clock = clock,
					   .address = 0x1000 + 4 * draw(&seed, 2 * WORDS),
					   .size = draw(&seed, 2) ? 4 : 8 });
	}
}

/* Does the creation of a thread put a before b? By walking b's ancestors. */
static bool is_before(const struct birth *births, const struct step *a, const struct step *b)
{
	for (uint32_t t = b->thread; births[t].clock; t = births[t].parent)
		if (births[t].parent == a->thread)
			return a->clock < births[t].clock - 1;
	return false;
}

/* Threads meet in whole words. */
static bool overlap(const struct step *a, const struct step *b)
{
	return a->address / 8 <= (b->address + b->size - 1) / 8 &&
	       b->address / 8 <= (a->address + a->size - 1) / 8;
}

static bool alone_by_pairs(const struct steps *s, const struct birth *births, size_t i)
{
	const struct step *a = &s->data[i];

	for (size_t k = 0; k < s->len; k++) {
		const struct step *b = &s->data[k];

		if (a->thread != b->thread && (step_writes(a) || step_writes(b)) && overlap(a, b) &&
		    !is_before(births, a, b) && !is_before(births, b, a))
			return false;
	}
	return true;
}

Test(alone, agrees_with_a_look_at_all_pairs)
{
	size_t nalone = 0, n = 0;

	for (uint32_t seed = 1; seed <= ROUNDS; seed++) {
		struct birth births[THREADS] = { 0 };
		struct steps s = { 0 };

		make_run(seed, &s, births);
		steps_mark_alone(&s, births);
		for (size_t i = 0; i < s.len; i++) {
			cr_assert_eq(s.data[i].alone, alone_by_pairs(&s, births, i),
				     "seed %u, step %zu", seed, i);
			nalone += s.data[i].alone;
		}
		n += s.len;
		steps_deinit(&s);
	}
	cr_assert(nalone > n / 100 && nalone < n - n / 100, "%zu of %zu are alone", nalone, n);
}

Test(alone, a_value_set_before_the_threads_is_nobodys_business)
{
	/* 0 writes config (0x10) and data (0x20), creates 1, writes data; 1 reads both */
	struct step steps[] = {
		{ .thread = 0, .kind = PLAIT_EV_WRITE, .clock = 0, .address = 0x10, .size = 4 },
		{ .thread = 0, .kind = PLAIT_EV_WRITE, .clock = 1, .address = 0x20, .size = 4 },
		{ .thread = 1, .kind = PLAIT_EV_READ, .clock = 3, .address = 0x10, .size = 4 },
		{ .thread = 0, .kind = PLAIT_EV_WRITE, .clock = 4, .address = 0x20, .size = 4 },
		{ .thread = 1, .kind = PLAIT_EV_READ, .clock = 5, .address = 0x20, .size = 4 },
	};
	struct birth births[] = { { .clock = 0 }, { .clock = 3 } };
	struct steps s = {
		.data = steps, .len = ARRAY_SIZE(steps), .cap = ARRAY_SIZE(steps), .nthreads = 2
	};
	static const bool want[] = { true, true, true, false, false };

	steps_mark_alone(&s, births);
	for (size_t i = 0; i < s.len; i++)
		cr_expect_eq(steps[i].alone, want[i], "step %zu", i);
}
