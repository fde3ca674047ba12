/* Rounds of busy waits: what is handed on, against a list of what must be. */
#include "solve/load-rounds.h"

#include <criterion/criterion.h>

struct seen {
	VEC(uint32_t) sites;
};

static void see(void *arg, const struct sym_step *s)
{
	struct seen *seen = arg;

	vec_push(&seen->sites, s->site);
}

static struct sym_step at(enum sym_step_kind kind, uint32_t site, uint64_t what)
{
	return (struct sym_step){ .kind = kind, .site = site, .address = what, .n = what };
}

static void feed(struct load_rounds *r, struct seen *seen, const char *text)
{
	for (; *text; text++) {
		/* small letters read, capital ones decide, digits write */
		enum sym_step_kind kind = *text >= 'a'	 ? SYM_STEP_READ
					  : *text >= 'A' ? SYM_STEP_BRANCH
							 : SYM_STEP_WRITE;
		struct sym_step s = at(kind, (uint32_t)*text, 1);

		rounds_step(r, &s, see, seen);
	}
}

static void must_be(const struct seen *seen, size_t from, const char *text)
{
	cr_assert_eq(seen->sites.len, from + strlen(text));
	for (size_t i = 0; text[i]; i++)
		cr_assert_eq(seen->sites.data[from + i], (uint32_t)text[i]);
}

/* One part per round, two parts per round: all but the first rounds go, and what follows stays. */
Test(load_rounds, dropped)
{
	static const char *const round[] = { "aA", "aAbB", "abAcBaC" };

	for (size_t i = 0; i < ARRAY_SIZE(round); i++) {
		struct load_rounds r = { 0 };
		struct seen seen = { 0 };
		size_t len;

		for (int n = 0; n < 1000; n++)
			feed(&r, &seen, round[i]);
		len = seen.sites.len;
		cr_assert(len <= (ROUNDS_KEPT + 2) * strlen(round[i]));
		cr_assert(r.dropped > 900);
		for (size_t k = 0; k < len; k++)
			cr_assert_eq(seen.sites.data[k], (uint32_t)round[i][k % strlen(round[i])]);
		feed(&r, &seen, "aX1yY");
		rounds_flush(&r, see, &seen);
		must_be(&seen, len, "aX1yY");
		rounds_deinit(&r);
		vec_deinit(&seen.sites);
	}
}

/* A round that was begun and not ended stays; a write in the round keeps every one. */
Test(load_rounds, kept)
{
	struct load_rounds r = { 0 };
	struct seen seen = { 0 };
	size_t len;

	for (int n = 0; n < 100; n++)
		feed(&r, &seen, "aAbB");
	len = seen.sites.len;
	feed(&r, &seen, "aAb");
	rounds_flush(&r, see, &seen);
	must_be(&seen, len, "aAb");
	for (int n = 0; n < 100; n++)
		feed(&r, &seen, "aA1");
	rounds_flush(&r, see, &seen);
	cr_assert_eq(seen.sites.len, len + 3 + 300);
	rounds_deinit(&r);
	vec_deinit(&seen.sites);
}
