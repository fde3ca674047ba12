/* run/minimize.c - fewer context switches, same failure, by native runs (the goal of 000
 * section 4.1.7).
 *
 * 1. Shorten. Keep the first k decisions and let the running thread go on wherever it can after
 * them. If that still fails the same way, the rest of the schedule did not matter: the run's own
 * decisions, few as they are, replace it. The smallest such k is searched by halving, then from
 * below.
 * 2. Thin out. Seen as turns (turns.c), a schedule can lose some: what a thread would have done in
 * them it does in its next one. Half of the turns at a time, then a quarter, down to single ones.
 * 3. Pull forward. A turn of a thread is done together with the one before it.
 *
 * A run that fails the same way with fewer switches becomes the new schedule; until nothing helps
 * any more, or the runs are used up. */
#include "run/run.h"

#include "base/err.h"
#include "base/log.h"

#include <string.h>

struct search {
	struct session *session;
	uint64_t signature, runs, max_runs;
	struct run_result best;
};

/* Run it; keep it if it fails the same way with fewer switches. */
static struct err *attempt(struct search *s, const struct run_request *request, bool *better)
{
	struct run_result r = { 0 };
	struct err *err = session_run(s->session, request, &r);

	*better = false;
	s->runs++;
	progress("minimizing: %llu runs, %zu switches left", (unsigned long long)s->runs,
		 schedule_switches(&s->best.schedule));
	if (!err && !r.diverged && run_failed(&r) && run_signature(&r) == s->signature &&
	    schedule_switches(&r.schedule) < schedule_switches(&s->best.schedule)) {
		r.schedule.flags = s->best.schedule.flags;
		run_result_deinit(&s->best);
		s->best = r;
		*better = true;
		return NULL;
	}
	run_result_deinit(&r);
	return err;
}

static struct err *attempt_prefix(struct search *s, const struct decision *decisions, size_t n,
				  bool *better)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_STAY,
				   .points = PLAIT_POINTS_ALL,
				   .flags = s->best.schedule.flags | PLAIT_CONTROL_PREFIX,
				   .decisions = decisions,
				   .ndecisions = n };

	return attempt(s, &req, better);
}

static struct err *attempt_turns(struct search *s, struct turns *turns, bool *better)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_FOLLOW,
				   .points = PLAIT_POINTS_ALL,
				   .flags = s->best.schedule.flags | PLAIT_CONTROL_EAGER };

	turns_link(turns);
	req.turns = turns->data;
	req.nturns = turns->len;
	return attempt(s, &req, better);
}

static bool used_up(const struct search *s)
{
	return s->runs >= s->max_runs;
}

/* The shortest prefix that is enough; failing is not monotonic in it, so a few short ones are tried
 * too. */
static struct err *shorten(struct search *s)
{
	struct decisions original = { 0 };
	size_t low = 0, high = s->best.schedule.decisions.len;
	struct err *err = NULL;
	bool better;

	for (size_t i = 0; i < high; i++)
		vec_push(&original, s->best.schedule.decisions.data[i]);
	while (low < high && !err && !used_up(s)) {
		size_t mid = (low + high) / 2;

		err = attempt_prefix(s, original.data, mid, &better);
		if (better)
			high = mid;
		else
			low = mid + 1;
	}
	for (size_t k = 0; k < high && k < 8 && !err && !used_up(s); k++) {
		err = attempt_prefix(s, original.data, k, &better);
		if (better)
			break;
	}
	vec_deinit(&original);
	return err;
}

/* Choices among waiters are entries of a list of turns that stay where they are. */
static bool is_choice(const struct plait_turn *t)
{
	return t->thread == PLAIT_ANY;
}

/* All turns but n from the `from`-th on. */
static void without(const struct turns *all, size_t from, size_t n, struct turns *ret)
{
	vec_clear(ret);
	for (size_t i = 0; i < all->len; i++)
		if (i < from || i >= from + n || is_choice(&all->data[i]))
			vec_push(ret, all->data[i]);
}

/* All turns, the thread's next one done together with the `at`-th; false: there is none. */
static bool pulled(const struct turns *all, size_t at, struct turns *ret)
{
	size_t next = at + 1;

	while (next < all->len && all->data[next].thread != all->data[at].thread)
		next++;
	if (is_choice(&all->data[at]) || next >= all->len)
		return false;
	without(all, next, 1, ret);
	ret->data[at].upto = all->data[next].upto;
	return true;
}

static void turns_of_best(const struct search *s, struct turns *ret)
{
	vec_deinit(ret);
	schedule_turns(&s->best.schedule, ret);
}

static struct err *thin_out(struct search *s)
{
	struct turns all = { 0 }, candidate = { 0 };
	struct err *err = NULL;
	bool better;

	turns_of_best(s, &all);
	for (size_t size = MAX(all.len / 2, 1); size && !err; size /= 2)
		for (size_t end = all.len; end && !err && !used_up(s);) {
			size_t from = end > size ? end - size : 0;

			without(&all, from, end - from, &candidate);
			err = attempt_turns(s, &candidate, &better);
			if (!err && better)
				turns_of_best(s, &all);
			end = MIN(from, all.len);
		}
	vec_deinit(&all);
	vec_deinit(&candidate);
	return err;
}

static struct err *pull_forward(struct search *s)
{
	struct turns all = { 0 }, candidate = { 0 };
	struct err *err = NULL;
	bool better;

	turns_of_best(s, &all);
	for (size_t at = all.len; at-- > 0 && !err && !used_up(s);) {
		if (at >= all.len || !pulled(&all, at, &candidate))
			continue;
		err = attempt_turns(s, &candidate, &better);
		if (!err && better)
			turns_of_best(s, &all);
	}
	vec_deinit(&all);
	vec_deinit(&candidate);
	return err;
}

struct err *minimize_run(struct session *session, const struct run_result *failing,
			 uint64_t max_runs, struct run_result *ret, uint64_t *runs)
{
	struct search s = { .session = session,
			    .signature = run_signature(failing),
			    .max_runs = max_runs };
	struct run_request same = schedule_request(&failing->schedule);
	size_t before = SIZE_MAX;
	struct err *err;

	assert(run_failed(failing));
	same.points = PLAIT_POINTS_ALL;
	err = session_run(session, &same, &s.best);
	if (!err && (s.best.diverged || !run_failed(&s.best)))
		err = err_new(ERR_INCONCLUSIVE, "the schedule does not fail when it is replayed");
	s.best.schedule.flags = failing->schedule.flags;
	if (!err)
		err = shorten(&s);
	while (!err && schedule_switches(&s.best.schedule) < before && !used_up(&s)) {
		before = schedule_switches(&s.best.schedule);
		err = thin_out(&s);
		if (!err)
			err = pull_forward(&s);
	}
	progress_done();
	if (err) {
		run_result_deinit(&s.best);
		return err;
	}
	run_result_deinit(ret);
	*ret = s.best;
	*runs = s.runs;
	return NULL;
}
