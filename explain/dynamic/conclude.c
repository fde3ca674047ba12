/* explain/dynamic/conclude.c - from two runs to an answer.
 *
 * What differs (projection.c), with names and source lines (present.c); what would cure it
 * (advise.c); and how sure that is: what was tried, and what was seen without it. */
#define LOG_DOMAIN "explain"
#include "explain/dynamic/job.h"

#include "base/err.h"
#include "explain/find/stuck.h"
#include "explain/show/cause.h"
#include "explain/show/focus.h"
#include "explain/show/lifetime.h"
#include "explain/show/present.h"
#include "trace/trace.h"

#include <string.h>

#define WEAK	   0.2 /* separation below which advice is doubtful ... */
#define WEAK_ORDER 0.5 /* ... for an order: many schedules that break a needed one would fail */

/* Two threads that wait for locks: a cycle; else somebody waits for a signal. */
static bool waits_for_locks(const struct job *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->steps.len; i++)
		n += j->steps.data[i].pending && step_is_acquire(&j->steps.data[i]);
	return n >= 2;
}

/* What was seen without it. */
static void keep_seen(struct explanation *x, const struct cure *cure, const struct cure_seen *seen,
		      bool tested)
{
	x->advice.sure = tested;
	if (!cure_observable(cure) || !seen->failing)
		return;
	x->advice.seen_failing = seen->failing;
	x->advice.broken_failing = seen->broken_failing;
	x->advice.seen_passing = seen->passing;
	x->advice.broken_passing = seen->broken_passing;
	x->advice.weak = seen->passing &&
			 cure_separation(seen) < (cure->kind == BUG_ORDER ? WEAK_ORDER : WEAK);
	x->advice.sure = tested && !x->advice.weak;
}

/* Nothing that was tried tells failing schedules from passing ones: say so first, then what is known.
 * Who waits for whom at the end of a deadlock is known all the same. */
static void doubt(struct explanation *x, const struct advice *a)
{
	if (strcmp(x->outcome, outcome_name(PLAIT_OUTCOME_DEADLOCK)) == 0 || !x->summary)
		return;
	x->summary = arena_printf(
		&x->arena,
		"not known: nothing that was tried tells the %llu schedules that "
		"fail from the %llu that pass. What differs nearest to the failure: "
		"%s",
		(unsigned long long)a->before.failed,
		(unsigned long long)(a->before.runs - a->before.failed - a->before.other),
		x->summary);
	x->kind = BUG_UNKNOWN;
}

/* What the trials say. A cure that was tried and does not help is no advice. speaks: the failure
 * speaks for itself. */
static void keep_test(struct explanation *x, const struct advice *a, bool speaks)
{
	if (a->found)
		keep_seen(x, &a->cure, &a->seen, a->tested);
	if (a->before.runs && !a->before.failed) {
		/* what never fails without it says nothing about it */
		x->advice.sure = false;
		explanation_note(x,
				 "the advice could not be tested: none of %llu random "
				 "schedules fails even without it",
				 (unsigned long long)a->before.runs);
	} else if (a->tested) {
		x->advice.failed_before = a->before.failed;
		x->advice.runs_before = a->before.runs;
		x->advice.failed_after = a->after.failed;
		x->advice.runs_after = a->after.runs;
		x->advice.other_before = a->before.other;
		x->advice.other_after = a->after.other;
	} else if (a->rejected) {
		x->advice.text = NULL;
		if (speaks)
			return;
		explanation_note(x,
				 "no advice: %u atomic blocks and orders around this were "
				 "enforced, and it still fails",
				 a->rejected);
		if (a->removing)
			explanation_note(x,
					 "%u of them do away with the failure, but only "
					 "because part of the program no longer runs",
					 a->removing);
		doubt(x, a);
	}
	if (x->advice.weak)
		doubt(x, a);
	if (a->before.runs >= 8 && a->before.failed == a->before.runs)
		explanation_note(x,
				 "all of %llu schedules fail: it hardly depends on the "
				 "order, or every usual order is wrong",
				 (unsigned long long)a->before.runs);
}

/* The sentences about an earlier block are made as those about the cause are, and put aside. */
static struct err *keep_earlier(struct job *j, const struct advice *a)
{
	struct explanation *x = j->x;
	const char *summary = x->summary, *text = x->advice.text;
	enum bug_kind kind = x->kind;
	struct err *err;

	if (!a->earlier.found)
		return NULL;
	err = present_cure(x, j->trace, &j->stacks, &j->steps, &j->alternate.passing,
			   &a->earlier.cure);
	x->earlier.summary = x->summary;
	x->earlier.advice =
		(struct shown_advice){ .text = x->advice.text,
				       .failed_after = a->earlier.after.failed,
				       .runs_after = a->earlier.after.runs,
				       .seen_failing = a->earlier.seen.failing,
				       .broken_failing = a->earlier.seen.broken_failing,
				       .seen_passing = a->earlier.seen.passing,
				       .broken_passing = a->earlier.seen.broken_passing };
	x->summary = summary;
	x->advice.text = text;
	x->kind = kind;
	return err;
}

