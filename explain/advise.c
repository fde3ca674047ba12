/* explain/advise.c - candidates on trial.
 *
 * Each passing schedule suggests remedies (cure.c); the cheapest of them all is tried first. A
 * short trial, long enough for the failure to show without a remedy, weeds out what does not help;
 * what survives it is tried over as many schedules as the user asked for. The first remedy under
 * which nothing fails is the advice, else the one under which the failure is rarest (a program can
 * have several bugs), and the passing schedule it came from is the one to compare with:
 * an inversion may pass by luck (a lost update that hides another error), but then nothing that it
 * suggests cures the program. Blocks of all of them come before orders: an order that holds
 * everybody up cures many things. */
#define LOG_DOMAIN "explain"
#include "explain/advise.h"

#include "base/err.h"
#include "base/log.h"
#include "explain/present.h"

#include <string.h>

enum { ENOUGH_FAILURES = 12, SHORTEST_TRIAL = 40, SPARED = 10, NEARLY_ALL = 20 };
#define SECONDS_SHORT 4.0
#define SECONDS_FULL  10.0
#define SECONDS_ALL   15.0

struct tried {
	struct plait_constraint constraints[2];
};

struct trials {
	const struct advise_request *r;
	struct cure_trial rate; /* without a remedy, a short trial */
	struct cure_trial full; /* ... a long one; runs 0: not yet */
	double end;		/* no new trial after this */
	VEC(struct tried) failed;
	struct advice *best;
};

/* Another passing schedule may suggest what has been tried. */
static bool known_to_fail(const struct trials *t, const struct cure *c)
{
	for (size_t i = 0; i < t->failed.len; i++)
		if (memcmp(t->failed.data[i].constraints, c->constraints,
			   sizeof(t->failed.data[i].constraints)) == 0)
			return true;
	return false;
}

static double share(uint64_t part, const struct cure_trial *t)
{
	return t->runs ? (double)part / (double)t->runs : 0;
}

/* Much rarer with it; and other failures are other bugs' business unless it brings them about (a
 * remedy that only moves the crash). */
static bool helps(const struct cure_trial *with, const struct cure_trial *without)
{
	double other = share(without->other, without) * 1.25 * (double)with->runs;

	return !with->dropped && share(with->failed, with) * 2 <= share(without->failed, without) &&
	       (double)with->other <= other + 2;
}

/* A short trial: worth a long one? */
static struct err *weed_out(struct trials *t, const struct cure *c, bool *ret)
{
	struct trial_limits limits = { MAX(t->rate.runs, SHORTEST_TRIAL), UINT64_MAX, SECONDS_SHORT,
				       t->r->seed };
	struct cure_trial trial;
	struct err *err;

	limits.failures = 1 + (uint64_t)(share(t->rate.failed + t->rate.other, &t->rate) *
					 (double)limits.runs / SPARED);
	err = cure_try(t->r->runner, c, &limits, &trial);
	*ret = !err && trial.failed + trial.other < limits.failures && !trial.dropped;
	return err;
}

/* With several bugs of one symptom nothing cures all; what is left may be theirs. */
static bool nearly_all_gone(const struct trials *t)
{
	const struct cure_trial *after = &t->best->after;

	return t->best->tested &&
	       share(after->failed, after) * NEARLY_ALL <= share(t->full.failed, &t->full) &&
	       share(after->other, after) <= share(t->full.other, &t->full);
}

static void take(struct trials *t, const struct cure *c, size_t alternate,
		 const struct cure_trial *trial)
{
	bool perfect = !trial->failed && !trial->other;

	/* cheaper ones came first: among good ones only a perfect one is better */
	if (t->best->tested &&
	    (share(trial->failed, trial) >= share(t->best->after.failed, &t->best->after) ||
	     (nearly_all_gone(t) && !perfect)))
		return;
	*t->best = (struct advice){
		.found = true, .alternate = alternate, .cure = *c, .tested = true, .after = *trial
	};
}

