/* explain/dynamic/conclude.c - from two runs to an answer.
 *
 * Every cause that is considered is a candidate with its evidence (candidates.c). They are ranked once
 * (rank/), and the first is told; when its evidence does not carry it, the headline says that the cause
 * is not known, and what there is. */
#include "explain/dynamic/job.h"

#include "base/err.h"
#include "explain/dynamic/found.h"
#include "explain/show/cause.h"
#include "explain/show/focus.h"
#include "explain/show/lifetime.h"
#include "explain/show/present.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TOLD = 4 }; /* candidates with sentences */

/* The first that has something to enforce: its passing run is shown beside the failing one. */
static const struct candidate *first_cure(const struct candidates *all)
{
	for (size_t i = 0; i < all->len; i++)
		if (all->data[i].cure.nconstraints)
			return &all->data[i];
	return NULL;
}

/* ---- words ---- */

static struct err *tell(const struct scene *scene, const struct job *j, const struct found *found,
			const struct candidate *c, struct telling *ret)
{
	switch (c->source) {
	case CANDIDATE_LIFETIME:
		return present_lifetime(scene, &j->gone, ret);
	case CANDIDATE_CYCLE:
		return present_cycle(scene, ret);
	case CANDIDATE_STUCK:
		return present_stuck(scene, &found->stuck, ret);
	case CANDIDATE_GUARD:
		return present_guard(scene, &found->guard, ret);
	case CANDIDATE_CURE:
		break;
	}
	return present_cure(scene, &c->cure, ret);
}

static int own_then_frequent(const void *a, const void *b)
{
	const struct shown_face *x = a, *y = b;

	if (!x->how != !y->how)
		return x->how ? 1 : -1;
	if (x->runs != y->runs)
		return x->runs > y->runs ? -1 : 1;
	return x->how ? strcmp(x->how, y->how) : 0;
}

/* The ways of failing that count as this one, if there are several. */
static void add_faces(const struct job *j, const struct advice *tried, const struct evidence *e,
		      struct shown_advice *ret)
{
	struct shown_face *shown;

	if (e->before.failed == e->before.faces[FACE_OWN])
		return;
	shown = arena_array(&j->x->arena, struct shown_face, FACES);
	for (size_t i = 0; i < FACES; i++) {
		const struct face *f = &tried->faces.data[i];

		if (e->counted & 1u << i && (e->before.faces[i] || i == FACE_OWN))
			shown[ret->nfaces++] = (struct shown_face){
				i == FACE_OWN ? NULL : present_face(j->x, j->trace, f),
				e->before.faces[i]
			};
	}
	qsort(shown, ret->nfaces, sizeof(*shown), own_then_frequent);
	ret->faces = shown;
}

/* What was tried, and what was seen without it. */
static struct shown_advice evidence_shown(const struct job *j, const struct advice *tried,
					  const struct candidate *c, const char *text)
{
	const struct evidence *e = &c->evidence;
	struct shown_advice a = { .text = e->of_locks ? NULL : text };

	if (c->source == CANDIDATE_CURE && cure_observable(&c->cure) && e->seen.failing) {
		a.seen_failing = e->seen.failing;
		a.broken_failing = e->seen.broken_failing;
		a.seen_passing = e->seen.passing;
		a.broken_passing = e->seen.broken_passing;
	}
	if (!e->after.runs || !e->before.failed)
		return a;
	a.failed_before = e->before.failed;
	a.runs_before = e->before.runs;
	a.failed_after = e->after.failed;
	a.runs_after = e->after.runs;
	a.other_before = e->before.other;
	a.other_after = e->after.other;
	add_faces(j, tried, e, &a);
	return a;
}

