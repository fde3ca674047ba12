/* explain/dynamic.c - the explanation by native runs, from a plait to an answer.
 *
 * 1. Replay the failing schedule; it must fail the same way.
 * 2. Fewer switches, same failure (minimize), confirmed by replays; record that run with all
 * events.
 * 3. The nearest passing schedule (search.c), recorded too.
 * 4. What differs (projection.c), with names and source lines (present.c).
 * 5. What would cure it (advise.c): cures (cure.c) that go with the failure (observe.c), in turn
 *    over many schedules; the first that helps names the kind of bug. */
#define LOG_DOMAIN "explain"
#include "explain/explain.h"

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "explain/cure/advise.h"
#include "explain/show/cause.h"
#include "explain/show/focus.h"
#include "explain/show/lifetime.h"
#include "explain/find/gone.h"
#include "explain/find/load.h"
#include "explain/find/stuck.h"
#include "explain/native.h"
#include "explain/show/present.h"
#include "explain/show/stacks.h"
#include "trace/trace.h"
#include "unplait/effects.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define WEAK	   0.2 /* separation below which advice is doubtful ... */
#define WEAK_ORDER 0.5 /* ... for an order: many schedules that break a needed one would fail */
enum { CONFIRMATIONS = 5, MINIMIZE_RUNS = 400, MINIMIZE_STEPS = 20000000 };
enum { MAX_STACKS = 192 };
enum { HANG_EVENTS = 200000 }; /* of a run that does not end, the rest tells nothing new */

struct job {
	const struct explain_options *options;
	struct explanation *x;
	struct target target;
	struct session *session;
	struct run_result failing;
	struct native native;
	struct explain_runner runner;
	struct steps steps;
	struct trace *trace;	     /* recording of the failing run */
	char *copy_dir, *trace_copy; /* its folder's name is reused: the trace is sealed here */
	struct stacks stacks;	     /* call stacks of steps that are told */
	struct gone gone;	     /* what was used after its end; kind BUG_UNKNOWN: nothing */
	struct alternates alternates;
	struct alternate alternate; /* the one that is reported: borrowed from those */
};

/* Every access is a point, as it will be in the runs that vary this one. */
static struct run_request replay_of(const struct schedule *s)
{
	struct run_request req = schedule_request(s);

	req.points = PLAIT_POINTS_ALL;
	return req;
}

static struct err *reproduce(struct job *j)
{
	struct schedule schedule = { 0 };
	struct run_request req;
	struct err *err = schedule_load(j->options->plait, &schedule);

	if (err)
		return err;
	req = replay_of(&schedule);
	if (j->target.event_budget || !req.event_budget)
		req.event_budget = 0; /* the target's decides: shorten_hang */
	else
		j->target.event_budget = req.event_budget; /* a hang: its decisions end there */
	err = session_run(j->session, &req, &j->failing);
	schedule_deinit(&schedule);
	if (!err && j->failing.diverged)
		err = err_new(ERR_INCONCLUSIVE, "%s does not fit this program any more: %s",
			      j->options->plait,
			      j->failing.text ? j->failing.text : "the run diverged");
	if (!err && !run_failed(&j->failing))
		err = err_new(ERR_INCONCLUSIVE,
			      "%s passed when it was replayed; explain needs a failing schedule "
			      "(`unplait hunt` finds one)",
			      j->options->plait);
	return err;
}

/* A run that hangs uses up its budget each time, and with few switches a budget is millions of
 * events: from here on a smaller one decides. */
static struct err *shorten_hang(struct job *j)
{
	uint64_t budget = j->target.event_budget;
	struct err *err;

	if (j->failing.outcome != PLAIT_OUTCOME_HANG || j->failing.timed_out)
		return NULL;
	j->target.event_budget = MIN(budget ? budget : UINT64_MAX, HANG_EVENTS);
	err = reproduce(j);
	if (!err)
		return NULL;
	err_free(err);
	j->target.event_budget = budget;
	return reproduce(j);
}

