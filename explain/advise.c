/* explain/advise.c - candidates on trial.
 *
 * Each passing schedule suggests remedies (cure.c). A short trial, long enough for the failure to
 * show without a remedy, weeds out what does not help; what survives it is tried over as many
 * schedules as the user asked for. The first remedy that stands this test is the advice, and the
 * passing schedule it came from is the one to compare with: an inversion may pass by luck (a lost
 * update that hides another error), but then nothing that it suggests cures the program. Blocks of
 * all of them come before orders: an order that holds everybody up cures many things. */
#define LOG_DOMAIN "explain"
#include "explain/advise.h"

#include "base/err.h"
#include "base/log.h"
#include "explain/present.h"

#include <string.h>

enum { ENOUGH_FAILURES = 8, SHORTEST_TRIAL = 30 };
#define SECONDS_SHORT 4.0
#define SECONDS_FULL  10.0
#define SECONDS_ALL   25.0

struct trials {
	const struct advise_request *r;
	struct cure_rate rate; /* without a remedy */
	double end;	       /* no new trial after this */
	VEC(struct plait_constraint) failed;
	struct advice *best;
};

/* Another passing schedule may suggest what has been tried. */
static bool known_to_fail(const struct trials *t, const struct cure *c)
{
	for (size_t i = 0; i < t->failed.len; i++)
		if (memcmp(&t->failed.data[i], &c->constraints[0], sizeof(c->constraints[0])) == 0)
			return true;
	return false;
}

static double failing_share(const struct cure_trial *t)
{
	return t->runs ? (double)t->failed / (double)t->runs : 1;
}

/* Is it the advice? */
static struct err *try_one(struct trials *t, const struct cure *c, size_t alternate, bool *ret)
{
	const struct advise_request *r = t->r;
	struct cure_trial trial;
	struct err *err = cure_try(r->runner, c, MAX(t->rate.runs, SHORTEST_TRIAL), r->seed,
				   SECONDS_SHORT, true, &trial);

	if (!err && !trial.failed && !trial.dropped)
		err = cure_try(r->runner, c, r->runs, r->seed + 1, SECONDS_FULL, false, &trial);
	if (err)
		return err;
	log_debug(1, "alternate %zu: kind %d, steps %u to %u%s: %llu of %llu fail%s", alternate,
		  c->kind, c->from, c->to, c->to_in_passing ? " of the passing run" : "",
		  (unsigned long long)trial.failed, (unsigned long long)trial.runs,
		  trial.dropped ? ", dropped" : "");
	*ret = !trial.failed && !trial.dropped;
	if (!*ret)
		vec_push(&t->failed, c->constraints[0]);
	/* a trial broken off at its first failure says little about the share */
	if (*ret || (!trial.dropped && trial.runs >= r->runs &&
		     (!t->best->tested || failing_share(&trial) < failing_share(&t->best->after))))
		*t->best = (struct advice){ .found = true,
					    .alternate = alternate,
					    .cure = *c,
					    .tested = true,
					    .after = trial };
	return NULL;
}

/* orders: try those; else the blocks. */
static struct err *try_alternate(struct trials *t, size_t at, bool orders, bool *done)
{
	const struct advise_request *r = t->r;
	const struct alternate *alternate = &r->alternates->data[at];
	struct projection projection;
	struct cures cures;
	struct err *err = NULL;

	projection_make(r->failing, &alternate->passing, r->failed, &projection);
	cures_find(r->failing, alternate, &projection, r->deadlocked, &cures);
	for (size_t i = 0; i < cures.len && !err; i++)
		err = present_widen(r->trace, &cures.data[i]);
	if (!err && cures.len && !t->best->found)
		*t->best = (struct advice){ .found = true, .cure = cures.data[0], .alternate = at };
	/* what never fails without a remedy cannot tell a good one from a bad one */
	for (size_t i = 0; i < cures.len && !err && !*done && t->rate.failed; i++)
		if ((cures.data[i].kind == BUG_ORDER) == orders &&
		    !known_to_fail(t, &cures.data[i]) && clock_seconds() < t->end)
			err = try_one(t, &cures.data[i], at, done);
	vec_deinit(&cures);
	projection_deinit(&projection);
	return err;
}

struct err *advise(const struct advise_request *r, struct advice *ret)
{
	static const struct alternate none;
	struct alternates nothing = { .data = { none }, .len = 1 };
	struct advise_request request = *r;
	struct trials t = { .r = &request, .best = ret };
	bool done = false;
	struct err *err = NULL;

	*ret = (struct advice){ 0 };
	if (!r->alternates->len)
		request.alternates = &nothing; /* a deadlock speaks for itself */
	if (r->runs)
		err = cure_rate(r->runner, ENOUGH_FAILURES, r->runs, r->seed, SECONDS_SHORT,
				&t.rate);
	t.end = clock_seconds() + SECONDS_ALL;
	for (int orders = 0; orders < 2; orders++)
		for (size_t i = 0; i < request.alternates->len && !err && !done; i++)
			err = try_alternate(&t, i, orders, &done);
	if (!err && ret->tested)
		err = cure_rate(r->runner, UINT64_MAX, r->runs, r->seed + 1, SECONDS_FULL,
				&ret->before);
	vec_deinit(&t.failed);
	return err;
}
