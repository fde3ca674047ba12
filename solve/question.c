#define LOG_DOMAIN "explain"
#include "solve/question.h"

#include "base/err.h"
#include "base/log.h"
#include "trace/trace.h"

#include <string.h>

enum { REDUCE_SECONDS = 5, ALTERNATES = 4, ENDINGS = 8, DECISIONS = 8, CHOICES = 16 };

static struct order_budget budget_of(const struct question *q)
{
	return (struct order_budget){ .seconds = q->options.seconds > 0 ? q->options.seconds : 30,
				      .seed = q->options.seed };
}

static struct err *load(struct question *q, unsigned skip)
{
	struct load_options load = { .seconds = q->options.seconds, .skip = skip };
	double start = clock_seconds();
	struct err *err = load_recording(q->trace, &load, &q->loaded);

	q->seconds_trace += clock_seconds() - start;
	return err;
}

struct err *question_open(struct trace *trace, struct session *session,
			  const struct question_options *options, struct question *ret)
{
	*ret = (struct question){ .options = *options,
				  .trace = trace,
				  .session = session,
				  .recorded = trace_meta(trace)->outcome.kind,
				  .flipped = { ORDER_NONE, ORDER_NONE } };
	return load(ret, 0);
}

static void answer_deinit(struct question_answer *a)
{
	free(a->order);
	realized_deinit(&a->native);
}

void question_close(struct question *q)
{
	answer_deinit(&q->failing);
	answer_deinit(&q->passing);
	order_core_deinit(&q->core);
	loaded_deinit(&q->loaded);
	*q = (struct question){ 0 };
}

/* ---- natively ---- */

/* Is this the failure that was recorded? A deadlock was recorded as a run that did not end. */
static bool is_recorded(const struct question *q, const struct run_result *r)
{
	if (!run_failed(r))
		return false;
	if (q->recorded == PLAIT_OUTCOME_HANG)
		return r->outcome == PLAIT_OUTCOME_DEADLOCK || r->outcome == PLAIT_OUTCOME_HANG;
	return r->outcome == q->recorded || q->recorded == PLAIT_OUTCOME_PASS;
}

/* What the order leaves open, the rest of the run, can go well or not: a few ways are tried. First
 * behind the whole order, then, as what others do behind the failing thread's last step is not what
 * was asked for, behind that. */
static struct err *confirm_order(struct question *q, const struct order_built *built,
				 struct question_answer *a, bool fails)
{
	static const uint32_t strategy[] = { PLAIT_STRATEGY_FOLLOW, PLAIT_STRATEGY_FAIR,
					     PLAIT_STRATEGY_RANDOM };
	double start = clock_seconds();
	struct err *err = NULL;

	for (unsigned i = 0; i < 2 * ENDINGS && !a->confirmed && !err && q->session; i++) {
		struct realize_end end = {
			.last = fails || i >= ENDINGS ? q->loaded.failing : ORDER_NONE,
			.strategy = strategy[MIN(i % ENDINGS, 2)],
			.seed = i % ENDINGS,
		};

		realized_deinit(&a->native);
		err = realize(q->session, built, a->order, a->len, &end, &a->native);
		a->confirmed = !err && (fails ? is_recorded(q, &a->native.run)
					      : a->native.run.outcome == PLAIT_OUTCOME_PASS);
		if (fails && a->native.followed)
			break;
		if (!fails && i < ENDINGS && !a->native.followed)
			i = ENDINGS - 1; /* what comes behind it matters little */
	}
	a->seconds_native += clock_seconds() - start;
	return err;
}

/* ---- failing ---- */

static struct err *reduce(struct question *q, struct question_answer *a, enum order_want want,
			  const struct order_model *m)
{
	size_t tried;
	struct err *err = NULL;

	a->switches_found = order_count_switches(m, a->order, a->len);
	if (!q->options.keep_switches)
		err = order_reduce_switches(m, want, a->order, a->len,
					    MIN(budget_of(q).seconds, REDUCE_SECONDS), &tried);
	a->switches = order_count_switches(m, a->order, a->len);
	return err;
}

static struct err *solve(struct question *q, const struct order_model *m, enum order_want want,
			 struct question_answer *a)
{
	struct order_budget budget = budget_of(q);
	double start = clock_seconds();
	struct order_answer answer;
	struct err *err = order_solve(m, want, &budget, &answer);

