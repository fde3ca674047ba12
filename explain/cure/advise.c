/* explain/cure/advise.c - cures on trial.
 *
 * Each passing schedule suggests cures (cure.c). Schedules without any cure are looked at
 * first: which cures are broken when it fails and kept when it passes (observe.c)? Those that
 * tell the two apart about equally well stand in one group, the cheapest first, blocks before
 * orders unless an order tells them apart as well as any block; the best group is tried first. So a
 * cure that merely keeps the threads from running side by side comes late, however well it works.
 *
 * A short trial, long enough for the failure to show without a cure, weeds out what does not
 * help; what survives it is tried over as many schedules as the user asked for. The first of a
 * group under which nothing fails is the advice, else the one under which the failure is rarest (a
 * program can have several bugs), and a later group is looked at only when the failure is still
 * there. The passing schedule the advice came from is the one to compare with: an inversion may
 * pass by luck (a lost update that hides another error), but then nothing that it suggests cures
 * the program.
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

#include <string.h>

enum {
	ENOUGH_FAILURES = 12,
	SHORTEST_TRIAL = 40,
	SPARED = 10,
	NEARLY_ALL = 20,
	STILL_TRIED = 6,
	MAX_EARLIER = 4,
	MAX_NARROWER = 3,
	LATE_STEPS = 6
};
#define DEAR 100000000u /* more than any block costs */
enum { WATCHED = 200, WATCHED_STEPS = 4000000 };
enum { COVERED = 60, MIN_USUAL = 3, USUAL = 8 }; /* usual: in one of eight passing schedules */
#define SECONDS_SHORT 4.0
#define SECONDS_FULL  10.0
#define SECONDS_WATCH 10.0
#define SECONDS_ALL   15.0
#define ABOUT_EQUAL   0.15 /* separations that differ by less are equally good */
#define HARDLY_LESS   0.02
#define LITTLE_LESS   0.05 /* ... as long as it is the shorter block */
#define LOOP_ROUND    0.35 /* ... what a round of a loop as a block has to make up for */
#define STALE_CHECK   0.25 /* ... and what a wait between check and use is worth */
#define FORGOTTEN     0.1  /* ... or a lock that every other access holds */
#define NEARLY_SURE   0.9  /* a separation that says it all */
#define TELLING	      0.5  /* a separation that hardly comes about by chance */

struct ranked_cure {
	struct cure cure;
	size_t alternate;
	size_t number; /* as found: decides between equals */
	struct cure_seen seen;
	double separation; /* ... and what else speaks for or against it */
	bool forgotten;	   /* one side lacks a lock that every other access holds */
	unsigned group;	   /* 0: tells failing from passing schedules best */
};
struct ranked_cures VEC_FIELDS(struct ranked_cure);

/* In how many runs each place was come to. */
struct coverage {
	struct map places, last; /* site -> runs; the latest of them, so that each counts once */
	uint64_t runs;
};

struct trials {
	const struct advise_request *r;
	struct cure_trial rate; /* without a cure, a short trial */
	struct cure_trial full; /* ... a long one */
	double end;		/* no new trial after this */
	struct ranked_cures all;
	struct coverage usual; /* of schedules that pass without a cure */
	unsigned rejected;
	struct advice *best;
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

static struct err *removes_behaviour(struct trials *t, const struct cure *c, bool *ret)
{
	struct trial_limits limits = { COVERED, UINT64_MAX, SECONDS_SHORT, t->r->seed + 1 };
	struct coverage with = { 0 };
	struct trial_watch watch = { cover, &with, COVERED, WATCHED_STEPS, SECONDS_SHORT };
	struct cure_trial trial;
	struct err *err;

