/* explain/cure/advise.c - cures on trial.
 *
 * Each passing schedule suggests cures (cure.c). Schedules without any cure are looked at first: which
 * cures are broken when it fails and kept when it passes (observe.c)? That and their cost decide which
 * are tried first (rank/plan.c).
 *
 * A short trial, long enough for the failure to show without a cure, weeds out what does not
 * help; what survives it is tried over as many schedules as the user asked for. Trials end with the
 * first cure under which nothing fails, or when the best group is through and what is left of the
 * failure cannot be blamed on the best cure (a program can have several bugs). Every cure that was
 * tried becomes a candidate; which of them is the cause, the ranking says (rank/rank.c). The passing
 * schedule that it came from is the one to compare with: an inversion may pass by luck (a lost update
 * that hides another error), but then nothing that it suggests cures the program.
 *
 * What tells failing from passing schedules best lies close to the failure: two threads were inside
 * at once. Why could they be? A block on other objects that was broken before that, in every
 * schedule that fails, and that cures the program as well, may be the root; it is told, too. */
#define LOG_DOMAIN "explain"
#include "explain/cure/advise.h"

#include "base/err.h"
#include "base/log.h"
#include "base/map.h"
#include "explain/find/gone.h"
#include "explain/find/guards.h"
#include "explain/rank/plan.h"

#include <string.h>

enum {
	ENOUGH_FAILURES = 12,
	SHORTEST_TRIAL = 40,
	SPARED = 10,
	STILL_TRIED = 6,
	MAX_EARLIER = 4,
	MAX_NARROWER = 4,
	MUCH_CHEAPER = 4,  /* times */
	FEW_OF_A_FACE = 3, /* schedules that must show it before anything is said about it */
	LATE_STEPS = 6,
	MOST_OF = 4, /* all but one of so many */
	MAX_WIDER = 12,
	NEARLY = 10 /* nearly all: all but one of so many */
};
enum { WATCHED = 200, WATCHED_STEPS = 4000000 };
enum { COVERED = 60, MIN_USUAL = 3, USUAL = 8 }; /* usual: in one of eight passing schedules */
#define SECONDS_SHORT 4.0
#define SECONDS_FULL  10.0
#define SECONDS_WATCH 10.0
#define SECONDS_ALL   15.0
#define LITTLE_LESS   0.05 /* separation that the shorter block may lack */
#define SIMPLER	      0.3  /* ... and that a much simpler one must have */

/* In how many runs each place was come to. */
struct coverage {
	struct map places, last; /* site -> runs; the latest of them, so that each counts once */
	uint64_t runs;
};

struct trials {
	const struct advise_request *r;
	struct cure_trial rate;	 /* without a cure, a short trial */
	struct cure_trial full;	 /* ... a long one */
	double end;		 /* no new trial after this */
	uint64_t failing[FACES]; /* recorded schedules that fail, by the way they do */
	struct planned_cures all;
	struct planned_cures
		lates;	       /* what was used after its end stays until the others are done */
	struct coverage usual; /* of schedules that pass without a cure */
	struct advice *out;
};

/* ---- coverage ---- */

/* A cure that works because part of the program no longer runs is none. Blocks leave both orders
 * possible, one after the other; an order takes one of them away, and with it what the threads
 * would have done. So for an order: does what usually happens still happen? */

static void cover(void *context, const struct explain_result *run)
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

/* Of the schedules that `full` has seen without a cure. */
static struct trial_limits limits_of(struct trials *t, uint64_t runs, uint64_t failures,
				     double seconds, uint32_t counted)
{
	return (struct trial_limits){ runs,	      failures,	      seconds,
				      t->r->seed + 1, &t->out->faces, counted };
}