static struct err *shrink(struct job *j)
{
	struct run_result small = { 0 };
	uint64_t runs = 0;
	/* a run that hangs takes its whole budget each time */
	uint64_t most = MIN(MAX(MINIMIZE_STEPS / (j->failing.steps + 1), 30), MINIMIZE_RUNS);
	struct err *err = minimize_run(j->session, &j->failing, most, &small, &runs);

	if (err)
		return err;
	log_verbose("minimized from %zu to %zu switches in %llu runs",
		    schedule_switches(&j->failing.schedule), schedule_switches(&small.schedule),
		    (unsigned long long)runs);
	run_result_deinit(&j->failing);
	j->failing = small;
	return NULL;
}

/* A step that never happened, at the end of the failing run. */
static uint32_t add_pending_step(struct job *j, struct step e)
{
	e.clock = j->failing.steps;
	e.pending = true;
	e.index = 0;
	for (size_t k = 0; k < j->steps.len; k++)
		e.index += j->steps.data[k].thread == e.thread;
	vec_push(&j->steps, e);
	return (uint32_t)j->steps.len - 1;
}

/* What the waiting threads of a deadlock wait to do, in the run that was recorded just now: a run
 * that records has its heap elsewhere. */
static void add_pending(struct job *j)
{
	const struct run_result *recorded = &j->native.last;

	for (size_t i = 0; i < recorded->blocked.len; i++) {
		const struct plait_blocked *b = &recorded->blocked.data[i];

		if (b->thread < j->steps.nthreads) {
			uint32_t at = add_pending_step(j, (struct step){ .thread = b->thread,
									 .kind = b->kind,
									 .site = b->site,
									 .address = b->object });

			stacks_add(&j->stacks, at, b->frames, b->nframes);
		}
	}
	steps_link(&j->steps);
}

/* Record the failing run and keep it: later recordings reuse the folder. */
static struct err *record_failing(struct job *j)
{
	struct run_request req = replay_of(&j->failing.schedule);
	struct trace *recording = NULL;
	struct err *err = native_record(&j->native, &req, &recording);

	trace_close(recording);
	if (err)
		return err;
	err = file_temp_dir(&j->copy_dir);
	if (err)
		return err;
	j->trace_copy = xasprintf("%s/failing.plait", j->copy_dir);
	err = trace_seal(j->native.dir, NULL, j->trace_copy);
	if (!err)
		err = trace_open(j->trace_copy, &j->trace);
	if (!err)
		err = steps_load(j->trace, &j->steps);
	if (!err) {
		uint32_t caught = steps_add_caught(&j->steps, &j->native.last);

		if (caught != STEP_NONE)
			stacks_add(&j->stacks, caught, j->native.last.failure.frames,
				   j->native.last.failure.nframes);
		add_pending(j);
		if (!gone_find(&j->steps, &j->native.last, &j->gone))
			j->gone.kind = BUG_UNKNOWN;
	}
	return err;
}

/* The last place at which the failing thread was seen. */
static uint32_t last_site(const struct job *j)
{
	for (size_t i = j->steps.len; i-- > 0;)
		if (j->steps.data[i].thread == j->failing.failure.thread && j->steps.data[i].site)
			return j->steps.data[i].site;
	return 0;
}

static void describe_outcome(struct job *j)
{
	struct explanation *x = j->x;
	const char *where = present_failure(x, j->trace, &j->failing.failure);
	const char *at = where ? where : present_site(x, j->trace, last_site(j));
	const char *text = j->failing.text && *j->failing.text ? j->failing.text : NULL;

	x->outcome = outcome_name(j->failing.outcome);
	if (!text && j->failing.signal)
		text = arena_strdup(&x->arena, strsignal(j->failing.signal));
	if (text && at && j->failing.outcome == PLAIT_OUTCOME_SIGNAL)
		x->outcome_text = arena_printf(&x->arena, "%s: %s, %s %s", x->outcome, text,
					       where ? "at" : "after", at);
	else
		x->outcome_text = arena_printf(&x->arena, "%s%s%s", x->outcome, text ? ": " : "",
					       text ? text : "");
}