/* Does this step use what was freed, or lie in it? */
static bool in_gone(const struct job *j, uint32_t step)
{
	const struct step *by;

	if (j->gone.by == STEP_NONE || step >= j->steps.len)
		return false;
	by = &j->steps.data[j->gone.by];
	return j->steps.data[step].address - by->address < MAX(by->size, 1u);
}

/* Is the cause a block within what was used after its end? */
static bool is_about_count(const struct job *j, const struct advice *a)
{
	return a->tested && j->x->advice.sure && a->cure.kind != BUG_ORDER &&
	       in_gone(j, a->cure.from) && (a->cure.to_in_passing || in_gone(j, a->cure.to));
}

/* The steps that the report is about. */
static void mark_cause(struct job *j, const struct advice *a, struct projection *projection)
{
	struct cure late;

	if (j->gone.kind && j->gone.by != STEP_NONE && !is_about_count(j, a)) {
		if (cure_late(&j->steps, j->gone.use, j->gone.by, 0, &late))
			cause_mark(&j->steps, &j->alternate, &late, projection);
		projection->show_failing[j->gone.by] |= PROJECT_REORDERED;
		projection->show_failing[j->gone.use] |= PROJECT_FAILURE;
		return;
	}
	cause_mark(&j->steps, &j->alternate, a->found ? &a->cure : NULL, projection);
}

/* Who gave it back and who still used it. A block within what was freed says why it came to that; any
 * other cure is about something else, and what was tried is that it lives longer. */
static struct err *keep_lifetime(struct job *j, const struct advice *a)
{
	struct explanation *x = j->x;
	bool block = is_about_count(j, a);

	if (!block) {
		x->advice = (struct shown_advice){ 0 };
		x->earlier.summary = NULL;
		if (a->late_tested)
			x->advice = (struct shown_advice){ .failed_before = a->before.failed,
							   .runs_before = a->before.runs,
							   .other_before = a->before.other,
							   .failed_after = a->late.failed,
							   .runs_after = a->late.runs,
							   .other_after = a->late.other,
							   .sure = true };
	}
	return present_lifetime(x, j->trace, &j->stacks, &j->steps, &j->gone, block);
}

struct err *job_conclude(struct job *j)
{
	bool deadlocked = j->failing.outcome == PLAIT_OUTCOME_DEADLOCK;
	bool cycle = deadlocked && !j->gone.kind && has_cycle(&j->steps);
	bool stuck = deadlocked && !j->gone.kind && !cycle && stuck_find(&j->steps).kind;
	struct advise_request request = { .runner = &j->runner,
					  .failing = &j->steps,
					  .alternates = &j->alternates,
					  .trace = j->trace,
					  .failed = job_failed_thread(j),
					  .deadlocked = deadlocked,
					  .gone = j->gone.kind ? &j->gone : NULL,
					  .runs = j->options->runs,
					  .seed = j->options->seed };
	struct projection projection;
	struct advice advice;
	struct err *err = present_waits(j->x, j->trace, &j->failing);

	if (!err)
		err = advise(&request, &advice);
	if (err)
		return err;
	if (j->alternates.len)
		j->alternate = j->alternates.data[advice.alternate];
	projection_make(&j->steps, &j->alternate.passing, job_failed_thread(j), &projection);
	err = job_find_stacks(j, advice.found ? &advice.cure : NULL,
			      advice.earlier.found ? &advice.earlier.cure : NULL, NULL);
	if (!err && advice.found)
		err = present_cure(j->x, j->trace, &j->stacks, &j->steps, &j->alternate.passing,
				   &advice.cure);
	keep_test(j->x, &advice, j->gone.kind || cycle || stuck);
	if (!err)
		err = keep_earlier(j, &advice);
	mark_cause(j, &advice, &projection);
	if (advice.earlier.found)
		cause_mark_earlier(&j->steps, &j->alternate.passing, &advice.earlier.cure,
				   &projection);
	if (j->x->advice.sure)
		j->x->left_out = focus(&j->steps, &j->alternate.passing, &projection);
	if (!err)
		err = job_find_stacks(j, NULL, NULL, &projection);
	if (!err)
		err = present_schedules(j->x, j->trace, &j->stacks, &j->steps, &j->alternate,
					&projection);
	if (deadlocked)
		j->x->kind = waits_for_locks(j) ? BUG_DEADLOCK : BUG_LOST_WAKEUP;
	if (!err && cycle)
		err = present_cycle(j->x, j->trace, &j->stacks, &j->steps,
				    advice.tested ? &advice.cure : NULL);
	if (!err && stuck)
		err = present_stuck(j->x, j->trace, &j->stacks, &j->steps,
				    advice.tested ? &advice.cure : NULL);
	if (!err && j->gone.kind)
		err = keep_lifetime(j, &advice);
	projection_deinit(&projection);
	return err;
}