/* The first few candidates in words; those that say the same only once. */
static struct err *tell_candidates(const struct scene *scene, const struct job *j,
				   const struct found *found, const struct advice *tried,
				   const struct candidates *all)
{
	struct explanation *x = scene->x;
	struct err *err = NULL;

	x->candidates = arena_array(&x->arena, struct shown_candidate, MAX_TOLD);
	for (size_t i = 0; i < all->len && x->ncandidates < MAX_TOLD && !err; i++) {
		const struct candidate *c = &all->data[i];
		struct scene own = *scene;
		struct telling told = { 0 };
		bool known = false;

		if (c->cure.nconstraints && c->alternate < j->alternates.len)
			own.passing = &j->alternates.data[c->alternate].passing;
		err = tell(&own, j, found, c, &told);
		for (size_t k = 0; k < x->ncandidates && told.summary; k++)
			known |= strcmp(x->candidates[k].summary, told.summary) == 0;
		if (err || !told.summary || known)
			continue;
		x->candidates[x->ncandidates++] =
			(struct shown_candidate){ .kind = told.kind,
						  .standing = candidate_standing(c),
						  .summary = told.summary,
						  .advice = evidence_shown(j, tried, c,
									   told.advice) };
	}
	return err;
}

/* Two threads that wait for locks: a cycle; else somebody waits for a signal. */
static bool waits_for_locks(const struct job *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->steps.len; i++)
		n += j->steps.data[i].pending && step_is_acquire(&j->steps.data[i]);
	return n >= 2;
}

/* Is it broken in schedules that fail and kept in those that pass, though it does not mend them? */
static bool goes_with_failure(const struct shown_advice *a)
{
	struct cure_seen seen = { a->seen_failing, a->broken_failing, a->seen_passing,
				  a->broken_passing };

	return cure_separation(&seen) >= SEPARATION_TELLING;
}

/* What helps, but happens nearly as often when it passes, is no advice. */
static const char *tell_tried(struct explanation *x, const struct shown_advice *a)
{
	return arena_printf(
		&x->arena,
		"%s. With this enforced %llu of %llu schedules fail, without it %llu of "
		"%llu; but what it forbids happens in %llu of %llu schedules that fail "
		"and in %llu of %llu that pass: it may help only because it keeps the "
		"threads apart",
		a->text, (unsigned long long)(a->failed_after + a->other_after),
		(unsigned long long)a->runs_after,
		(unsigned long long)(a->failed_before + a->other_before),
		(unsigned long long)a->runs_before, (unsigned long long)a->broken_failing,
		(unsigned long long)a->seen_failing, (unsigned long long)a->broken_passing,
		(unsigned long long)a->seen_passing);
}

/* Was the time over before anything was tried? Then nothing speaks for what differs. */
static bool is_cut(const struct job *j)
{
	return native_expired(&j->native);
}

/* Nothing that was tried tells failing schedules from passing ones: say so first, then what is known.
 * Of a rejected guess about signals nothing is true. */
static void doubt(struct job *j, const struct advice *a)
{
	struct explanation *x = j->x;
	const struct shown_candidate *near = NULL;

	for (size_t i = 0; i < x->ncandidates && !near; i++)
		if (x->candidates[i].kind != BUG_LOST_WAKEUP)
			near = &x->candidates[i];
	x->kind = BUG_UNKNOWN;
	x->doubtful = true;
	if (!j->alternates.len && !near) {
		x->summary = "not known: no schedule that passes was found to compare with";
		return;
	}
	if (is_cut(j) && near) {
		x->summary = arena_printf(&x->arena,
					  "not known: the time was over before anything was "
					  "tried. What differs nearest to the failure: %s",
					  near->summary);
		return;
	}
	if (!near && !a->before.failed)
		return;
	if (near && !a->before.failed && a->before.other) {
		x->summary = arena_printf(
			&x->arena,
			"not known: no other schedule of %llu fails in this way, and nothing that "
			"was tried mends the %llu that fail in others. What differs nearest to the "
			"failure: %s",
			(unsigned long long)a->before.runs, (unsigned long long)a->before.other,
			near->summary);
		return;
	}
	if (near && !a->before.failed) {
		x->summary = arena_printf(
			&x->arena,
			"not known: no other schedule of %llu fails, so no guess could be tested. "
			"What differs nearest to the failure: %s",
			(unsigned long long)a->before.runs, near->summary);
		return;
	}
	if (near && goes_with_failure(&near->advice)) {
		x->summary = arena_printf(
			&x->arena,
			"not known: nothing that was tried mends the %llu schedules that fail. "
			"What goes with the failure: %s",
			(unsigned long long)a->before.failed, near->summary);
		return;
	}
	x->summary = arena_printf(
		&x->arena,
		"not known: nothing that was tried tells the %llu schedules that "
		"fail from the %llu that pass%s%s",
		(unsigned long long)a->before.failed,
		(unsigned long long)(a->before.runs - a->before.failed - a->before.other),
		near ? ". What differs nearest to the failure: " : "", near ? near->summary : "");
	if (near && near->standing == STANDING_WEAK && near->advice.text &&
	    near->advice.runs_after && near->advice.seen_failing)
		x->tried = tell_tried(x, &near->advice);
}