static uint32_t failed_thread(const struct job *j)
{
	if (j->failing.outcome == PLAIT_OUTCOME_DEADLOCK ||
	    j->failing.outcome == PLAIT_OUTCOME_HANG)
		return STEP_NONE;
	return j->failing.failure.thread;
}

/* Two threads that wait for locks: a cycle; else somebody waits for a signal. */
static bool waits_for_locks(const struct job *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->steps.len; i++)
		n += j->steps.data[i].pending && step_is_acquire(&j->steps.data[i]);
	return n >= 2;
}

static void add_note(struct explanation *x, const char *text)
{
	struct shown_note *more = arena_array(&x->arena, struct shown_note, x->nnotes + 1);

	for (size_t i = 0; i < x->nnotes; i++)
		more[i] = x->notes[i];
	more[x->nnotes].text = text;
	x->notes = more;
	x->nnotes++;
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
		add_note(x, arena_printf(&x->arena,
					 "the advice could not be tested: none of %llu random "
					 "schedules fails even without it",
					 (unsigned long long)a->before.runs));
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
		add_note(x, arena_printf(&x->arena,
					 "no advice: %u atomic blocks and orders around this were "
					 "enforced, and it still fails",
					 a->rejected));
		if (a->removing)
			add_note(x, arena_printf(&x->arena,
						 "%u of them do away with the failure, but only "
						 "because part of the program no longer runs",
						 a->removing));
		doubt(x, a);
	}
	if (x->advice.weak)
		doubt(x, a);
	if (a->before.runs >= 8 && a->before.failed == a->before.runs)
		add_note(x, arena_printf(&x->arena,
					 "all of %llu schedules fail: it hardly depends on the "
					 "order, or every usual order is wrong",
					 (unsigned long long)a->before.runs));
}

/* ---- call stacks ---- */

struct wanted VEC_FIELDS(uint32_t);

static void want(const struct job *j, struct wanted *w, uint32_t step)
{
	if (step < j->steps.len && !j->steps.data[step].pending &&
	    (plait_is_step(j->steps.data[step].kind) || j->steps.data[step].kind == PLAIT_EV_FREE))
		vec_push(w, step);
}

static void want_cure(const struct job *j, struct wanted *w, const struct cure *c)
{
	want(j, w, c->from);
	if (!c->to_in_passing)
		want(j, w, c->to);
	else if (c->to < j->alternate.passing.len)
		want(j, w, steps_last_at(&j->steps, j->alternate.passing.data[c->to].site));
	want(j, w, c->intruder);
	want(j, w, c->other_from);
	if (c->other_from != STEP_NONE && !c->other_to_in_passing)
		want(j, w, c->other_to);
	for (uint32_t i = 0; i < j->steps.len; i++) /* a deadlock tells all who hold and wait */
		if (j->steps.data[i].pending && step_is_acquire(&j->steps.data[i]))
			want(j, w, cure_held(&j->steps, i));
}

/* Names one step of the failing run. Memory is given back where the engine does not stop: then by its
 * address. */
static struct plait_constraint stack_request(const struct steps *s, uint32_t step)
{
	struct plait_constraint c = { .kind = PLAIT_CONSTRAINT_STACK,
				      .a = search_pattern(s, step) };

	if (s->data[step].kind != PLAIT_EV_FREE)
		return c;
	c.flags = PLAIT_CONSTRAINT_FREE;
	c.a.nth = 0;
	for (uint32_t i = 0; i <= step; i++)
		c.a.nth += s->data[i].kind == PLAIT_EV_FREE &&
			   s->data[i].thread == s->data[step].thread &&
			   s->data[i].address == s->data[step].address;
	return c;
}

