/* explain/cure/trials.c - one cure after another on trial.
 *
 * A short trial, long enough for the failure to show without a cure, weeds out what does not
 * help; what survives it is tried over as many schedules as the user asked for. Every cure that was
 * tried becomes a candidate. */
#define LOG_DOMAIN "explain"
#include "explain/cure/trials.h"

#include "base/err.h"
#include "base/log.h"

enum { SHORTEST_TRIAL = 40, SPARED = 10 };
enum { COVERED = 60, MIN_USUAL = 3, USUAL = 8 }; /* usual: in one of eight passing schedules */

/* ---- coverage ---- */

/* A cure that works because part of the program no longer runs is none. Blocks leave both orders
 * possible, one after the other; an order takes one of them away, and with it what the threads
 * would have done. So for an order: does what usually happens still happen? */

void trials_cover(void *context, const struct explain_result *run)
{
	struct coverage *c = context;

	c->runs++;
	for (size_t i = 0; i < run->steps.len; i++) {
		uint64_t *last, *n;

		if (run->steps.data[i].pending || !run->steps.data[i].site)
			continue;
		last = map_put(&c->last, run->steps.data[i].site, 0);
		if (*last == c->runs)
			continue;
		*last = c->runs;
		n = map_put(&c->places, run->steps.data[i].site, 0);
		++*n;
	}
}

static void coverage_deinit(struct coverage *c)
{
	map_deinit(&c->places);
	map_deinit(&c->last);
}

/* Is there a place that many schedules come to and none of those with the cure? */
static bool is_lost(const struct coverage *usual, const struct coverage *with)
{
	for (size_t i = 0; i < usual->places.len; i++) {
		const struct map_entry *e = &usual->places.entries[i];

		if (e->value >= MIN_USUAL && e->value * USUAL >= usual->runs &&
		    !map_find(&with->places, e->key))
			return true;
	}
	return false;
}

struct trial_limits trials_limits(struct trials *t, uint64_t runs, uint64_t failures,
				  double seconds, uint32_t counted)
{
	return (struct trial_limits){ runs,	      failures,	      seconds,
				      t->r->seed + 1, &t->out->faces, counted };
}

static struct err *removes_behaviour(struct trials *t, const struct cure *c, bool *ret)
{
	struct trial_limits limits =
		trials_limits(t, COVERED, UINT64_MAX, SECONDS_SHORT, FACES_OWN);
	struct coverage with = { 0 };
	struct trial_watch watch = { trials_cover, &with, COVERED, WATCHED_STEPS, SECONDS_SHORT };
	struct cure_trial trial;
	struct err *err;

	*ret = false;
	if (c->kind != BUG_ORDER)
		return NULL;
	err = cure_try(t->r->runner, c, &limits, &watch, &trial);
	*ret = !err && trial.runs && is_lost(&t->usual, &with);
	coverage_deinit(&with);
	return err;
}

/* ---- trials ---- */

double trials_share(uint64_t part, const struct cure_trial *t)
{
	return t->runs ? (double)part / (double)t->runs : 0;
}

struct err *trials_weed_out(struct trials *t, const struct planned_cure *c,
			    struct cure_trial *trial, bool *ret)
{
	uint64_t runs = MAX(t->rate.runs, SHORTEST_TRIAL);
	struct cure_trial before = cure_trial_as(&t->full, c->counted);
	double spared = trials_share(before.failed, &before) * (double)runs / SPARED;
	struct trial_limits limits = trials_limits(t, runs, UINT64_MAX, SECONDS_SHORT, c->counted);
	struct err *err;

	limits.seed = t->r->seed;
	limits.failures =
		4 + (uint64_t)(spared + 2 * trials_share(before.other, &before) * (double)runs);
	if (cure_separation(&c->seen) >= SEPARATION_SURE)
		limits.failures = UINT64_MAX;
	err = cure_try(t->r->runner, &c->cure, &limits, NULL, trial);
	*ret = !err && (double)trial->failed <= spared &&
	       !trial_moves_crash(trial, &before, &c->seen) && !trial->dropped;
	if (!*ret)
		log_debug(1, "short trial: %llu of %llu fail, %llu otherwise%s",
			  (unsigned long long)trial->failed, (unsigned long long)trial->runs,
			  (unsigned long long)trial->other, trial->dropped ? ", dropped" : "");
	return err;
}

struct candidate *trials_best(struct trials *t)
{
	struct candidate *best = NULL;

	for (size_t i = 0; i < t->out->tried.len; i++) {
		struct candidate *c = &t->out->tried.data[i];

		if (!best || candidate_compare(c, best) < 0)
			best = c;
	}
	return best;
}

void trials_log(const struct planned_cure *cand, const struct cure_trial *trial)
{
	const struct cure *c = &cand->cure;

	log_debug(1,
		  "alternate %zu: kind %d, steps %u to %u%s%s: broken in %llu of %llu failing and "
		  "%llu of %llu passing runs; %llu of %llu fail with it, %llu otherwise%s",
		  cand->alternate, c->kind, c->from, c->to,
		  c->to_in_passing ? " of the passing run" : "",
		  c->other_from != STEP_NONE ? ", both sides" : "",
		  (unsigned long long)cand->seen.broken_failing,
		  (unsigned long long)cand->seen.failing,
		  (unsigned long long)cand->seen.broken_passing,
		  (unsigned long long)cand->seen.passing, (unsigned long long)trial->failed,
		  (unsigned long long)trial->runs, (unsigned long long)trial->other,
		  trial->dropped ? ", dropped" : "");
}

struct candidate trials_candidate(const struct trials *t, const struct planned_cure *c,
				  const struct cure_trial *trial)
{
	return (struct candidate){ .source = CANDIDATE_CURE,
				   .kind = c->cure.kind,
				   .cure = c->cure,
				   .alternate = c->alternate,
				   .plan = 2 * c->place + 1,
				   .evidence = { .seen = c->seen,
						 .before = cure_trial_as(&t->full, c->counted),
						 .after = *trial,
						 .counted = c->counted,
						 .lacks_lock = c->lacks_lock } };
}

struct err *trials_try(struct trials *t, const struct planned_cure *c, bool *ret)
{
	const struct advise_request *r = t->r;
	struct trial_limits limits =
		trials_limits(t, r->runs, UINT64_MAX, SECONDS_FULL, c->counted);
	struct cure_trial trial = { 0 };
	bool promising = false, removes = false;
	struct err *err = trials_weed_out(t, c, &trial, &promising);
	struct candidate tried;

	if (!err && promising)
		err = cure_try(r->runner, &c->cure, &limits, NULL, &trial);
	if (!err && promising)
		err = removes_behaviour(t, &c->cure, &removes);
	if (err)
		return err;
	trials_log(c, &trial);
	if (removes)
		log_debug(1, "... but part of the program no longer runs");
	tried = trials_candidate(t, c, &trial);
	tried.evidence.weeded = !promising;
	tried.evidence.removes = removes;
	vec_push(&t->out->tried, tried);
	*ret = evidence_result(&tried.evidence) == TRIAL_PERFECT && candidate_is_cause(&tried);
	return NULL;
}

void trials_deinit(struct trials *t)
{
	vec_deinit(&t->all);
	vec_deinit(&t->lates);
	coverage_deinit(&t->usual);
}
