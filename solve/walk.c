/* solve/walk.c - carry out a schedule that somebody else has found.
 *
 * What comes in: who does what next, operation by operation, as the symbolic machine sees the
 * program (site of an access, kind of a call). What goes out: a native run that did that, and its
 * outcome.
 *
 * Native runs count steps, and some of their operations the other side knows nothing of (the start
 * of a thread, a lock inside stdio), so the two are matched as we go: run with the decisions so far
 * and with every choice logged; go through the log and the schedule together; where the log has
 * another thread go on than the schedule wants, add a decision there and run again. An operation
 * that is not the wanted one, of the wanted thread, simply happens first. Each run settles one more
 * switch, and runs of programs that are explored this way are short. */
#define LOG_DOMAIN "walk"
#include "run/run.h"

#include "base/err.h"
#include "base/log.h"
#include "unplait/effects.h"

struct walker {
	const struct walk_step *steps;
	size_t n, at;		 /* at: the next to happen */
	struct decisions prefix; /* to run with */
	VEC(uint64_t) passed;	 /* steps at which the wanted thread could not run */
};

static bool is_wanted(const struct walk_step *w, const struct plait_choice *c)
{
	if (w->thread != c->thread)
		return false;
	return w->site ? w->site == c->site &&
				 (plait_is_access(c->kind) || c->kind == PLAIT_EV_FENCE)
		       : w->kind == c->kind ||
				 (w->kind == PLAIT_EV_ONCE_BEGIN && c->kind == PLAIT_EV_ONCE_PASS);
}

/* Keep what was decided before this step, and add this. */
static void decide(struct walker *w, const struct run_result *r, uint64_t step, uint32_t kind,
		   uint32_t value, bool after_switch)
{
	const struct decisions *d = &r->schedule.decisions;

	vec_clear(&w->prefix);
	for (size_t i = 0; i < d->len; i++)
		if (d->data[i].step < step ||
		    (after_switch && d->data[i].step == step && d->data[i].kind != DECISION_CHOICE))
			vec_push(&w->prefix, d->data[i]);
	vec_push(&w->prefix, ((struct decision){ .step = step, .kind = kind, .value = value }));
}

/* Has this thread been born by the choice at i? Then it was a candidate there or before. */
static bool is_born(const struct run_result *r, size_t i, uint32_t thread)
{
	size_t end = i + 1;

	while (end < r->nchoices &&
	       !(r->choices[end].flags & (PLAIT_CHOICE_CHOSEN | PLAIT_CHOICE_EXECUTED)))
		end++;
	for (size_t k = end; k-- > 0;)
		if (!(r->choices[k].flags & PLAIT_CHOICE_ALTERNATIVE) &&
		    r->choices[k].thread == thread)
			return true;
	return false;
}

/* The wanted thread waits for what the other one is about to do, of which the schedule knows
 * nothing: let it. */
static void pass_on(struct walker *w)
{
	vec_push(&w->passed, vec_last(&w->prefix)->step);
	w->prefix.len--;
}

static bool is_passed(const struct walker *w, uint64_t step)
{
	for (size_t i = 0; i < w->passed.len; i++)
		if (w->passed.data[i] == step)
			return true;
	return false;
}

/* Go through the run's choices. True when a decision has to be added. */
static bool compare(struct walker *w, const struct run_result *r)
{
	w->at = 0;
	for (size_t i = 0; i < r->nchoices && w->at < w->n; i++) {
		const struct plait_choice *c = &r->choices[i];
		const struct walk_step *want = &w->steps[w->at];

		if (!(c->flags & PLAIT_CHOICE_CHOSEN))
			continue;
		if (c->flags & PLAIT_CHOICE_ALTERNATIVE) {
			const struct walk_step *last = w->at ? want - 1 : NULL;

			if (last && last->nchoices > 1 && c->thread != last->choice) {
				decide(w, r, c->step, DECISION_CHOICE, last->choice, true);
				return true;
			}
			continue;
		}
		if (c->thread != want->thread) {
			if (!is_born(r, i, want->thread) || is_passed(w, c->step))
				continue; /* not born: its parent is alone for now */
			log_debug(2, "step %llu: not %u but %u (kind %u, site %u), number %zu",
				  (unsigned long long)c->step, c->thread, want->thread, want->kind,
				  want->site, w->at);
			decide(w, r, c->step, DECISION_SWITCH, want->thread, false);
			return true;
		}
		w->at += is_wanted(want, c);
	}
	return false;
}

struct err *walk_run(struct session *s, const struct walk_step *steps, size_t n,
		     struct run_result *ret, bool *followed)
{
	struct walker w = { .steps = steps, .n = n };
	struct run_request req = { .strategy = PLAIT_STRATEGY_STAY,
				   .points = PLAIT_POINTS_ALL,
				   .flags = PLAIT_CONTROL_LOG | PLAIT_CONTROL_PREFIX };
	/* one that goes astray behind the decisions need not go on for long */
	uint64_t enough = 16 * (uint64_t)n + 10000;
	struct err *err = NULL;
	size_t best = 0, tries = 0;
	bool more = true;

	*followed = false;
	while (!err && more && tries < 4 * n + 16) {
		req.decisions = w.prefix.data;
		req.ndecisions = w.prefix.len;
		req.event_budget = enough;
		err = session_run(s, &req, ret);
		if (err)
			break;
		tries++;
		more = ret->diverged ? w.prefix.len > 0 : compare(&w, ret);
		if (ret->diverged && more)
			pass_on(&w);
		if (!more && ret->end == PLAIT_END_BUDGET) {
			req.event_budget = 0;
			err = session_run(s, &req, ret);
		}
		best = MAX(best, w.at);
	}
	*followed = !err && !ret->diverged && w.at == n;
	log_debug(1, "%zu of %zu operations as asked, %zu runs%s%s", best, n, tries,
		  ret->text ? ": " : "", ret->text ? ret->text : "");
	vec_deinit(&w.prefix);
	vec_deinit(&w.passed);
	return err;
}

void proposals_deinit(struct proposals *p)
{
	for (size_t i = 0; i < p->failing.len; i++)
		free(p->failing.data[i].steps);
	vec_deinit(&p->failing);
	memset(p, 0, sizeof(*p));
}