	if (err)
		return err;
	a->status = answer.status;
	a->stats = answer.stats;
	a->order = answer.order;
	a->len = answer.len;
	answer.order = NULL;
	order_answer_deinit(&answer);
	if (a->status == ORDER_SAT)
		err = reduce(q, a, want, m);
	a->seconds_solve = clock_seconds() - start;
	return err;
}

static struct err *fail_once(struct question *q)
{
	struct err *err = solve(q, q->loaded.built.m, ORDER_FAIL, &q->failing);

	if (!err && q->failing.status == ORDER_SAT)
		err = confirm_order(q, &q->loaded.built, &q->failing, true);
	return err;
}

/* Is there another place where the threads of a deadlock may have waited? Then take that. */
static struct err *choose_again(struct question *q, unsigned skip, bool *ret)
{
	struct loaded before = q->loaded;
	struct err *err;

	q->loaded = (struct loaded){ 0 };
	err = load(q, skip);
	*ret = !err && q->loaded.stuck && !q->loaded.unsupported;
	if (!*ret) { /* the answer so far stays */
		loaded_deinit(&q->loaded);
		q->loaded = before;
		return err;
	}
	loaded_deinit(&before);
	answer_deinit(&q->failing);
	q->failing = (struct question_answer){ 0 };
	return NULL;
}

struct err *question_fail(struct question *q)
{
	struct err *err = fail_once(q);
	bool more = q->loaded.stuck;

	for (unsigned skip = 1; skip < CHOICES && more && !err; skip++) {
		bool good = q->failing.status == ORDER_SAT && (q->failing.confirmed || !q->session);

		if (good || q->failing.status == ORDER_UNKNOWN)
			break;
		err = choose_again(q, skip, &more);
		if (!err && more)
			err = fail_once(q);
	}
	return err;
}

/* ---- passing ---- */

/* Others do not know the events of a model that was made for one question. */
static void keep_events(struct question_answer *a, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->len; i++)
		if (a->order[i] < n)
			a->order[kept++] = a->order[i];
	a->len = kept;
}

struct stops VEC_FIELDS(uint32_t);

static bool can_stop(uint8_t kind)
{
	return kind == ORDER_LOCK || kind == ORDER_LOCK_BLOCKED || kind == ORDER_WAIT ||
	       kind == ORDER_SIGNAL || kind == ORDER_BROADCAST;
}

/* The events of the failing order that may stop somebody; what is waited for comes last. */
static void list_stops(const struct question *q, const struct order_model *m, struct stops *ret)
{
	for (int blocked = 0; blocked < 2; blocked++)
		for (size_t i = 0; i < q->failing.len; i++) {
			uint8_t kind = m->events.data[q->failing.order[i]].kind;

			if (can_stop(kind) && (kind == ORDER_LOCK_BLOCKED) == blocked)
				vec_push(ret, q->failing.order[i]);
		}
}

/* Which pair does the way out of a deadlock turn round? The last two events of the failing order
 * that are about one lock or condition variable and stand the other way in the passing one. */
static void find_flipped(struct question *q, const struct order_model *m)
{
	const struct order_event *e = m->events.data;
	size_t *at = xcalloc(m->events.len + 1, sizeof(*at));
	struct stops stops = { 0 };
	bool found = false;

	list_stops(q, m, &stops);
	for (size_t i = 0; i < q->passing.len; i++)
		at[q->passing.order[i]] = i;
	for (size_t i = stops.len; i-- > 0 && !found;)
		for (size_t k = i; k-- > 0 && !found;) {
			uint32_t x = stops.data[k], y = stops.data[i];

			found = e[x].object == e[y].object && e[x].thread != e[y].thread &&
				at[y] < at[x];
			if (found)
				q->flipped = (struct order_edge){ x, y };
		}
	q->pairs_tried += found;
	vec_deinit(&stops);
	free(at);
}

static struct err *pass_deadlock(struct question *q)
{
	struct order_built way_out = q->loaded.built;
	size_t n = q->loaded.built.m->events.len;
	struct err *err;

