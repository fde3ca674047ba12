/* explain/cure/advise.c - cures on trial.
 *
 * Each passing schedule suggests cures (cure.c). Schedules without any cure are looked at first: which
 * cures are broken when it fails and kept when it passes (observe.c)? That and their cost decide which
 * are tried first (rank/plan.c).
 *
 * One after the other is tried (trials.c). That ends with the first cure under which nothing fails, or
 * when the best group is through and what is left of the failure cannot be blamed on the best cure (a
 * program can have several bugs). Then comes what is told beside the best (around.c). Which of those
 * that were tried is the cause, the ranking says (rank/rank.c). The passing schedule that a cure came
 * from is the one to compare with: an inversion may pass by luck (a lost update that hides another
 * error), but then nothing that it suggests cures the program. */
#include "explain/cure/advise.h"

#include "base/err.h"
#include "explain/cure/trials.h"
#include "explain/find/gone.h"
#include "explain/find/guards.h"

#include <string.h>

enum {
	ENOUGH_FAILURES = 12,
	STILL_TRIED = 6,
	MAX_STRETCHES = 4,
	FEW_OF_A_FACE = 3, /* schedules that must show it before anything is said about it */
	LATE_STEPS = 6,
	MOST_OF = 4, /* all but one of so many */
	MAX_WIDER = 12,
	NEARLY = 10,	    /* nearly all: all but one of so many */
	NEARLY_AS_OFTEN = 4 /* more than one of so many */
};
enum { WATCHED = 200 }; /* runs */
#define SECONDS_WATCH 10.0
#define SECONDS_ALL   15.0

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
		trials_cover(&t->usual, run);
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

/* Is what still fails with the best not to be blamed on it? */
static bool good_enough(struct trials *t)
{
	const struct candidate *best = trials_best(t);

	return best && candidate_is_cause(best) && evidence_result(&best->evidence) <= TRIAL_GOOD;
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
	const struct candidate *best = good_enough(t) ? trials_best(t) : NULL;

	return !best || trials_share(best->evidence.after.failed + best->evidence.after.other,
				     &best->evidence.after) *
					NEARLY_AS_OFTEN >
				trials_share(t->full.failed + t->full.other, &t->full);
}

/* The whole of what a thread does, if nothing shorter is good enough: one that mends all. */
static struct err *try_stretches(struct trials *t)
{
	struct err *err = NULL;
	bool done = !(t->full.failed + t->full.other) || !leaves_failures(t);

	for (size_t i = 0, n = 0; i < t->all.len && n < MAX_STRETCHES && !err && !done; i++) {
		const struct planned_cure *c = &t->all.data[i];

		if (!c->cure.stretch || never_broken(c) || explain_spent(t->r->runner) >= t->end)
			continue;
		n++;
		err = trials_try(t, c, &done);
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
	return trials_share(e->after.failed + e->after.other, &e->after) * NEARLY <=
	       trials_share(e->before.failed + e->before.other, &e->before);
}

/* Where the best leaves failures, if with other faces: those that mend these as well. What mends
 * only some of them explains no more than the best does. */
static struct err *try_wider(struct trials *t)
{
	struct planned_cures wide = { 0 };
	const struct candidate *best = good_enough(t) ? trials_best(t) : NULL;
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
			err = trials_try(t, &wide.data[i], &done);
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
			err = trials_try(t, &all[i], &done);
	}
	if (!err && !done)
		err = try_stretches(t);
	if (!err)
		err = try_wider(t);
	if (!t->out->tried.len && t->all.len) /* at least what differs nearest to the failure */
		vec_push(&t->out->tried,
			 trials_candidate(t, &all[0], &(struct cure_trial){ .runs = 0 }));
	return err;
}

/* The same schedules that cures will be tried on, without one. */
static struct err *watch_all(struct trials *t)
{
	const struct advise_request *r = t->r;
	struct trial_limits limits =
		trials_limits(t, r->runs, UINT64_MAX, SECONDS_WATCH + SECONDS_FULL, FACES_OWN);
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
			trials_limits(t, t->r->runs, UINT64_MAX, SECONDS_FULL, c->counted);
		struct evidence e = { .before = cure_trial_as(&t->full, c->counted) };
		bool promising = false;

		if (e.before.failed)
			err = trials_weed_out(t, c, &e.after, &promising);
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
		err = trials_look_around(&t);
	if (!err)
		err = try_late(&t);
	ret->before = t.full.runs ? t.full : t.rate;
	trials_deinit(&t);
	return err;
}

void advice_deinit(struct advice *a)
{
	vec_deinit(&a->tried);
}
