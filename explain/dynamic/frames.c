/* explain/dynamic/frames.c - call stacks of the steps that the report tells of.
 *
 * A recording has no stacks. The failing run is replayed once more per PLAIT_MAX_CONSTRAINTS steps;
 * each constraint asks for the stack at one step. */
#define LOG_DOMAIN "explain"
#include "explain/dynamic/job.h"

#include "base/err.h"
#include "base/log.h"
#include "explain/dynamic/found.h"
#include "explain/find/grip.h"
#include "explain/find/units.h"
#include "trace/trace.h"
#include "unplait/effects.h"

#include <assert.h>

enum { MAX_STACKS = 192 };

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
	if (c->stale)
		want(j, w, c->stale - 1);
	want(j, w, c->other_from);
	if (c->other_from != STEP_NONE && !c->other_to_in_passing)
		want(j, w, c->other_to);
}

static void want_found(const struct job *j, struct wanted *w, const struct found *f)
{
	const uint32_t steps[] = { f->guard.with,	 f->guard.without,     f->guard.lock,
				   f->stuck.check,	 f->stuck.change,      f->stuck.set,
				   f->stuck.signal,	 f->stuck.woken,       f->stuck.held,
				   f->stuck.other_check, f->stuck.other_change };

	for (size_t i = 0; i < (f->stuck.kind ? ARRAY_SIZE(steps) : 3); i++)
		want(j, w, steps[i]);
}

/* A deadlock tells all who hold and wait. */
static void want_waiting(const struct job *j, struct wanted *w)
{
	for (uint32_t i = 0; i < j->steps.len; i++)
		if (j->steps.data[i].pending && step_is_acquire(&j->steps.data[i]))
			want(j, w, cure_held(&j->steps, i));
		else
			want(j, w, units_held(&j->steps, i).first);
}

static void want_grip(const struct job *j, struct wanted *w)
{
	struct grip grip = grip_find(&j->steps, &j->alternate.passing, &j->gone);

	if (!grip.kind)
		return;
	want(j, w, grip.seen);
	if (!grip.in_passing)
		want(j, w, grip.other);
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

struct err *job_find_stacks(struct job *j, const struct candidates *all, size_t most,
			    const struct found *found, const struct cure *earlier,
			    const struct projection *p)
{
	struct wanted w = { 0 };
	struct err *err = NULL;

	j->stacks.steps = &j->steps;
	for (size_t i = 0; all && i < MIN(all->len, most); i++)
		if (all->data[i].cure.nconstraints)
			want_cure(j, &w, &all->data[i].cure);
	if (found)
		want_found(j, &w, found);
	want_waiting(j, &w);
	if (earlier)
		want_cure(j, &w, earlier);
	if (j->gone.kind) {
		want(j, &w, j->gone.by);
		want(j, &w, j->gone.use);
		if (j->gone.by != STEP_NONE)
			want(j, &w, cure_held(&j->steps, j->gone.by));
		want_grip(j, &w);
	}
	for (uint32_t i = 0; p && i < j->steps.len; i++)
		if (p->show_failing[i])
			want(j, &w, i);
	for (size_t i = 0; i < MIN(w.len, MAX_STACKS) && !err; i += PLAIT_MAX_CONSTRAINTS)
		err = ask_stacks(j, w.data + i, MIN(w.len - i, (size_t)PLAIT_MAX_CONSTRAINTS));
	vec_deinit(&w);
	return err;
}
