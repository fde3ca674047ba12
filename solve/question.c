#define LOG_DOMAIN "explain"
#include "solve/question.h"

#include "base/err.h"
#include "base/log.h"
#include "trace/trace.h"

#include <string.h>

enum { REDUCE_SECONDS = 5, ALTERNATES = 4, ENDINGS = 8, DECISIONS = 8, CHOICES = 16 };

static struct order_budget budget_of(const struct constraints *c)
{
	return (struct order_budget){ .seconds = c->options.seconds > 0 ? c->options.seconds : 30,
				      .seed = c->options.seed };
}

static struct err *load(struct constraints *c, unsigned skip)
{
	struct order_load_options load = { .seconds = c->options.seconds, .skip = skip };
	double start = clock_seconds();
	struct err *err = order_load(c->trace, &load, &c->loaded);

	c->seconds_trace += clock_seconds() - start;
	return err;
}

struct err *constraints_open(struct trace *trace, struct session *session,
			     const struct constraints_options *options, struct constraints *ret)
{
	*ret = (struct constraints){ .options = *options,
				     .trace = trace,
				     .session = session,
				     .recorded = trace_meta(trace)->outcome.kind,
				     .flipped = { ORDER_NONE, ORDER_NONE } };
	return load(ret, 0);
}

static void answer_deinit(struct constraints_answer *a)
{
	free(a->order);
	realized_deinit(&a->native);
}

void constraints_close(struct constraints *c)
{
	answer_deinit(&c->failing);
	answer_deinit(&c->passing);
	order_core_deinit(&c->core);
	order_loaded_deinit(&c->loaded);
	*c = (struct constraints){ 0 };
}

/* ---- natively ---- */

/* Is this the failure that was recorded? A deadlock was recorded as a run that did not end. */
static bool is_recorded(const struct constraints *c, const struct run_result *r)
{
	if (!run_failed(r))
		return false;
	if (c->recorded == PLAIT_OUTCOME_HANG)
		return r->outcome == PLAIT_OUTCOME_DEADLOCK || r->outcome == PLAIT_OUTCOME_HANG;
	return r->outcome == c->recorded || c->recorded == PLAIT_OUTCOME_PASS;
}

/* What the order leaves open, the rest of the run, can go well or not: a few ways are tried. First
 * behind the whole order, then, as what others do behind the failing thread's last step is not what
 * was asked for, behind that. */
static struct err *carry_out(struct constraints *c, const struct order_built *built,
			     struct constraints_answer *a, bool fails)
{
	static const uint32_t strategy[] = { PLAIT_STRATEGY_FOLLOW, PLAIT_STRATEGY_FAIR,
					     PLAIT_STRATEGY_RANDOM };
	double start = clock_seconds();
	struct err *err = NULL;