static struct err *removes_behaviour(struct trials *t, const struct cure *c, bool *ret)
{
	struct trial_limits limits = limits_of(t, COVERED, UINT64_MAX, SECONDS_SHORT, FACES_OWN);
	struct coverage with = { 0 };
	struct trial_watch watch = { cover, &with, COVERED, WATCHED_STEPS, SECONDS_SHORT };
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

static double share(uint64_t part, const struct cure_trial *t)
{
	return t->runs ? (double)part / (double)t->runs : 0;
}

/* A short trial: worth a long one? */
static struct err *weed_out(struct trials *t, const struct planned_cure *c,
			    struct cure_trial *trial, bool *ret)
{
	uint64_t runs = MAX(t->rate.runs, SHORTEST_TRIAL);
	struct cure_trial before = cure_trial_as(&t->full, c->counted);
	double spared = share(before.failed, &before) * (double)runs / SPARED;
	struct trial_limits limits = limits_of(t, runs, UINT64_MAX, SECONDS_SHORT, c->counted);
	struct err *err;

	limits.seed = t->r->seed;
	limits.failures = 4 + (uint64_t)(spared + 2 * share(before.other, &before) * (double)runs);
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

/* The best of those that were tried; NULL: none was. */
static struct candidate *best_of(struct trials *t)
{
	struct candidate *best = NULL;