/* Replay the failing run once more and note where these steps happen. Recorded, as the steps were:
 * a run that records has its heap elsewhere. */
static struct err *ask_stacks(struct job *j, const uint32_t *steps, size_t n)
{
	struct plait_constraint c[PLAIT_MAX_CONSTRAINTS] = { 0 };
	struct run_request req = { .strategy = PLAIT_STRATEGY_REPLAY,
				   .points = PLAIT_POINTS_ALL,
				   .flags = j->failing.schedule.flags,
				   .decisions = j->failing.schedule.decisions.data,
				   .ndecisions = j->failing.schedule.decisions.len,
				   .constraints = c,
				   .nconstraints = n };
	const struct plait_stack *stacks = session_stacks(j->session);
	struct trace *recording = NULL;
	struct err *err;

	assert(n <= PLAIT_MAX_CONSTRAINTS);
	for (size_t i = 0; i < n; i++)
		c[i] = stack_request(&j->steps, steps[i]);
	err = native_record(&j->native, &req, &recording);
	trace_close(recording);
	for (size_t i = 0; i < n && !err; i++)
		log_debug(2, "stack of step %u: event %llu, wanted %llu, %u frames", steps[i],
			  (unsigned long long)stacks[i].step,
			  (unsigned long long)j->steps.data[steps[i]].clock, stacks[i].nframes);
	for (size_t i = 0; i < n && !err; i++)
		if (stacks[i].step == j->steps.data[steps[i]].clock ||
		    (stacks[i].step && c[i].flags & PLAIT_CONSTRAINT_FREE))
			stacks_add(&j->stacks, steps[i], stacks[i].frames, stacks[i].nframes);
	return err;
}