	for (unsigned i = 0; i < 2 * ENDINGS && !a->confirmed && !err && c->session; i++) {
		struct realize_end end = {
			.last = fails || i >= ENDINGS ? c->loaded.failing : ORDER_NONE,
			.strategy = strategy[MIN(i % ENDINGS, 2)],
			.seed = i % ENDINGS,
		};

		realized_deinit(&a->native);
		err = realize(c->session, built, a->order, a->len, &end, &a->native);
		a->confirmed = !err && (fails ? is_recorded(c, &a->native.run)
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

static struct err *reduce(struct constraints *c, struct constraints_answer *a, enum order_want want,
			  const struct order_model *m)
{
	size_t tried;
	struct err *err = NULL;

	a->switches_found = order_count_switches(m, a->order, a->len);
	if (!c->options.keep_switches)
		err = order_reduce_switches(m, want, a->order, a->len,
					    MIN(budget_of(c).seconds, REDUCE_SECONDS), &tried);
	a->switches = order_count_switches(m, a->order, a->len);
	return err;
}

static struct err *solve(struct constraints *c, const struct order_model *m, enum order_want want,
			 struct constraints_answer *a)
{
	struct order_budget budget = budget_of(c);
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
		err = reduce(c, a, want, m);
	a->seconds_solve = clock_seconds() - start;
	return err;
}

static struct err *fail_once(struct constraints *c)
{
	struct err *err = solve(c, c->loaded.built.m, ORDER_FAIL, &c->failing);

	if (!err && c->failing.status == ORDER_SAT)
		err = carry_out(c, &c->loaded.built, &c->failing, true);
	return err;
}

/* Is there another place where the threads of a deadlock may have waited? Then take that. */
static struct err *choose_again(struct constraints *c, unsigned skip, bool *ret)
{
	struct order_loaded before = c->loaded;
	struct err *err;

	c->loaded = (struct order_loaded){ 0 };
	err = load(c, skip);
	*ret = !err && c->loaded.stuck && !c->loaded.unsupported;
	if (!*ret) { /* the answer so far stays */
		order_loaded_deinit(&c->loaded);
		c->loaded = before;
		return err;
	}
	order_loaded_deinit(&before);
	answer_deinit(&c->failing);
	c->failing = (struct constraints_answer){ 0 };
	return NULL;
}

struct err *constraints_fail(struct constraints *c)
{
	struct err *err = fail_once(c);
	bool more = c->loaded.stuck;

	for (unsigned skip = 1; skip < CHOICES && more && !err; skip++) {
		bool good = c->failing.status == ORDER_SAT && (c->failing.confirmed || !c->session);

		if (good || c->failing.status == ORDER_UNKNOWN)
			break;
		err = choose_again(c, skip, &more);
		if (!err && more)
			err = fail_once(c);
	}
	return err;
}

/* ---- passing ---- */

/* Others do not know the events of a model that was made for one question. */
static void keep_events(struct constraints_answer *a, size_t n)
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
static void list_stops(const struct constraints *c, const struct order_model *m, struct stops *ret)
{
	for (int blocked = 0; blocked < 2; blocked++)
		for (size_t i = 0; i < c->failing.len; i++) {
			uint8_t kind = m->events.data[c->failing.order[i]].kind;

			if (can_stop(kind) && (kind == ORDER_LOCK_BLOCKED) == blocked)
				vec_push(ret, c->failing.order[i]);
		}
}

/* Which pair does the way out of a deadlock turn round? The last two events of the failing order
 * that are about one lock or condition variable and stand the other way in the passing one. */
static void find_flipped(struct constraints *c, const struct order_model *m)
{
	const struct order_event *e = m->events.data;
	size_t *at = xcalloc(m->events.len + 1, sizeof(*at));
	struct stops stops = { 0 };
	bool found = false;

	list_stops(c, m, &stops);
	for (size_t i = 0; i < c->passing.len; i++)
		at[c->passing.order[i]] = i;
	for (size_t i = stops.len; i-- > 0 && !found;)
		for (size_t k = i; k-- > 0 && !found;) {
			uint32_t x = stops.data[k], y = stops.data[i];

			found = e[x].object == e[y].object && e[x].thread != e[y].thread &&
				at[y] < at[x];
			if (found)
				c->flipped = (struct order_edge){ x, y };
		}
	c->pairs_tried += found;
	vec_deinit(&stops);
	free(at);
}

static struct err *pass_deadlock(struct constraints *c)
{
	struct order_built way_out = c->loaded.built;
	size_t n = c->loaded.built.m->events.len;
	struct err *err;

	way_out.m = order_model_unblocked(c->loaded.built.m);
	way_out.step = xcalloc(way_out.m->events.len + 1, sizeof(*way_out.step));
	memcpy(way_out.step, c->loaded.built.step, n * sizeof(*way_out.step));
	for (size_t i = n; i < way_out.m->events.len; i++)
		way_out.step[i] = way_out.nsteps[way_out.m->events.data[i].thread];
	err = solve(c, way_out.m, ORDER_ANY, &c->passing);
	if (!err && c->passing.status == ORDER_SAT)
		err = carry_out(c, &way_out, &c->passing, false);
	keep_events(&c->passing, n);
	if (!err && c->passing.confirmed && c->failing.status == ORDER_SAT)
		find_flipped(c, c->loaded.built.m);
	order_model_free(way_out.m);
	free(way_out.step);
	return err;
}

static struct err *find_core(struct constraints *c, const struct order_model *m)
{
	struct order_budget budget = budget_of(c);
	double start = clock_seconds();
	struct err *err;

	order_core_deinit(&c->core);
	err = order_core(m, ORDER_PASS, c->failing.order, c->failing.len, true, &budget, &c->core);
	c->seconds_core += clock_seconds() - start;
	return err;
}

static bool both_happened(const struct constraints *c, struct order_edge pair)
{
	const uint64_t *clock = c->failing.native.clock;

	return clock && clock[pair.before] && clock[pair.after];
}

static struct err *flip(struct constraints *c, const struct order_built *built)
{
	const struct order_model *m = built->m;
	struct order_budget budget = budget_of(c);
	double start = clock_seconds();
	struct order_alternates found;
	struct constraints_answer *a = &c->passing;
	struct err *err = order_alternates(m, ORDER_PASS, c->failing.order, c->failing.len,
					   &c->core, ALTERNATES, &budget, &found);

	if (err)
		return err;
	a->seconds_solve += clock_seconds() - start;
	a->stats = found.stats;
	a->status = found.found.len ? ORDER_SAT : found.complete ? ORDER_UNSAT : ORDER_UNKNOWN;
	c->pairs_tried += found.pairs_tried;
	for (size_t i = 0; i < 2 * found.found.len && !a->confirmed && !err; i++) {
		struct order_alternate *x = &found.found.data[i % found.found.len];

		/* first those that invert two steps which the failing run has */
		if (!x->order || (i < found.found.len && !both_happened(c, x->flipped)))
			continue;
		free(a->order);
		a->order = x->order;
		a->len = x->len;
		x->order = NULL;
		a->switches_found = a->switches = order_count_switches(m, a->order, a->len);
		c->flipped = x->flipped;
		err = carry_out(c, built, a, false);
	}
	order_alternates_deinit(&found);
	return err;
}

/* Why does it fail, and how not? */
static struct err *turn_round(struct constraints *c, const struct order_built *built)
{
	struct err *err = find_core(c, built->m);

	return err ? err : flip(c, built);
}

/* The recorded paths do not go well in any order that was tried: the failing thread leaves its own.
 */
static struct err *leave_path(struct constraints *c)
{
	const struct order_model *m = c->loaded.built.m;
	struct order_decisions decisions;
	struct err *err = NULL;

	order_decisions(m, c->loaded.failing, &decisions);
	for (size_t i = 0; i < MIN(decisions.len, DECISIONS) && !err && !c->passing.confirmed;
	     i++) {
		struct order_built other = c->loaded.built;

		other.m = order_model_cut(m, c->loaded.failing, &decisions.data[i]);
		if (!other.m)
			break;
		if (order_validate(other.m, ORDER_FAIL, c->failing.order, c->failing.len, NULL,
				   NULL))
			err = turn_round(c, &other);
		log_debug(1, "decision %zu of %zu, at step %u of the thread: %d, core of %zu edges",
			  i, decisions.len, decisions.data[i].index, (int)c->passing.status,
			  c->core.edges.len);
		order_model_free(other.m);
	}
	c->left_path = c->passing.confirmed;
	vec_deinit(&decisions);
	return err;
}

struct err *constraints_pass(struct constraints *c)
{
	const struct order_model *m = c->loaded.built.m;
	struct err *err;

	if (m->failure == TERM_NONE && c->recorded != PLAIT_OUTCOME_PASS)
		return pass_deadlock(c);
	if (c->failing.status == ORDER_SAT) {
		err = turn_round(c, &c->loaded.built);
		if (!err && !c->passing.confirmed && c->session && c->loaded.failing != ORDER_NONE)
			err = leave_path(c);
		return err;
	}
	err = solve(c, m, m->failure == TERM_NONE ? ORDER_ANY : ORDER_PASS, &c->passing);
	if (!err && c->passing.status == ORDER_SAT)
		err = carry_out(c, &c->loaded.built, &c->passing, false);
	return err;
}
