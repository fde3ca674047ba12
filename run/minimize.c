/* run/minimize.c - fewer context switches, same failure, by native runs (the goal of 000
 * section 4.1.7).
 *
 * A schedule is seen as segments: a thread and how many events it executes before another goes on.
 *
 * 1. Shorten. Keep the first k decisions and let the running thread go on wherever it can after
 * them. If that still fails the same way, the rest of the schedule did not matter: the run's own
 * decisions, few as they are, replace it. The smallest such k is searched by halving, then from
 * below.
 * 2. Merge. Take two segments of one thread and bring them together, the later one forward or the
 *    earlier one back, last pairs first. A run that diverges or does not fail the same way is
 *    discarded; one that does with fewer switches becomes the new schedule.
 *
 * Until nothing helps any more, or the runs are used up. */
#include "run/run.h"

#include "base/err.h"
#include "base/log.h"

#include <string.h>

/* One thread's turn, with the decisions that are not switches, at their offsets into it. */
struct segment {
	uint32_t thread;
	uint64_t length;
	size_t first, count; /* into segments.others; their step is the offset in the turn */
};

struct segments {
	VEC(struct segment) turns;
	struct decisions others;
};

static void segments_deinit(struct segments *s)
{
	vec_deinit(&s->turns);
	vec_deinit(&s->others);
}

static void split(const struct schedule *schedule, struct segments *ret)
{
	uint64_t start = 0;

	vec_push(&ret->turns, (struct segment){ 0 });
	for (size_t i = 0; i < schedule->decisions.len; i++) {
		struct decision d = schedule->decisions.data[i];
		struct segment *turn = vec_last(&ret->turns);

		if (d.kind == DECISION_SWITCH) {
			turn->length = d.step - start;
			start = d.step;
			vec_push(&ret->turns,
				 (struct segment){ .thread = d.value, .first = ret->others.len });
			continue;
		}
		d.step -= start;
		vec_push(&ret->others, d);
		turn->count++;
	}
	vec_last(&ret->turns)->length = schedule->steps > start ? schedule->steps - start : 0;
}

/* Back to decisions, turns in the given order; adjacent turns of one thread need no switch. */
static void join(const struct segments *s, const size_t *order, size_t n, struct decisions *ret)
{
	uint64_t step = 0;

	vec_clear(ret);
	for (size_t i = 0; i < n; i++) {
		const struct segment *turn = &s->turns.data[order[i]];

		if (i && turn->thread != s->turns.data[order[i - 1]].thread)
			vec_push(ret, (struct decision){ step, DECISION_SWITCH, turn->thread });
		for (size_t k = 0; k < turn->count; k++) {
			struct decision d = s->others.data[turn->first + k];

			d.step += step;
			vec_push(ret, d);
		}
		step += turn->length;
	}
}

struct search {
	struct session *session;
	uint64_t signature, runs, max_runs;
	struct run_result best;
};

/* Run with these decisions; keep it if it fails the same way with fewer switches. */
static struct err *attempt(struct search *s, const struct decision *decisions, size_t n,
			   bool *better)
{
	struct run_request req = {
		.strategy = PLAIT_STRATEGY_STAY,
		.points = PLAIT_POINTS_ALL,
		.flags = s->best.schedule.flags | PLAIT_CONTROL_PREFIX,
		.decisions = decisions,
		.ndecisions = n,
	};
	struct run_result r = { 0 };
	struct err *err = session_run(s->session, &req, &r);

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

		err = attempt(s, original.data, mid, &better);
		if (better)
			high = mid;
		else
			low = mid + 1;
	}
	for (size_t k = 0; k < high && k < 8 && !err && !used_up(s); k++) {
		err = attempt(s, original.data, k, &better);
		if (better)
			break;
	}
	vec_deinit(&original);
	return err;
}

/* The order of turns with turn `from` moved directly before or after turn `to`. */
static void move_turn(size_t *order, size_t n, size_t from, size_t to)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (from > to && i == to + 1)
			order[k++] = from;
		if (from < to && i == to)
			order[k++] = from;
		if (i != from)
			order[k++] = i;
	}
}

/* One pass over pairs of neighbouring turns of the same thread; stops at the first success. */
static struct err *merge_once(struct search *s, bool *merged)
{
	struct segments segments = { 0 };
	struct decisions candidate = { 0 };
	size_t *order, n;
	struct err *err = NULL;

	*merged = false;
	split(&s->best.schedule, &segments);
	n = segments.turns.len;
	order = xmalloc(n * sizeof(*order));
	for (size_t late = n; late-- > 1 && !*merged && !err && !used_up(s);) {
		size_t early = late;

		while (early-- > 0 &&
		       segments.turns.data[early].thread != segments.turns.data[late].thread)
			;
		if (early == SIZE_MAX)
			continue;
		move_turn(order, n, late, early);
		join(&segments, order, n, &candidate);
		err = attempt(s, candidate.data, candidate.len, merged);
		if (err || *merged || used_up(s))
			break;
		move_turn(order, n, early, late);
		join(&segments, order, n, &candidate);
		err = attempt(s, candidate.data, candidate.len, merged);
	}
	free(order);
	vec_deinit(&candidate);
	segments_deinit(&segments);
	return err;
}

struct err *minimize_run(struct session *session, const struct run_result *failing,
			 uint64_t max_runs, struct run_result *ret, uint64_t *runs)
{
	struct search s = { .session = session,
			    .signature = run_signature(failing),
			    .max_runs = max_runs };
	struct run_request same = { .strategy = PLAIT_STRATEGY_REPLAY,
				    .points = PLAIT_POINTS_ALL,
				    .flags = failing->schedule.flags,
				    .decisions = failing->schedule.decisions.data,
				    .ndecisions = failing->schedule.decisions.len };
	struct err *err = session_run(session, &same, &s.best);
	bool merged = true;

	if (!err && (s.best.diverged || !run_failed(&s.best)))
		err = err_new(ERR_INCONCLUSIVE, "the schedule does not fail when it is replayed");
	s.best.schedule.flags = failing->schedule.flags;
	if (!err)
		err = shorten(&s);
	while (!err && merged && !used_up(&s))
		err = merge_once(&s, &merged);
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
