/* explain/rank/rank.c - which candidate is the cause? See candidate.h.
 *
 * What the failing run shows from its first step to the failure needs no trial. Everything else has
 * to do two things: go with the failure (broken in schedules that fail, kept in those that pass), and
 * cure it when it is enforced, while everything else still happens. Who does only one of them is not
 * told as the cause: a cure that works may only keep the threads apart, and what goes with the
 * failure may be another consequence of the cause. */
#include "explain/rank/candidate.h"

enum { NEARLY_ALL = 20, ENOUGH_SEEN = 12 };
#define UNDESERVED 0.15 /* of the failing schedules: mended, though they did not break it */

static double share(uint64_t part, const struct cure_trial *t)
{
	return t->runs ? (double)part / (double)t->runs : 0;
}

/* Other failures are other bugs' business unless the cure brings them about (it only moves the
 * crash). Runs that no longer end in this failure have a chance to meet the others. */
bool trial_moves_crash(const struct cure_trial *with, const struct cure_trial *without,
		       const struct cure_seen *seen)
{
	bool sure = seen && cure_separation(seen) >= SEPARATION_SURE;
	double runs = (double)with->runs, rest = (double)(without->runs - without->failed);
	double other = rest > 0 ? (double)without->other / rest * runs : runs;
	double saved = share(without->failed, without) * runs - (double)with->failed;
	double pass = share(without->runs - without->failed - without->other, without) * runs;
	double passes = (double)(with->runs - with->failed - with->other);

	/* what tells failing from passing schedules nearly always does not merely move it: another
	 * bug, which is there without it, too, may be met more often now */
	if (sure && without->other && passes > pass)
		return false;
	/* of those that no longer fail this way, half must pass */
	return (double)with->other > other * 1.25 + 2 + MAX(saved, 0) / NEARLY_ALL ||
	       passes - pass < saved / 2 - 2;
}

/* With several bugs of one symptom nothing cures all. What a cure cannot be blamed for are the
 * schedules that fail although they keep to it. */
static bool is_good(const struct evidence *e)
{
	double fails = share(e->before.failed, &e->before), tolerated = fails / NEARLY_ALL;

	if (cure_separation(&e->seen) >= SEPARATION_TELLING)
		tolerated += 1.5 * fails * (double)(e->seen.failing - e->seen.broken_failing) /
			     (double)e->seen.failing;
	return share(e->after.failed, &e->after) <= tolerated;
}

enum trial_result evidence_result(const struct evidence *e)
{
	/* what never fails without it says nothing about it */
	if (!e->after.runs || !e->before.failed)
		return e->removes ? TRIAL_FAILS : TRIAL_NONE;
	if (e->weeded || e->removes || e->after.dropped ||
	    trial_moves_crash(&e->after, &e->before, &e->seen) ||
	    share(e->after.failed, &e->after) * 2 > share(e->before.failed, &e->before))
		return TRIAL_FAILS;
	if (!e->after.failed && !e->after.other)
		return TRIAL_PERFECT;
	if (is_good(e))
		return TRIAL_GOOD;
	/* one face of the failure is rarer, and the program fails nearly as often as before */
	return share(e->after.failed + e->after.other, &e->after) * 2 >
			       share(e->before.failed + e->before.other, &e->before)
		       ? TRIAL_FAILS
		       : TRIAL_HELPS;
}

/* Schedules that fail without breaking it are no business of a cure. If it mends them all the same, it
 * does so by keeping the threads apart, and says nothing about the cause. */
static bool mends_too_much(const struct candidate *c)
{
	const struct evidence *e = &c->evidence;
	double left = share(e->after.failed, &e->after) / share(e->before.failed, &e->before);

	return cure_observable(&c->cure) && e->seen.failing >= ENOUGH_SEEN && e->after.runs &&
	       e->before.failed &&
	       1 - left > (double)e->seen.broken_failing / (double)e->seen.failing + UNDESERVED;
}

/* Was it looked at, and does it hardly tell failing from passing schedules? */
static bool is_weak(const struct candidate *c)
{
	const struct evidence *e = &c->evidence;

	return cure_observable(&c->cure) && e->seen.failing && e->seen.passing &&
	       cure_separation(&e->seen) <
		       (c->kind == BUG_ORDER ? SEPARATION_WEAK_ORDER : SEPARATION_WEAK);
}

enum standing candidate_standing(const struct candidate *c)
{
	enum trial_result result = evidence_result(&c->evidence);

	if (c->evidence.contradicted)
		return STANDING_REJECTED;
	if (c->evidence.shows == SHOWS_ALL)
		return STANDING_SHOWN;
	if (result == TRIAL_FAILS)
		return STANDING_REJECTED;
	if (c->source == CANDIDATE_CURE &&
	    (c->evidence.of_locks || is_weak(c) || mends_too_much(c)))
		return STANDING_WEAK;
	if (result == TRIAL_PERFECT || result == TRIAL_GOOD)
		return STANDING_CURED;
	if (c->evidence.shows == SHOWS_SIGNS)
		return STANDING_SIGNS;
	return result == TRIAL_HELPS ? STANDING_HELPS : STANDING_NEAR;
}

static int order_of(double a, double b)
{
	return a < b ? -1 : a > b;
}

int candidate_compare(const struct candidate *x, const struct candidate *y)
{
	enum standing sx = candidate_standing(x), sy = candidate_standing(y);
	enum trial_result rx = evidence_result(&x->evidence), ry = evidence_result(&y->evidence);
	int by;

	if (sx != sy)
		return order_of(sx, sy);
	if (x->evidence.wide != y->evidence.wide)
		return y->evidence.wide ? 1 : -1;
	if (rx != ry)
		return order_of(rx, ry);
	if (rx == TRIAL_HELPS) {
		by = order_of(share(x->evidence.after.failed, &x->evidence.after),
			      share(y->evidence.after.failed, &y->evidence.after));
		if (by)
			return by;
	}
	if (x->source != y->source) /* what the run shows says more than what was tried */
		return order_of(y->source, x->source);
	return order_of(x->plan, y->plan);
}

static int best_first(const void *a, const void *b)
{
	return candidate_compare(a, b);
}

void candidates_rank(struct candidates *all)
{
	vec_sort(all, best_first);
}

bool candidate_is_cause(const struct candidate *c)
{
	return candidate_standing(c) < STANDING_NEAR;
}