	for (size_t i = 0; i < t->out->tried.len; i++) {
		struct candidate *c = &t->out->tried.data[i];

		if (!best || candidate_compare(c, best) < 0)
			best = c;
	}
	return best;
}

/* Is what still fails with the best not to be blamed on it? */
static bool good_enough(struct trials *t)
{
	const struct candidate *best = best_of(t);

	return best && candidate_is_cause(best) && evidence_result(&best->evidence) <= TRIAL_GOOD;
}

static void log_trial(const struct planned_cure *cand, const struct cure_trial *trial)
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

static struct candidate candidate_of(const struct trials *t, const struct planned_cure *c,
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

/* One more candidate. Is it perfect? */
static struct err *try_one(struct trials *t, const struct planned_cure *c, bool *ret)
{
	const struct advise_request *r = t->r;
	struct trial_limits limits = limits_of(t, r->runs, UINT64_MAX, SECONDS_FULL, c->counted);
	struct cure_trial trial = { 0 };
	bool promising = false, removes = false;
	struct err *err = weed_out(t, c, &trial, &promising);
	struct candidate tried;

	if (!err && promising)
		err = cure_try(r->runner, &c->cure, &limits, NULL, &trial);
	if (!err && promising)
		err = removes_behaviour(t, &c->cure, &removes);
	if (err)
		return err;
	log_trial(c, &trial);
	if (removes)
		log_debug(1, "... but part of the program no longer runs");
	tried = candidate_of(t, c, &trial);
	tried.evidence.weeded = !promising;
	tried.evidence.removes = removes;
	vec_push(&t->out->tried, tried);
	*ret = evidence_result(&tried.evidence) == TRIAL_PERFECT && candidate_is_cause(&tried);
	return NULL;
}

/* ---- cures ---- */

/* Several passing schedules may suggest the same. */
static bool is_known(const struct planned_cures *all, const struct cure *c)
{
	for (size_t i = 0; i < all->len; i++) {
		const struct cure *o = &all->data[i].cure;

		if (o->kind == c->kind && o->closing == c->closing &&
		    o->nconstraints == c->nconstraints &&
		    memcmp(o->constraints, c->constraints,
			   c->nconstraints * sizeof(c->constraints[0])) == 0)
			return true;
	}
	return false;
}

static bool lacks_lock(const struct steps *s, const struct cure *c)
{
	struct guard g;

	return c->intruder != STEP_NONE && c->from < s->len &&
	       (guards_find(s, c->intruder, c->from, &g) ||
		(!c->to_in_passing && guards_find(s, c->intruder, c->to, &g)));
}

static struct err *add_ranked(const struct advise_request *r, size_t at, struct cures *cures,
			      struct planned_cures *ret)
{
	struct err *err = NULL;

	for (size_t i = 0; i < cures->len && !err; i++) {
		struct planned_cure c = { .alternate = at,
					  .number = ret->len,
					  .counted = FACES_OWN };

		err = cure_widen(r->trace, &cures->data[i]);
		c.cure = cures->data[i];
		c.lacks_lock = lacks_lock(r->failing, &c.cure);
		if (!err && c.cure.nconstraints && !is_known(ret, &c.cure))
			vec_push(ret, c);
	}
	vec_deinit(cures);
	return err;
}

static struct err *gather(const struct advise_request *r, size_t at, struct planned_cures *ret)
{
	const struct alternate *alternate = &r->alternates->data[at];
	struct projection projection;
	struct cures cures;
	struct err *err;

	projection_make(r->failing, &alternate->passing, r->failed, &projection);
	cures_find(r->failing, alternate, &projection, r->deadlocked, &cures);
	err = add_ranked(r, at, &cures, ret);
	if (!err) {
		cures_stretch(r->failing, alternate, &projection, &cures);
		err = add_ranked(r, at, &cures, ret);
	}
	if (!err && alternate->found && at + 1 == r->alternates->len) {
		cures_anywhere(r->failing, alternate, &projection, &cures);
		err = add_ranked(r, at, &cures, ret);
		if (!err) {
			cures_updates(r->failing, alternate, &projection, &cures);
			err = add_ranked(r, at, &cures, ret);
		}
		if (!err) {
			cures_crossing(r->failing, alternate, &projection, &cures);
			err = add_ranked(r, at, &cures, ret);
		}
	}
	projection_deinit(&projection);
	return err;
}

/* What the other passing runs show of blocks that the failing run did not live to end; the last one has been asked. */
static struct err *gather_beyond(const struct advise_request *r, struct planned_cures *ret)
{
	struct err *err = NULL;

	for (size_t i = 0; i + 1 < r->alternates->len && !err; i++) {
		const struct alternate *alternate = &r->alternates->data[i];
		struct projection projection;
		struct cures cures;

		if (!alternate->found)
			continue;
		projection_make(r->failing, &alternate->passing, r->failed, &projection);
		cures_beyond(r->failing, alternate, &projection, &cures);
		err = add_ranked(r, i, &cures, ret);
		projection_deinit(&projection);
	}
	return err;
}

static void look_at(struct trials *t, struct planned_cure *c, const struct explain_result *run,
		    size_t face)
{
	bool broken = cure_observable(&c->cure) &&
		      cure_broken(&c->cure, t->r->failing, &run->steps, run->failed);

	if (run->failed) {
		c->broken[face] += broken;
	} else {
		c->seen.passing++;
		c->seen.broken_passing += broken;
	}
	if (!run->failed || face == FACE_OWN)
		cure_roles(&c->cure, &run->steps, &c->first_threads, &c->then_threads);
}

static void see(void *context, const struct explain_result *run)
{
	struct trials *t = context;
	size_t face = faces_of(&t->out->faces, run);

	if (run->failed && face == FACES)
		return;
	if (run->failed)
		t->failing[face]++;
	else
		cover(&t->usual, run);
	for (size_t i = 0; i < t->all.len; i++)
		look_at(t, &t->all.data[i], run, face);
	for (size_t i = 0; i < t->lates.len; i++)
		look_at(t, &t->lates.data[i], run, face);
}

/* ---- one mistake, several faces ---- */

/* How well a cure tells schedules that fail in these ways from those that pass. */
static struct cure_seen seen_as(const struct trials *t, const struct planned_cure *c,
				uint32_t faces)
{
	struct cure_seen seen = { .passing = c->seen.passing,
				  .broken_passing = c->seen.broken_passing };

	for (size_t i = 0; i < FACES; i++) {
		seen.failing += faces & 1u << i ? t->failing[i] : 0;
		seen.broken_failing += faces & 1u << i ? c->broken[i] : 0;
	}
	return seen;
}

static bool goes_with(const struct trials *t, const struct planned_cure *c, uint32_t faces)
{
	struct cure_seen seen = seen_as(t, c, faces);

	return cure_separation(&seen) >= SEPARATION_TELLING;
}

/* The ways of failing that break it, other than schedules that pass: those of one mistake, if this is
 * it. What does not break it is another's business. Only the failure itself if that hardly breaks
 * it. Of a face that few show nothing can be said, unless nearly all that fail are alike. */
static uint32_t faces_of_cure(const struct trials *t, const struct planned_cure *c)
{
	bool alike = goes_with(t, c, ~FACES_OWN);
	uint32_t faces = FACES_OWN;

	if (!cure_observable(&c->cure) ||
	    (t->failing[FACE_OWN] >= FEW_OF_A_FACE && !goes_with(t, c, FACES_OWN)))
		return faces;
	for (size_t i = 0; i < FACES; i++)
		if (goes_with(t, c, 1u << i) && (t->failing[i] >= FEW_OF_A_FACE || alike))
			faces |= 1u << i;
	return faces;
}

static void count_faces(const struct trials *t, struct planned_cure *c, uint32_t faces)
{
	c->counted = faces;
	c->seen = seen_as(t, c, faces);
}

/* Where the very same failure is too rare to judge by, its other faces count, too: for each cure those
 * that it goes with. */
static void settle_faces(struct trials *t)
{
	bool rare = t->failing[FACE_OWN] < ENOUGH_FAILURES;

	for (size_t i = 0; i < t->all.len; i++)
		count_faces(t, &t->all.data[i],
			    rare ? faces_of_cure(t, &t->all.data[i]) : FACES_OWN);
	for (size_t i = 0; i < t->lates.len; i++) {
		struct planned_cure *c = &t->lates.data[i];

		c->counted = rare ? faces_of_cure(t, c) : FACES_OWN;
		c->seen =
			(struct cure_seen){ 0 }; /* what happened is known: only the trial counts */
	}
}

/* What no failing schedule breaks is not what is wrong with them. */
static bool never_broken(const struct planned_cure *c)
{
	return cure_observable(&c->cure) && c->seen.failing >= ENOUGH_FAILURES &&
	       !c->seen.broken_failing;
}

/* Does the program fail nearly as often with the best, if elsewhere? */
static bool leaves_failures(struct trials *t)
{
	const struct candidate *best = good_enough(t) ? best_of(t) : NULL;

	return !best || share(best->evidence.after.failed + best->evidence.after.other,
			      &best->evidence.after) *
					MUCH_CHEAPER >
				share(t->full.failed + t->full.other, &t->full);
}

/* The whole of what a thread does, if nothing shorter is good enough: one that mends all. */
static struct err *try_stretches(struct trials *t)
{
	struct err *err = NULL;
	bool done = !(t->full.failed + t->full.other) || !leaves_failures(t);

	for (size_t i = 0, n = 0; i < t->all.len && n < MAX_NARROWER && !err && !done; i++) {
		const struct planned_cure *c = &t->all.data[i];

		if (!c->cure.stretch || never_broken(c) || explain_spent(t->r->runner) >= t->end)
			continue;
		n++;
		err = try_one(t, c, &done);
	}
	return err;
}

/* Schedules that fail in other ways may show other faces of the same mistake. Does this cure tell most of
 * all that fail from those that pass, these among them? */
static bool is_wide(const struct trials *t, struct planned_cure *c)
{
	uint64_t all = 0;

	for (size_t i = 0; i < FACES; i++)
		all += t->failing[i];
	count_faces(t, c, faces_of_cure(t, c));
	return c->counted != FACES_OWN && c->seen.failing * MOST_OF >= all * (MOST_OF - 1) &&
	       cure_separation(&c->seen) >= SEPARATION_TELLING;
}

/* Nearly every schedule that failed, in whatever way? */
static bool mends_all(const struct evidence *e)
{
	return share(e->after.failed + e->after.other, &e->after) * NEARLY <=
	       share(e->before.failed + e->before.other, &e->before);
}

/* Where the best leaves failures, if with other faces: those that mend these as well. What mends
 * only some of them explains no more than the best does. */
static struct err *try_wider(struct trials *t)
{
	struct planned_cures wide = { 0 };
	const struct candidate *best = good_enough(t) ? best_of(t) : NULL;
	struct err *err = NULL;
	bool done = false;

	if (best && mends_all(&best->evidence))
		return NULL;
	for (size_t i = 0; i < t->all.len; i++) {
		struct planned_cure c = t->all.data[i];

		if (!c.cure.stretch && is_wide(t, &c))
			vec_push(&wide, c);
	}
	plan_make(&wide);
	for (size_t i = 0; i < MIN(wide.len, (size_t)MAX_WIDER) && !err && !done; i++) {
		size_t tried = t->out->tried.len;
		struct candidate *last;

		wide.data[i].place += (uint32_t)t->all.len;
		if (explain_spent(t->r->runner) < t->end)
			err = try_one(t, &wide.data[i], &done);
		if (t->out->tried.len == tried)
			continue;
		last = vec_last(&t->out->tried);
		last->evidence.wide = mends_all(&last->evidence);
		if (!last->evidence.wide)
			t->out->tried.len = tried;
	}
	vec_deinit(&wide);
	return err;
}

static struct err *try_all(struct trials *t)
{
	struct planned_cure *all = t->all.data;
	struct err *err = NULL;
	unsigned since_good = 0;
	bool done = false;

	/* what never fails without a cure cannot tell a good one from a bad one */
	for (size_t i = 0; i < t->all.len && !err && !done && t->rate.failed + t->rate.other; i++) {
		bool good = good_enough(t);

		since_good += good;
		if (explain_spent(t->r->runner) >= t->end || since_good > STILL_TRIED ||
		    (i && all[i].group != all[i - 1].group && good))
			break;
		if (!(all[i].cure.kind == BUG_ORDER && good) && !never_broken(&all[i]) &&
		    !all[i].cure.stretch)
			err = try_one(t, &all[i], &done);
	}
	if (!err && !done)
		err = try_stretches(t);
	if (!err)
		err = try_wider(t);
	if (!t->out->tried.len && t->all.len) /* at least what differs nearest to the failure */
		vec_push(&t->out->tried,
			 candidate_of(t, &all[0], &(struct cure_trial){ .runs = 0 }));
	return err;
}

/* ---- beside the best ---- */

static bool mends_every(const struct cure_trial *trial)
{
	return !trial->failed && !trial->other && !trial->dropped;
}

/* As good as what was found, and told before it. */
static void tell_before(struct trials *t, const struct candidate *found,
			const struct planned_cure *c, const struct cure_trial *trial)
{
	struct candidate better = candidate_of(t, c, trial);

	better.plan = found->plan - 1;
	vec_push(&t->out->tried, better);
}

/* ---- what came before ---- */

static bool is_any_block(const struct cure *c)
{
	return (c->kind == BUG_ATOMICITY || c->kind == BUG_MULTI_VARIABLE) &&
	       c->intruder != STEP_NONE && !c->loop && !c->waits;
}

static bool is_block(const struct cure *c)
{
	return is_any_block(c) && !c->to_in_passing;
}

static bool touches(const struct steps *s, const struct cure *c, uint32_t step)
{
	return s->data[c->from].address == s->data[step].address ||
	       (!c->to_in_passing && s->data[c->to].address == s->data[step].address);
}

/* Was this block broken before the one that was taken, in every schedule that failed, and about
 * something else? Not if it is much longer: then it may help because it holds the other one. */
static bool is_earlier(const struct trials *t, const struct cure *best,
		       const struct planned_cure *c)
{
	const struct steps *f = t->r->failing;

	return is_block(&c->cure) && c->cure.from < best->from && c->cure.to < best->to &&
	       (best->intruder == STEP_NONE || c->cure.intruder < best->intruder) &&
	       !touches(f, best, c->cure.from) && !touches(f, best, c->cure.to) &&
	       c->seen.broken_failing == c->seen.failing &&
	       c->cure.cost <= (uint64_t)best->cost * MUCH_CHEAPER &&
	       cure_separation(&c->seen) >= SEPARATION_TELLING;
}

/* The cheapest of them that works. */
static struct err *look_earlier(struct trials *t, const struct cure *best)
{
	const struct advise_request *r = t->r;
	struct trial_limits limits = limits_of(t, r->runs, 1, SECONDS_SHORT, FACES_OWN);
	struct planned_cure *cheapest = NULL;

	for (unsigned tried = 0; tried < MAX_EARLIER && explain_spent(t->r->runner) < t->end;
	     tried++) {
		struct cure_trial trial;
		struct err *err;

		cheapest = NULL;
		for (size_t i = 0; i < t->all.len; i++)
			if (is_earlier(t, best, &t->all.data[i]) &&
			    (!cheapest || t->all.data[i].cure.cost < cheapest->cure.cost))
				cheapest = &t->all.data[i];
		if (!cheapest)
			return NULL;
		err = cure_try(r->runner, &cheapest->cure, &limits, NULL, &trial);
		if (err)
			return err;
		log_trial(cheapest, &trial);
		if (mends_every(&trial)) {
			t->out->earlier.found = true;
			t->out->earlier.cure = cheapest->cure;
			t->out->earlier.after = trial;
			t->out->earlier.seen = cheapest->seen;
			return NULL;
		}
		cheapest->seen.broken_failing = 0; /* not again */
	}
	return NULL;
}

/* ---- the shortest block ---- */

/* Steps of its own thread in the failing run, which may have ended before the block did. */
static uint32_t length_of(const struct steps *s, const struct cure *c)
{
	uint32_t n = 0, end = c->to_in_passing ? (uint32_t)s->len : c->to;

	for (uint32_t i = c->from; i < end; i++)
		n += s->data[i].thread == s->data[c->from].thread;
	return n;
}

/* What is checked first and set last: no part of it that leaves out either end says as much. */
static bool leaves_out_an_end(const struct trials *t, const struct candidate *found,
			      const struct planned_cure *c)
{
	const struct step *d = t->r->failing->data, *from = &d[found->cure.from];

	if (found->cure.came_back)
		return !c->cure.came_back;
	return found->cure.kind == BUG_ATOMICITY && !found->cure.to_in_passing &&
	       step_is_memory(from) && step_reads(from) && !step_writes(from) &&
	       step_writes(&d[found->cure.to]) && d[c->cure.to].address != from->address;
}

/* Does it lie within what was taken, and say as much? */
static bool is_within(const struct trials *t, const struct candidate *found,
		      const struct planned_cure *c)
{
	const struct cure *best = &found->cure;
	const struct step *d = t->r->failing->data;

	return is_any_block(best) && is_any_block(&c->cure) &&
	       c->cure.to_in_passing == best->to_in_passing &&
	       (c->cure.other_from == STEP_NONE || best->other_from != STEP_NONE) &&
	       !c->cure.around_lock && c->cure.from >= best->from && c->cure.to <= best->to &&
	       !leaves_out_an_end(t, found, c) && d[c->cure.from].thread == d[best->from].thread &&
	       length_of(t->r->failing, &c->cure) < length_of(t->r->failing, best) &&
	       cure_separation(&c->seen) >= cure_separation(&found->evidence.seen) - LITTLE_LESS;
}

/* Is it much simpler than what was taken, and broken in every schedule that fails? It tells failing from
 * passing schedules less well if more has to happen before the program fails; what tells them apart
 * best is often long, and ends at the failure itself. */
static bool is_simpler(const struct candidate *found, const struct planned_cure *c)
{
	return (found->cure.missed ? is_any_block(&c->cure) : is_block(&c->cure)) &&
	       !c->cure.around_lock && (uint64_t)c->cure.cost * MUCH_CHEAPER <= found->cure.cost &&
	       c->seen.broken_failing == c->seen.failing && cure_separation(&c->seen) >= SIMPLER;
}

/* One variable before several: what lies between the uses of two variables is often no more than the
 * shortest way from one thing to another. */
static bool says_it_simpler(const struct cure *a, const struct cure *b)
{
	bool one = a->kind == BUG_ATOMICITY, other = b->kind == BUG_ATOMICITY;

	return one != other ? one : a->cost < b->cost;
}

/* A long block may cure only because a short one lies in it, or near it, that cures as well: that is the
 * part which must not be broken. The shortest of those within it, else the simplest. */
static struct planned_cure *find_narrower(const struct trials *t, const struct candidate *found)
{
	const struct steps *f = t->r->failing;
	struct planned_cure *best = NULL;
	bool within = false;

	for (size_t i = 0; i < t->all.len; i++) {
		struct planned_cure *c = &t->all.data[i];
		bool inside = is_within(t, found, c);

		if (!inside && (within || !is_simpler(found, c)))
			continue;
		if (!best || inside > within ||
		    (inside ? length_of(f, &c->cure) < length_of(f, &best->cure)
			    : says_it_simpler(&c->cure, &best->cure)))
			best = c;
		within |= inside;
	}
	return best;
}

static struct err *narrow(struct trials *t, const struct candidate *found)
{
	const struct advise_request *r = t->r;
	struct trial_limits limits = limits_of(t, r->runs, 1, SECONDS_SHORT, FACES_OWN);

	if (!is_any_block(&found->cure) && !found->cure.missed)
		return NULL;
	for (unsigned tried = 0; tried < MAX_NARROWER && explain_spent(r->runner) < t->end;
	     tried++) {
		struct planned_cure *shortest = find_narrower(t, found);
		struct cure_trial trial;
		struct err *err;

		if (!shortest)
			return NULL;
		err = cure_try(r->runner, &shortest->cure, &limits, NULL, &trial);
		if (err)
			return err;
		log_trial(shortest, &trial);
		if (mends_every(&trial)) {
			tell_before(t, found, shortest, &trial);
			return NULL;
		}
		shortest->cure.loop = true; /* not again */
	}
	return NULL;
}

/* Do both touch one object? */
static bool share_object(const struct steps *s, const struct cure *a, const struct cure *b)
{
	const uint32_t mine[] = { a->from, a->intruder, a->to_in_passing ? a->from : a->to };
	const uint32_t other[] = { b->from, b->intruder, b->to_in_passing ? b->from : b->to };

	for (size_t i = 0; i < ARRAY_SIZE(mine); i++)
		for (size_t k = 0; k < ARRAY_SIZE(other); k++)
			if (mine[i] < s->len && other[k] < s->len &&
			    s->data[mine[i]].address == s->data[other[k]].address)
				return true;
	return false;
}

/* A mistake by which a thread comes to where it breaks the program in the end: a check that it does not repeat
 * under the lock, or something given away too early. */
static bool is_behind(const struct trials *t, const struct cure *found, const struct cure *c)
{
	return c->stale ||
	       (c->early && c->other_from == STEP_NONE && share_object(t->r->failing, found, c));
}

/* The cheapest of them that is broken in every schedule that fails, and cures all. */
static struct err *look_behind(struct trials *t, const struct candidate *found)
{
	struct trial_limits limits =
		limits_of(t, t->r->runs, UINT64_MAX, SECONDS_FULL, found->evidence.counted);
	struct planned_cure *first = NULL;
	struct cure_trial trial;
	struct err *err;

	if (found->cure.stale || found->cure.early)
		return NULL;
	for (size_t i = 0; i < t->all.len; i++) {
		struct planned_cure *c = &t->all.data[i];

		if (is_behind(t, &found->cure, &c->cure) &&
		    c->seen.broken_failing == c->seen.failing &&
		    cure_separation(&c->seen) >= SIMPLER &&
		    (!first || c->cure.cost < first->cure.cost))
			first = c;
	}
	if (!first || explain_spent(t->r->runner) >= t->end)
		return NULL;
	err = cure_try(t->r->runner, &first->cure, &limits, NULL, &trial);
	if (err)
		return err;
	log_trial(first, &trial);
	if (mends_every(&trial))
		tell_before(t, found, first, &trial);
	return NULL;
}

/* The same schedules that cures will be tried on, without one. */
static struct err *watch_all(struct trials *t)
{
	const struct advise_request *r = t->r;
	struct trial_limits limits =
		limits_of(t, r->runs, UINT64_MAX, SECONDS_WATCH + SECONDS_FULL, FACES_OWN);
	struct trial_watch watch = { see, t, WATCHED, WATCHED_STEPS, SECONDS_WATCH };

	return cure_try(r->runner, NULL, &limits, &watch, &t->full);
}

/* What was used after its end stays until everybody else is done. What is done just before may belong
 * to the tear-down, too. */
static void gather_lates(struct trials *t)
{
	const struct gone *gone = t->r->gone;
	bool found = gone && gone->by != STEP_NONE && gone->kind != BUG_FOREIGN_UNLOCK;

	for (unsigned back = 0; back < LATE_STEPS && found; back++) {
		struct planned_cure c = { .counted = FACES_OWN };

		found = cure_late(t->r->failing, gone->use, gone->by, back, &c.cure);
		if (found)
			vec_push(&t->lates, c);
	}
}

/* The advice about an object's life, whatever else was found. */
static struct err *try_late(struct trials *t)
{
	struct err *err = NULL;

	for (size_t i = 0; i < t->lates.len && !t->out->late_tested && !err; i++) {
		const struct planned_cure *c = &t->lates.data[i];
		struct trial_limits limits =
			limits_of(t, t->r->runs, UINT64_MAX, SECONDS_FULL, c->counted);
		struct evidence e = { .before = cure_trial_as(&t->full, c->counted) };
		bool promising = false;

		if (e.before.failed)
			err = weed_out(t, c, &e.after, &promising);
		if (err || !promising)
			continue;
		err = cure_try(t->r->runner, &c->cure, &limits, NULL, &e.after);
		t->out->late = e.after;
		t->out->late_before = e.before;
		t->out->late_counted = c->counted;
		t->out->late_tested = !err && evidence_result(&e) <= TRIAL_HELPS;
	}
	return err;
}

/* The shortest block, and what came before it. */
static struct err *look_around(struct trials *t)
{
	const struct candidate *best = best_of(t);
	struct candidate found;
	struct err *err;

	if (!best || !best->evidence.after.runs || !cure_observable(&best->cure) ||
	    evidence_result(&best->evidence) > TRIAL_HELPS)
		return NULL;
	found = *best;
	err = narrow(t, &found);
	found = *best_of(t);
	if (!err)
		err = look_behind(t, &found);
	found = *best_of(t);
	if (err || found.evidence.after.failed)
		return err;
	return look_earlier(t, &found.cure);
}

struct err *advise(const struct advise_request *r, struct advice *ret)
{
	static const struct alternate none;
	struct alternates nothing = { .data = { none }, .len = 1 };
	struct advise_request request = *r;
	struct trials t = { .r = &request, .out = ret };
	struct trial_limits rate = { r->runs, ENOUGH_FAILURES, SECONDS_SHORT,
				     r->seed, &ret->faces,     FACES_OWN };
	struct err *err = NULL;

	*ret = (struct advice){ 0 };
	if (!r->alternates->len)
		request.alternates = &nothing; /* a deadlock speaks for itself */
	if (r->runs)
		err = cure_try(r->runner, NULL, &rate, NULL, &t.rate);
	for (size_t i = 0; i < request.alternates->len && !err; i++)
		err = gather(&request, i, &t.all);
	if (!err)
		err = gather_beyond(&request, &t.all);
	gather_lates(&t);
	if (!err && t.all.len + t.lates.len && t.rate.failed + t.rate.other)
		err = watch_all(&t);
	settle_faces(&t);
	plan_make(&t.all);
	t.end = explain_spent(r->runner) + SECONDS_ALL;
	if (!err)
		err = try_all(&t);
	if (!err)
		err = look_around(&t);
	if (!err)
		err = try_late(&t);
	ret->before = t.full.runs ? t.full : t.rate;
	vec_deinit(&t.all);
	vec_deinit(&t.lates);
	coverage_deinit(&t.usual);
	return err;
}

void advice_deinit(struct advice *a)
{
	vec_deinit(&a->tried);
}