/* The headline: the first candidate, if its evidence carries it. A block within what was freed says why
 * it came to that, and is the advice. */
static void tell_headline(struct job *j, const struct candidates *all, const struct advice *a,
			  const struct telling *reason, const struct candidate *because)
{
	struct explanation *x = j->x;
	const struct shown_candidate *top = x->ncandidates ? &x->candidates[0] : NULL;

	if (!top || !candidate_is_cause(&all->data[0]) ||
	    (is_cut(j) && candidate_standing(&all->data[0]) == STANDING_NEAR)) {
		doubt(j, a);
	} else {
		x->kind = top->kind;
		x->summary = top->summary;
		x->advice = top->advice;
	}
	if (because && reason->summary && all->data[0].source == CANDIDATE_LIFETIME) {
		x->summary = arena_printf(&x->arena, "%s, because %s", x->summary, reason->summary);
		x->advice = evidence_shown(j, a, because, reason->advice);
	}
	if (j->failing.outcome == PLAIT_OUTCOME_DEADLOCK &&
	    (!all->len || !candidate_is_cause(&all->data[0]) ||
	     all->data[0].source == CANDIDATE_CURE))
		x->kind = waits_for_locks(j) ? BUG_DEADLOCK : BUG_LOST_WAKEUP;
}

static void add_notes(struct explanation *x, const struct candidates *all, const struct advice *a)
{
	unsigned rejected = 0, removing = 0;
	bool cause = all->len && candidate_is_cause(&all->data[0]);

	for (size_t i = 0; i < all->len; i++) {
		rejected += all->data[i].evidence.after.runs > 0;
		removing += all->data[i].evidence.removes;
	}
	if (a->before.failed && !cause && rejected) {
		explanation_note(x,
				 "no advice: %u atomic blocks and orders around this were "
				 "enforced, and it still fails",
				 rejected);
		if (removing)
			explanation_note(x,
					 "%u of them do away with the failure, but only "
					 "because part of the program no longer runs",
					 removing);
	}
	if (a->before.runs >= 8 && a->before.failed == a->before.runs)
		explanation_note(x,
				 "all of %llu schedules fail: it hardly depends on the "
				 "order, or every usual order is wrong",
				 (unsigned long long)a->before.runs);
}

/* What was broken before the cause. It belongs to a cure: beside anything else it is about something
 * else. */
static struct err *tell_earlier(const struct scene *scene, const struct advice *a,
				const struct candidates *all)
{
	struct explanation *x = scene->x;
	struct telling told;
	struct err *err;

	if (!a->earlier.found || !all->len || all->data[0].source == CANDIDATE_LIFETIME)
		return NULL;
	err = present_cure(scene, &a->earlier.cure, &told);
	x->earlier.summary = told.summary;
	x->earlier.advice =
		(struct shown_advice){ .text = told.advice,
				       .failed_after = a->earlier.after.failed,
				       .runs_after = a->earlier.after.runs,
				       .seen_failing = a->earlier.seen.failing,
				       .broken_failing = a->earlier.seen.broken_failing,
				       .seen_passing = a->earlier.seen.passing,
				       .broken_passing = a->earlier.seen.broken_passing };
	return err;
}

/* ---- what is shown ---- */

/* The steps that the report is about. because: why something was used after its end; NULL. */
static void mark_cause(struct job *j, const struct candidate *cure, const struct candidate *because,
		       struct projection *projection)
{
	struct cure late;