	*ret = false;
	if (c->kind != BUG_ORDER)
		return NULL;
	err = cure_try(t->r->runner, c, &limits, &watch, &trial);
	*ret = !err && is_lost(&t->usual, &with);
	coverage_deinit(&with);
	return err;
}

/* ---- trials ---- */

static double share(uint64_t part, const struct cure_trial *t)
{
	return t->runs ? (double)part / (double)t->runs : 0;
}

/* Other failures are other bugs' business unless the cure brings them about (it only moves the
 * crash). Runs that no longer end in this failure have a chance to meet the others. */
static bool moves_the_crash(const struct cure_trial *with, const struct cure_trial *without,
			    const struct cure_seen *seen)
{
	bool sure = seen && cure_separation(seen) >= NEARLY_SURE;
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

/* Much rarer with it. */
static bool helps(const struct cure_trial *with, const struct cure_trial *without,
		  const struct cure_seen *seen)
{
	return !with->dropped && share(with->failed, with) * 2 <= share(without->failed, without) &&
	       !moves_the_crash(with, without, seen);
}

/* A short trial: worth a long one? */
static struct err *weed_out(struct trials *t, const struct cure *c, const struct cure_seen *seen,
			    bool *ret)
{
	uint64_t runs = MAX(t->rate.runs, SHORTEST_TRIAL);
	double spared = share(t->full.failed, &t->full) * (double)runs / SPARED;
	struct trial_limits limits = { runs, UINT64_MAX, SECONDS_SHORT, t->r->seed };
	struct cure_trial trial;
	struct err *err;

	limits.failures =
		4 + (uint64_t)(spared + 2 * share(t->full.other, &t->full) * (double)runs);
	if (seen && cure_separation(seen) >= NEARLY_SURE)
		limits.failures = UINT64_MAX;
	err = cure_try(t->r->runner, c, &limits, NULL, &trial);
	*ret = !err && (double)trial.failed <= spared && !moves_the_crash(&trial, &t->full, seen) &&
	       !trial.dropped;
	if (!*ret)
		log_debug(1, "short trial: %llu of %llu fail, %llu otherwise%s",
			  (unsigned long long)trial.failed, (unsigned long long)trial.runs,
			  (unsigned long long)trial.other, trial.dropped ? ", dropped" : "");
	return err;
}

/* With several bugs of one symptom nothing cures all. What a cure cannot be blamed for are the
 * schedules that fail although they keep to it. */
static bool good_enough(const struct trials *t)
{
	const struct cure_trial *after = &t->best->after;
	const struct cure_seen *seen = &t->best->seen;
	double fails = share(t->full.failed, &t->full), tolerated = fails / NEARLY_ALL;

	if (cure_separation(seen) >= TELLING)
		tolerated += 1.5 * fails * (double)(seen->failing - seen->broken_failing) /
			     (double)seen->failing;
	return t->best->tested && share(after->failed, after) <= tolerated &&
	       !moves_the_crash(after, &t->full, seen);
}

static void take(struct trials *t, const struct ranked_cure *c, const struct cure_trial *trial)
{
	bool perfect = !trial->failed && !trial->other;

	/* cheaper ones came first: only a perfect one is better than a good one */
	if (t->best->tested &&
	    (share(trial->failed, trial) >= share(t->best->after.failed, &t->best->after) ||
	     (good_enough(t) && !perfect)))
		return;
	*t->best = (struct advice){ .found = true,
				    .removing = t->best->removing,
				    .alternate = c->alternate,
				    .cure = c->cure,
				    .tested = true,
				    .after = *trial,
				    .seen = c->seen };
}

static void log_trial(const struct ranked_cure *cand, const struct cure_trial *trial)
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

/* Is it the advice? */
static struct err *try_one(struct trials *t, const struct ranked_cure *c, bool *ret)
{
	const struct advise_request *r = t->r;
	struct trial_limits limits = { r->runs, UINT64_MAX, SECONDS_FULL, r->seed + 1 };
	struct cure_trial trial = { 0 };
	bool promising = false, removes = false;
	struct err *err = weed_out(t, &c->cure, &c->seen, &promising);

	if (!err && promising)
		err = cure_try(r->runner, &c->cure, &limits, NULL, &trial);
	if (!err && promising)
		err = removes_behaviour(t, &c->cure, &removes);
	if (err)
		return err;
	log_trial(c, &trial);
	if (removes) {
		log_debug(1, "... but part of the program no longer runs");
		t->best->removing++;
		promising = false;
	}
	*ret = promising && !trial.failed && !trial.other && !trial.dropped;
	t->rejected += !*ret;
	if (promising && helps(&trial, &t->full, &c->seen))
		take(t, c, &trial);
	return NULL;
}

/* ---- cures ---- */

/* Several passing schedules may suggest the same. */
static bool is_known(const struct ranked_cures *all, const struct cure *c)
{
	for (size_t i = 0; i < all->len; i++) {
		const struct cure *o = &all->data[i].cure;

		if (o->kind == c->kind && o->nconstraints == c->nconstraints &&
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
			      struct ranked_cures *ret)
{
	struct err *err = NULL;

	for (size_t i = 0; i < cures->len && !err; i++) {
		struct ranked_cure c = { .alternate = at, .number = ret->len };

		err = cure_widen(r->trace, &cures->data[i]);
		c.cure = cures->data[i];
		c.forgotten = lacks_lock(r->failing, &c.cure);
		if (!err && !is_known(ret, &c.cure))
			vec_push(ret, c);
	}
	vec_deinit(cures);
	return err;
}

static struct err *gather(const struct advise_request *r, size_t at, struct ranked_cures *ret)
{
	const struct alternate *alternate = &r->alternates->data[at];
	struct projection projection;
	struct cures cures;
	struct err *err;

	projection_make(r->failing, &alternate->passing, r->failed, &projection);
	cures_find(r->failing, alternate, &projection, r->deadlocked, &cures);
	err = add_ranked(r, at, &cures, ret);
	if (!err && alternate->found && at + 1 == r->alternates->len) {
		cures_anywhere(r->failing, alternate, &projection, &cures);
		err = add_ranked(r, at, &cures, ret);
		if (!err) {
			cures_crossing(r->failing, alternate, &projection, &cures);
			err = add_ranked(r, at, &cures, ret);
		}
	}
	projection_deinit(&projection);
	return err;
}

static void see(void *context, const struct explain_result *run)
{
	struct trials *t = context;

	if (run->failed && !run->same_failure)
		return;
	if (!run->failed)
		cover(&t->usual, run);
	for (size_t i = 0; i < t->all.len; i++) {
		struct ranked_cure *c = &t->all.data[i];
		bool broken = cure_observable(&c->cure) &&
			      cure_broken(&c->cure, t->r->failing, &run->steps, run->failed);

		c->seen.failing += run->failed;
		c->seen.passing += !run->failed;
		c->seen.broken_failing += broken && run->failed;
		c->seen.broken_passing += broken && !run->failed;
	}
}

static int best_first(const void *a, const void *b)
{
	const struct ranked_cure *x = a, *y = b;

	if (x->separation != y->separation)
		return x->separation > y->separation ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static int cheapest_of_group_first(const void *a, const void *b)
{
	const struct ranked_cure *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->cure.cost != y->cure.cost)
		return x->cure.cost < y->cure.cost ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Nobody wants all rounds of a loop in one critical section, however well that works; what is checked
 * before a wait and used after it, and a lock that only one place forgets, are well-known mistakes. */
static double worth(const struct ranked_cure *c)
{
	if (!cure_observable(&c->cure))
		return 1;
	return cure_separation(&c->seen) - (c->cure.loop ? LOOP_ROUND : 0) +
	       (c->cure.waits ? STALE_CHECK : 0) + (c->forgotten ? FORGOTTEN : 0);
}

static bool is_telling_order(const struct ranked_cure *c, double best)
{
	return c->cure.kind == BUG_ORDER && c->separation >= TELLING &&
	       c->separation >= best - HARDLY_LESS &&
	       (c->cure.constraints[0].kind != PLAIT_CONSTRAINT_LATE || c->cure.barrier ||
		c->cure.teardown);
}

/* An order that tells failing from passing schedules as well as any block is the simpler story than
 * a block of several variables: where a block's beginning matters, the same order passes when the
 * block begins later. Only blocks around one variable that do as well come before it. Waiting for
 * everybody is for tearing things down, not for looking at them. */
static void prefer_telling_orders(struct ranked_cures *all)
{
	double best = all->len ? all->data[0].separation : 0;
	uint32_t blocks = 0;
	bool telling = false;

	for (size_t i = 0; i < all->len; i++) {
		const struct ranked_cure *c = &all->data[i];

		telling |= is_telling_order(c, best);
		if (c->cure.kind == BUG_ATOMICITY && c->separation >= best - HARDLY_LESS)
			blocks = MAX(blocks, MIN(c->cure.cost, DEAR));
	}
	for (size_t i = 0; i < all->len && telling; i++) {
		struct ranked_cure *c = &all->data[i];

		if (is_telling_order(c, best))
			c->cure.cost = blocks + 1;
		else if (c->cure.kind != BUG_ORDER && c->separation < best - HARDLY_LESS)
			c->cure.cost = MIN(c->cure.cost, DEAR) + blocks + 2;
		else if (c->cure.kind == BUG_MULTI_VARIABLE)
			c->cure.cost = MIN(c->cure.cost, DEAR) + blocks + 2;
	}
}

static void put_in_order(struct ranked_cures *all)
{
	double leader = 0;

	for (size_t i = 0; i < all->len; i++)
		all->data[i].separation = worth(&all->data[i]);
	vec_sort(all, best_first);
	prefer_telling_orders(all);
	for (size_t i = 0; i < all->len; i++) {
		struct ranked_cure *c = &all->data[i];

		c->group = i ? all->data[i - 1].group : 0;
		if (!i || c->separation < leader - ABOUT_EQUAL) {
			c->group += i > 0;
			leader = c->separation;
		}
	}
	vec_sort(all, cheapest_of_group_first);
	for (size_t i = 0; i < all->len; i++)
		log_debug(2, "cure %zu: kind %d, steps %u to %u, cost %u, separation %.2f", i,
			  all->data[i].cure.kind, all->data[i].cure.from, all->data[i].cure.to,
			  all->data[i].cure.cost, all->data[i].separation);
}

/* What no failing schedule breaks is not what is wrong with them. */
static bool never_broken(const struct ranked_cure *c)
{
	return cure_observable(&c->cure) && c->seen.failing >= ENOUGH_FAILURES &&
	       !c->seen.broken_failing;
}

static struct err *try_all(struct trials *t)
{
	struct ranked_cure *all = t->all.data;
	struct err *err = NULL;
	unsigned since_good = 0;
	bool done = false;

	if (t->all.len)
		*t->best = (struct advice){ .found = true,
					    .cure = all[0].cure,
					    .alternate = all[0].alternate,
					    .seen = all[0].seen };
	/* what never fails without a cure cannot tell a good one from a bad one */
	for (size_t i = 0; i < t->all.len && !err && !done && t->rate.failed + t->rate.other; i++) {
		bool good = good_enough(t);

		since_good += good;
		if (explain_spent(t->r->runner) > t->end || since_good > STILL_TRIED ||
		    (i && all[i].group != all[i - 1].group && good))
			break;
		if (!(all[i].cure.kind == BUG_ORDER && good) && !never_broken(&all[i]))
			err = try_one(t, &all[i], &done);
	}
	return err;
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
 * something else? */
static bool is_earlier(const struct trials *t, const struct ranked_cure *c)
{
	const struct steps *f = t->r->failing;
	const struct cure *best = &t->best->cure;

	return is_block(&c->cure) && c->cure.from < best->from && c->cure.to < best->to &&
	       (best->intruder == STEP_NONE || c->cure.intruder < best->intruder) &&
	       !touches(f, best, c->cure.from) && !touches(f, best, c->cure.to) &&
	       c->seen.broken_failing == c->seen.failing && cure_separation(&c->seen) >= TELLING;
}

/* The cheapest of them that works. */
static struct err *look_earlier(struct trials *t)
{
	const struct advise_request *r = t->r;
	struct trial_limits limits = { r->runs, 1, SECONDS_SHORT, r->seed + 1 };
	struct ranked_cure *cheapest = NULL;

	for (unsigned tried = 0; tried < MAX_EARLIER && explain_spent(t->r->runner) < t->end;
	     tried++) {
		struct cure_trial trial;
		struct err *err;

		cheapest = NULL;
		for (size_t i = 0; i < t->all.len; i++)
			if (is_earlier(t, &t->all.data[i]) &&
			    (!cheapest || t->all.data[i].cure.cost < cheapest->cure.cost))
				cheapest = &t->all.data[i];
		if (!cheapest)
			return NULL;
		err = cure_try(r->runner, &cheapest->cure, &limits, NULL, &trial);
		if (err)
			return err;
		log_trial(cheapest, &trial);
		if (!trial.failed && !trial.other && !trial.dropped) {
			t->best->earlier.found = true;
			t->best->earlier.cure = cheapest->cure;
			t->best->earlier.after = trial;
			t->best->earlier.seen = cheapest->seen;
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

/* Does it lie within what was taken, and say as much? */
static bool is_within(const struct trials *t, const struct ranked_cure *c)
{
	const struct cure *best = &t->best->cure;
	const struct step *d = t->r->failing->data;

	return is_any_block(&c->cure) && c->cure.to_in_passing == best->to_in_passing &&
	       (c->cure.other_from == STEP_NONE || best->other_from != STEP_NONE) &&
	       !c->cure.around_lock && c->cure.from >= best->from && c->cure.to <= best->to &&
	       d[c->cure.from].thread == d[best->from].thread &&
	       length_of(t->r->failing, &c->cure) < length_of(t->r->failing, best) &&
	       cure_separation(&c->seen) >= cure_separation(&t->best->seen) - LITTLE_LESS;
}

/* A cheap block of one variable may hold a shorter one of two that cures as well: that is the part
 * which must not be broken. */
static struct err *narrow(struct trials *t)
{
	const struct advise_request *r = t->r;
	struct trial_limits limits = { r->runs, 1, SECONDS_SHORT, r->seed + 1 };

	if (!is_any_block(&t->best->cure))
		return NULL;
	for (unsigned tried = 0; tried < MAX_NARROWER && explain_spent(r->runner) < t->end;
	     tried++) {
		struct ranked_cure *shortest = NULL;
		struct cure_trial trial;
		struct err *err;

		for (size_t i = 0; i < t->all.len; i++) {
			struct ranked_cure *c = &t->all.data[i];

			if (is_within(t, c) &&
			    (!shortest || length_of(r->failing, &c->cure) <
						  length_of(r->failing, &shortest->cure)))
				shortest = c;
		}
		if (!shortest)
			return NULL;
		err = cure_try(r->runner, &shortest->cure, &limits, NULL, &trial);
		if (err)
			return err;
		log_trial(shortest, &trial);
		if (!trial.failed && !trial.other && !trial.dropped) {
			t->best->cure = shortest->cure;
			t->best->alternate = shortest->alternate;
			t->best->after = trial;
			t->best->seen = shortest->seen;
			return NULL;
		}
		shortest->cure.loop = true; /* not again */
	}
	return NULL;
}

/* The same schedules that cures will be tried on, without one. */
static struct err *watch_all(struct trials *t)
{
	const struct advise_request *r = t->r;
	struct trial_limits limits = { r->runs, UINT64_MAX, SECONDS_WATCH + SECONDS_FULL,
				       r->seed + 1 };
	struct trial_watch watch = { see, t, WATCHED, WATCHED_STEPS, SECONDS_WATCH };

	return cure_try(r->runner, NULL, &limits, &watch, &t->full);
}

/* The advice about an object's life, whatever else was found. What is done just before may belong to
 * the tear-down, too. */
static struct err *try_late(struct trials *t)
{
	const struct advise_request *r = t->r;
	struct trial_limits limits = { r->runs, UINT64_MAX, SECONDS_FULL, r->seed + 1 };
	struct err *err = NULL;

	if (!r->gone || r->gone->by == STEP_NONE || r->gone->kind == BUG_FOREIGN_UNLOCK ||
	    !t->full.failed)
		return NULL;
	for (unsigned back = 0; back < LATE_STEPS && !t->best->late_tested && !err; back++) {
		bool promising = false;
		struct cure c;

		if (!cure_late(r->failing, r->gone->use, r->gone->by, back, &c))
			break;
		err = weed_out(t, &c, NULL, &promising);
		if (err || !promising)
			continue;
		err = cure_try(r->runner, &c, &limits, NULL, &t->best->late);
		t->best->late_tested = !err && helps(&t->best->late, &t->full, NULL);
	}
	return err;
}

struct err *advise(const struct advise_request *r, struct advice *ret)
{
	static const struct alternate none;
	struct alternates nothing = { .data = { none }, .len = 1 };
	struct advise_request request = *r;
	struct trials t = { .r = &request, .best = ret };
	struct trial_limits rate = { r->runs, ENOUGH_FAILURES, SECONDS_SHORT, r->seed };
	struct err *err = NULL;

	*ret = (struct advice){ 0 };
	if (!r->alternates->len)
		request.alternates = &nothing; /* a deadlock speaks for itself */
	if (r->runs)
		err = cure_try(r->runner, NULL, &rate, NULL, &t.rate);
	for (size_t i = 0; i < request.alternates->len && !err; i++)
		err = gather(&request, i, &t.all);
	if (!err && t.all.len && t.rate.failed + t.rate.other)
		err = watch_all(&t);
	put_in_order(&t.all);
	t.end = explain_spent(r->runner) + SECONDS_ALL;
	if (!err)
		err = try_all(&t);
	if (!err && ret->tested && !ret->after.failed && cure_observable(&ret->cure))
		err = narrow(&t);
	if (!err && ret->tested && !ret->after.failed && cure_observable(&ret->cure))
		err = look_earlier(&t);
	if (!err)
		err = try_late(&t);
	ret->before = t.full.runs ? t.full : t.rate;
	ret->rejected = t.rejected;
	vec_deinit(&t.all);
	coverage_deinit(&t.usual);
	return err;
}