/* Shown steps, too, as far as there is room. */
static struct err *find_stacks(struct job *j, const struct cure *cure, const struct cure *earlier,
			       const struct projection *p)
{
	struct wanted w = { 0 };
	struct err *err = NULL;

	j->stacks.steps = &j->steps;
	if (cure)
		want_cure(j, &w, cure);
	if (earlier)
		want_cure(j, &w, earlier);
	if (j->gone.kind) {
		want(j, &w, j->gone.by);
		want(j, &w, j->gone.use);
		if (j->gone.by != STEP_NONE)
			want(j, &w, cure_held(&j->steps, j->gone.by));
	}
	for (uint32_t i = 0; p && i < j->steps.len; i++)
		if (p->show_failing[i])
			want(j, &w, i);
	for (size_t i = 0; i < MIN(w.len, MAX_STACKS) && !err; i += PLAIT_MAX_CONSTRAINTS)
		err = ask_stacks(j, w.data + i, MIN(w.len - i, (size_t)PLAIT_MAX_CONSTRAINTS));
	vec_deinit(&w);
	return err;
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

static struct err *conclude(struct job *j)
{
	bool deadlocked = j->failing.outcome == PLAIT_OUTCOME_DEADLOCK;
	bool cycle = deadlocked && !j->gone.kind && has_cycle(&j->steps);
	bool stuck = deadlocked && !j->gone.kind && !cycle && stuck_find(&j->steps).kind;
	struct advise_request request = { .runner = &j->runner,
					  .failing = &j->steps,
					  .alternates = &j->alternates,
					  .trace = j->trace,
					  .failed = failed_thread(j),
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
	projection_make(&j->steps, &j->alternate.passing, failed_thread(j), &projection);
	err = find_stacks(j, advice.found ? &advice.cure : NULL,
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
		err = find_stacks(j, NULL, NULL, &projection);
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

static void add_notes(struct job *j)
{
	struct strbuf text = { 0 };

	if (!j->failing.uncontrolled)
		return;
	uncontrolled_describe(j->failing.uncontrolled, &text);
	add_note(j->x, arena_printf(&j->x->arena, "not under control in this run: %s",
				    strbuf_str(&text)));
	strbuf_deinit(&text);
}

/* The failing run was found by other means: once more, in this session. */
static struct err *adopt_failing(struct job *j)
{
	struct run_request req = replay_of(&j->options->found->failing->schedule);
	struct err *err = session_run(j->session, &req, &j->failing);

	if (!err && !run_failed(&j->failing))
		err = err_new(ERR_INCONCLUSIVE, "the schedule that was found did not fail again");
	return err;
}

static uint32_t step_at(const struct steps *s, uint64_t clock)
{
	for (uint32_t i = 0; i < s->len; i++)
		if (s->data[i].clock == clock)
			return i;
	return STEP_NONE;
}

/* Critical sections are turned round as a whole: for the end of one, its beginning. */
static uint32_t section_begin(const struct steps *s, uint32_t i)
{
	const struct step *end = &s->data[i];

	if (!step_is_release(end))
		return i;
	for (uint32_t k = i; k-- > 0;)
		if (s->data[k].thread == end->thread && s->data[k].address == end->address &&
		    step_is_acquire(&s->data[k]))
			return k;
	return i;
}

static uint32_t pending_step(const struct job *j, const struct step *e)
{
	for (uint32_t i = 0; i < j->steps.len; i++)
		if (j->steps.data[i].pending && j->steps.data[i].thread == e->thread &&
		    j->steps.data[i].site == e->site)
			return i;
	return STEP_NONE;
}

/* The pair that the passing run inverts, in the failing run. If the failure came before its second
 * step, that is known from the passing run, and stands at the end. Both meet at one object, which
 * may lie elsewhere in the passing run. */
static bool find_pair(struct job *j, const struct steps *passing, struct step_pair *ret)
{
	const struct explain_found *found = j->options->found;
	struct step missing;
	uint32_t k;

	ret->first = step_at(&j->steps, found->pair[0]);
	ret->second = found->pair[1] ? step_at(&j->steps, found->pair[1]) : STEP_NONE;
	if (ret->first != STEP_NONE && !found->pair[1] && found->pair_passing[1]) {
		k = step_at(passing, found->pair_passing[1]);
		if (k == STEP_NONE || passing->data[k].thread >= j->steps.nthreads)
			return false;
		missing = passing->data[k];
		missing.address = j->steps.data[ret->first].address;
		ret->second = pending_step(j, &missing);
		if (ret->second == STEP_NONE) {
			ret->second = add_pending_step(j, missing);
			steps_link(&j->steps);
		}
	}
	if (ret->first == STEP_NONE || ret->second == STEP_NONE)
		return false;
	ret->first = section_begin(&j->steps, ret->first);
	ret->about = ret->second;
	return true;
}

/* The passing run, too; false in *ret when it cannot be used. */
static struct err *adopt_passing(struct job *j, bool *ret)
{
	const struct explain_found *found = j->options->found;
	struct alternate a = { .found = true, .unreached = STEP_NONE };
	struct run_request req;
	struct trace *trace = NULL;
	struct err *err;

	*ret = false;
	if (!found->passing)
		return NULL;
	req = replay_of(&found->passing->schedule);
	err = native_record(&j->native, &req, &trace);
	if (!err && j->native.last.outcome == PLAIT_OUTCOME_PASS)
		err = steps_load(trace, &a.passing);
	trace_close(trace);
	if (err || !a.passing.len)
		return err;
	if (!find_pair(j, &a.passing, &a.pair)) {
		steps_deinit(&a.passing);
		return NULL;
	}
	j->alternates.data[0] = a;
	j->alternates.len = 1;
	j->alternates.pairs_tried = found->pairs_tried;
	*ret = true;
	return NULL;
}

/* The step of the passing run that the failing one did not live to see stands at its end. */
static void add_unreached(struct job *j, struct alternate *a)
{
	struct step missing;

	if (a->unreached == STEP_NONE)
		return;
	missing = a->passing.data[a->unreached];
	if (missing.thread >= j->steps.nthreads)
		j->steps.nthreads = missing.thread + 1;
	missing.address = j->steps.data[a->pair.first].address;
	a->pair.second = pending_step(j, &missing);
	if (a->pair.second == STEP_NONE) {
		a->pair.second = add_pending_step(j, missing);
		steps_link(&j->steps);
	}
	a->pair.about = a->pair.second;
}

static struct err *find_passing(struct job *j)
{
	struct search_budget budget = { j->options->max_pairs, j->options->seconds };
	bool adopted = false;
	struct err *err = j->options->found ? adopt_passing(j, &adopted) : NULL;

	if (err || adopted)
		return err;
	if (j->options->found && j->options->found->passing)
		explanation_note(j->x,
				 "the pair that the solver turned round is in neither run as "
				 "recorded; the passing schedule was searched by native runs");
	err = search_alternate(&j->runner, &j->steps, failed_thread(j), &budget, &j->alternates);
	for (size_t i = 0; i < j->alternates.len && !err; i++)
		add_unreached(j, &j->alternates.data[i]);
	if (!err && j->alternates.len) {
		struct steps *passing = &j->alternates.data[0].passing;

		steps_mark_semaphores(passing, &j->steps, passing);
		steps_mark_semaphores(&j->steps, &j->steps, passing);
	}
	return err;
}

static struct err *investigate(struct job *j)
{
	unsigned same = 0;
	double t0 = clock_seconds(), t1, t2;
	struct err *err = j->options->found ? adopt_failing(j) : reproduce(j);

	if (!err && !j->options->found)
		err = shorten_hang(j);
	if (!err && !j->options->found)
		err = shrink(j);
	if (!err)
		err = confirm(j->session, &j->failing, CONFIRMATIONS, &same);
	if (!err)
		err = native_init(&j->native, j->session, &j->failing);
	if (err)
		return err;
	j->x->replays_tried = CONFIRMATIONS;
	j->x->replays_same = same;
	j->runner = native_runner(&j->native);
	err = record_failing(j);
	if (err)
		return err;
	t1 = clock_seconds();
	describe_outcome(j);
	err = find_passing(j);
	t2 = clock_seconds();
	if (!err)
		err = conclude(j);
	j->x->pairs_tried = j->alternates.pairs_tried;
	j->x->confirmed = same == CONFIRMATIONS && j->alternate.found;
	j->x->seconds_trace = t1 - t0;
	j->x->seconds_search = t2 - t1;
	j->x->seconds_advice = clock_seconds() - t2;
	add_notes(j);
	return err;
}

static struct err *open_target(struct job *j)
{
	struct err *err;

	j->target = j->options->target;
	err = target_from_plait(&j->target, j->options->plait, j->options->command);
	if (err)
		return err;
	j->x->program = arena_strdup(&j->x->arena, j->target.argv[0]);
	j->x->plait = arena_strdup(&j->x->arena, j->options->plait);
	return session_open(&j->target, &j->session);
}

struct err *explain_dynamic(const struct explain_options *options, struct explanation **ret)
{
	struct job j = { .options = options };
	struct err *err;

	j.x = xcalloc(1, sizeof(*j.x));
	err = open_target(&j);
	if (!err)
		err = investigate(&j);
	trace_close(j.trace);
	if (j.copy_dir)
		file_remove_tree(j.copy_dir);
	free(j.copy_dir);
	free(j.trace_copy);
	native_deinit(&j.native);
	steps_deinit(&j.steps);
	stacks_deinit(&j.stacks);
	alternates_deinit(&j.alternates);
	run_result_deinit(&j.failing);
	session_close(j.session);
	target_deinit(&j.target);
	if (err) {
		explanation_free(j.x);
		return err;
	}
	*ret = j.x;
	return NULL;
}