	if (j->gone.kind && j->gone.by != STEP_NONE && !because) {
		if (cure_late(&j->steps, j->gone.use, j->gone.by, 0, &late))
			cause_mark(&j->steps, &j->alternate, &late, projection);
		projection->show_failing[j->gone.by] |= PROJECT_REORDERED;
		projection->show_failing[j->gone.use] |= PROJECT_FAILURE;
		return;
	}
	if (because)
		cure = because;
	cause_mark(&j->steps, &j->alternate, cure ? &cure->cure : NULL, projection);
}

static struct err *tell_all(struct job *j, const struct candidates *all, const struct advice *a,
			    const struct found *found, const struct candidate *because)
{
	struct scene scene = { j->x, j->trace, &j->stacks, &j->steps, &j->alternate.passing };
	struct telling reason = { 0 };
	struct err *err = tell_candidates(&scene, j, found, a, all);

	if (!err && because)
		err = present_cure(&scene, &because->cure, &reason);
	if (!err)
		err = tell_earlier(&scene, a, all);
	if (err)
		return err;
	tell_headline(j, all, a, &reason, because);
	add_notes(j->x, all, a);
	return NULL;
}

/* Is a cure known that works and goes with the failure? Then what does not belong to it is left out. */
static bool is_sure(const struct candidate *cure)
{
	return cure && cure->evidence.after.runs && cure->evidence.before.failed &&
	       candidate_standing(cure) <= STANDING_HELPS;
}

/* What would mend it, for those who want to enforce that. */
static void keep_remedy(struct explanation *x, const struct candidate *cure)
{
	if (!cure)
		return;
	x->remedy_works = is_sure(cure);
	x->nremedy = cure->cure.nconstraints;
	x->remedy = arena_memdup(&x->arena, cure->cure.constraints,
				 x->nremedy * sizeof(cure->cure.constraints[0]));
}

static struct err *conclude(struct job *j, struct candidates *all, const struct advice *a,
			    const struct found *found)
{
	const struct candidate *cure = first_cure(all), *because = job_find_reason(j, all);
	struct projection projection;
	struct err *err;

	if (j->alternates.len)
		j->alternate = j->alternates.data[because ? because->alternate
						  : cure  ? cure->alternate
							  : 0];
	projection_make(&j->steps, &j->alternate.passing, job_failed_thread(j), &projection);
	err = job_find_stacks(j, all, MAX_TOLD, found, a->earlier.found ? &a->earlier.cure : NULL,
			      NULL);
	if (!err)
		err = tell_all(j, all, a, found, because);
	mark_cause(j, cure, because, &projection);
	if (a->earlier.found)
		cause_mark_earlier(&j->steps, &j->alternate.passing, &a->earlier.cure, &projection);
	keep_remedy(j->x, because ? because : cure);
	if (is_sure(cure))
		j->x->left_out = focus(&j->steps, &j->alternate.passing, &projection);
	if (!err)
		err = job_find_stacks(j, NULL, 0, NULL, NULL, &projection);
	if (!err)
		err = present_schedules(j->x, j->trace, &j->stacks, &j->steps, &j->alternate,
					&projection);
	projection_deinit(&projection);
	return err;
}

struct err *job_conclude(struct job *j)
{
	bool deadlocked = j->failing.outcome == PLAIT_OUTCOME_DEADLOCK;
	struct advise_request request = { .runner = &j->runner,
					  .failing = &j->steps,
					  .alternates = &j->alternates,
					  .trace = j->trace,
					  .failed = job_failed_thread(j),
					  .deadlocked = deadlocked,
					  .gone = j->gone.kind ? &j->gone : NULL,
					  .runs = j->options->runs,
					  .seed = j->options->seed };
	struct candidates all = { 0 };
	struct advice advice = { 0 };
	struct found found;
	struct err *err = present_waits(j->x, j->trace, &j->failing);

	j->stacks.steps = &j->steps;
	if (!err)
		err = advise(&request, &advice);
	if (!err)
		err = job_collect(j, &advice, &found, &all);
	if (!err)
		err = conclude(j, &all, &advice, &found);
	vec_deinit(&all);
	advice_deinit(&advice);
	return err;
}