	way_out.m = order_model_unblocked(q->loaded.built.m);
	way_out.step = xcalloc(way_out.m->events.len + 1, sizeof(*way_out.step));
	memcpy(way_out.step, q->loaded.built.step, n * sizeof(*way_out.step));
	for (size_t i = n; i < way_out.m->events.len; i++)
		way_out.step[i] = way_out.nsteps[way_out.m->events.data[i].thread];
	err = solve(q, way_out.m, ORDER_ANY, &q->passing);
	if (!err && q->passing.status == ORDER_SAT)
		err = confirm_order(q, &way_out, &q->passing, false);
	keep_events(&q->passing, n);
	if (!err && q->passing.confirmed && q->failing.status == ORDER_SAT)
		find_flipped(q, q->loaded.built.m);
	order_model_free(way_out.m);
	free(way_out.step);
	return err;
}

static struct err *find_core(struct question *q, const struct order_model *m)
{
	struct order_budget budget = budget_of(q);
	double start = clock_seconds();
	struct err *err;

	order_core_deinit(&q->core);
	err = order_core(m, ORDER_PASS, q->failing.order, q->failing.len, true, &budget, &q->core);
	q->seconds_core += clock_seconds() - start;
	return err;
}

static bool both_happened(const struct question *q, struct order_edge pair)
{
	const uint64_t *clock = q->failing.native.clock;

	return clock && clock[pair.before] && clock[pair.after];
}

static struct err *flip(struct question *q, const struct order_built *built)
{
	const struct order_model *m = built->m;
	struct order_budget budget = budget_of(q);
	double start = clock_seconds();
	struct order_alternates found;
	struct question_answer *a = &q->passing;
	struct err *err = order_alternates(m, ORDER_PASS, q->failing.order, q->failing.len,
					   &q->core, ALTERNATES, &budget, &found);

	if (err)
		return err;
	a->seconds_solve += clock_seconds() - start;
	a->stats = found.stats;
	a->status = found.found.len ? ORDER_SAT : found.complete ? ORDER_UNSAT : ORDER_UNKNOWN;
	q->pairs_tried += found.pairs_tried;
	for (size_t i = 0; i < 2 * found.found.len && !a->confirmed && !err; i++) {
		struct order_alternate *x = &found.found.data[i % found.found.len];

		/* first those that invert two steps which the failing run has */
		if (!x->order || (i < found.found.len && !both_happened(q, x->flipped)))
			continue;
		free(a->order);
		a->order = x->order;
		a->len = x->len;
		x->order = NULL;
		a->switches_found = a->switches = order_count_switches(m, a->order, a->len);
		q->flipped = x->flipped;
		err = confirm_order(q, built, a, false);
	}
	order_alternates_deinit(&found);
	return err;
}

/* Why does it fail, and how not? */
static struct err *turn_round(struct question *q, const struct order_built *built)
{
	struct err *err = find_core(q, built->m);

	return err ? err : flip(q, built);
}

/* The recorded paths do not go well in any order that was tried: the failing thread leaves its own.
 */
static struct err *leave_path(struct question *q)
{
	const struct order_model *m = q->loaded.built.m;
	struct order_decisions decisions;
	struct err *err = NULL;

	order_decisions(m, q->loaded.failing, &decisions);
	for (size_t i = 0; i < MIN(decisions.len, DECISIONS) && !err && !q->passing.confirmed;
	     i++) {
		struct order_built other = q->loaded.built;

		other.m = order_model_cut(m, q->loaded.failing, &decisions.data[i]);
		if (!other.m)
			break;
		if (order_validate(other.m, ORDER_FAIL, q->failing.order, q->failing.len, NULL,
				   NULL))
			err = turn_round(q, &other);
		log_debug(1, "decision %zu of %zu, at step %u of the thread: %d, core of %zu edges",
			  i, decisions.len, decisions.data[i].index, (int)q->passing.status,
			  q->core.edges.len);
		order_model_free(other.m);
	}
	q->left_path = q->passing.confirmed;
	vec_deinit(&decisions);
	return err;
}

struct err *question_pass(struct question *q)
{
	const struct order_model *m = q->loaded.built.m;
	struct err *err;

	if (m->failure == TERM_NONE && q->recorded != PLAIT_OUTCOME_PASS)
		return pass_deadlock(q);
	if (q->failing.status == ORDER_SAT) {
		err = turn_round(q, &q->loaded.built);
		if (!err && !q->passing.confirmed && q->session && q->loaded.failing != ORDER_NONE)
			err = leave_path(q);
		return err;
	}
	err = solve(q, m, m->failure == TERM_NONE ? ORDER_ANY : ORDER_PASS, &q->passing);
	if (!err && q->passing.status == ORDER_SAT)
		err = confirm_order(q, &q->loaded.built, &q->passing, false);
	return err;
}