/* Is it the advice? */
static struct err *try_one(struct trials *t, const struct cure *c, size_t alternate, bool *ret)
{
	const struct advise_request *r = t->r;
	struct trial_limits limits = { r->runs, UINT64_MAX, SECONDS_FULL, r->seed + 1 };
	struct cure_trial trial = { 0 };
	bool promising = false;
	struct err *err = weed_out(t, c, &promising);

	if (!err && promising && !t->full.runs)
		err = cure_try(r->runner, NULL, &limits, &t->full);
	if (!err && promising)
		err = cure_try(r->runner, c, &limits, &trial);
	if (err)
		return err;
	log_debug(1,
		  "alternate %zu: kind %d, steps %u to %u%s%s: %llu of %llu fail, %llu otherwise%s",
		  alternate, c->kind, c->from, c->to, c->to_in_passing ? " of the passing run" : "",
		  c->other_from != STEP_NONE ? ", both sides" : "",
		  (unsigned long long)trial.failed, (unsigned long long)trial.runs,
		  (unsigned long long)trial.other, trial.dropped ? ", dropped" : "");
	*ret = promising && !trial.failed && !trial.other && !trial.dropped;
	if (!*ret)
		vec_push(&t->failed, ((struct tried){ { c->constraints[0], c->constraints[1] } }));
	if (promising && helps(&trial, &t->full))
		take(t, c, alternate, &trial);
	return NULL;
}

struct candidate {
	struct cure cure;
	size_t alternate;
	size_t number; /* as found: decides between equals */
};
struct candidates VEC_FIELDS(struct candidate);

static struct err *gather(const struct advise_request *r, size_t at, struct candidates *ret)
{
	const struct alternate *alternate = &r->alternates->data[at];
	struct projection projection;
	struct cures cures;
	struct err *err = NULL;

	projection_make(r->failing, &alternate->passing, r->failed, &projection);
	cures_find(r->failing, alternate, &projection, r->deadlocked, &cures);
	for (size_t i = 0; i < cures.len && !err; i++) {
		err = present_widen(r->trace, &cures.data[i]);
		vec_push(ret, ((struct candidate){ cures.data[i], at, ret->len }));
	}
	vec_deinit(&cures);
	projection_deinit(&projection);
	return err;
}

static int cheapest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->cure.cost != y->cure.cost)
		return x->cure.cost < y->cure.cost ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static struct err *try_all(struct trials *t, const struct candidates *all)
{
	struct err *err = NULL;
	bool done = false;

	if (all->len)
		*t->best = (struct advice){ .found = true,
					    .cure = all->data[0].cure,
					    .alternate = all->data[0].alternate };
	/* what never fails without a remedy cannot tell a good one from a bad one */
	for (size_t i = 0; i < all->len && !err && !done && t->rate.failed + t->rate.other; i++)
		if (!(all->data[i].cure.kind == BUG_ORDER && nearly_all_gone(t)) &&
		    !known_to_fail(t, &all->data[i].cure) && clock_seconds() < t->end)
			err = try_one(t, &all->data[i].cure, all->data[i].alternate, &done);
	return err;
}

struct err *advise(const struct advise_request *r, struct advice *ret)
{
	static const struct alternate none;
	struct alternates nothing = { .data = { none }, .len = 1 };
	struct advise_request request = *r;
	struct trials t = { .r = &request, .best = ret };
	struct trial_limits rate = { r->runs, ENOUGH_FAILURES, SECONDS_SHORT, r->seed };
	struct candidates all = { 0 };
	struct err *err = NULL;

	*ret = (struct advice){ 0 };
	if (!r->alternates->len)
		request.alternates = &nothing; /* a deadlock speaks for itself */
	if (r->runs)
		err = cure_try(r->runner, NULL, &rate, &t.rate);
	t.end = clock_seconds() + SECONDS_ALL;
	for (size_t i = 0; i < request.alternates->len && !err; i++)
		err = gather(&request, i, &all);
	vec_sort(&all, cheapest_first);
	if (!err)
		err = try_all(&t, &all);
	ret->before = ret->tested ? t.full : t.rate;
	ret->rejected = (unsigned)t.failed.len;
	vec_deinit(&t.failed);
	vec_deinit(&all);
	return err;
}
