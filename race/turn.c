/* race/turn.c - a run once more, with nothing but the two accesses turned round.
 *
 * The rest of the run keeps to the turns of the first one (PLAIT_STRATEGY_FOLLOW): each turn goes on
 * until its thread has executed so many events of its own. The swap may send a thread down another
 * branch, on which it makes more events or fewer. From there on every turn of it would end too early
 * or too late, prints would come in another order, and the race would be blamed for that.
 *
 * So the turns are fitted. The steps of each thread in the two runs are put side by side, and a turn
 * that ended before a certain step ends before the same step in the other run. As that is another run
 * again, this is done until the turns do not change any more, or the two runs end alike. */
#define LOG_DOMAIN "race"
#include "race/study.h"

#include "base/err.h"
#include "base/log.h"
#include "trace/trace.h"

enum {
	FITS = 4,     /* times that turns are fitted */
	APART = 2000, /* steps that one run may have where the other has none */
	ALIKE = 6,    /* equal steps in a row that bring the two together again */
};

/* What a thread did: a number per step, of its kind and place. */
struct lane VEC_FIELDS(uint64_t);
struct lanes VEC_FIELDS(struct lane);

static void lanes_deinit(struct lanes *l)
{
	for (size_t i = 0; i < l->len; i++)
		vec_deinit(&l->data[i]);
	vec_deinit(l);
}

static struct lane *lane_of(struct lanes *l, uint32_t thread)
{
	while (l->len <= thread)
		vec_add(l);
	return &l->data[thread];
}

/* ---- the steps of a run ---- */

/* Walks along a schedule: who makes the next step? */
struct walk {
	const struct schedule *schedule;
	size_t next;	 /* decision */
	uint64_t step;	 /* made so far */
	uint32_t thread; /* that makes the next */
};

static void next_step(struct walk *w, struct lanes *ret, uint64_t what)
{
	const struct decisions *d = &w->schedule->decisions;

	for (; w->next < d->len && d->data[w->next].step <= w->step; w->next++)
		if (d->data[w->next].kind != DECISION_CHOICE)
			w->thread = d->data[w->next].value;
	vec_push(lane_of(ret, w->thread), what);
	w->step++;
}

/* Steps without a record are 0. */
static struct err *read_lanes(struct trace *t, const struct schedule *s, struct lanes *ret)
{
	struct walk w = { .schedule = s };
	_cleanup_(cursor_deinit) struct cursor cur;
	const struct event *ev;
	struct err *err;

	cursor_init(&cur, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&cur, &ev)) && ev) {
		if (ev->clock <= w.step)
			continue; /* belongs to the step before: an allocation, say */
		while (w.step + 1 < ev->clock)
			next_step(&w, ret, 0);
		next_step(&w, ret, (uint64_t)ev->site << 8 | ev->kind);
	}
	return err;
}

/* ---- side by side ---- */

static bool alike(const struct lane *a, size_t i, const struct lane *b, size_t j)
{
	size_t n;

	for (n = 0; n < ALIKE && i + n < a->len && j + n < b->len; n++)
		if (a->data[i + n] != b->data[j + n])
			return false;
	return n == ALIKE || (i + n == a->len && j + n == b->len);
}

/* Find the nearest places at which the two runs go on alike. False: they never do. */
static bool come_together(const struct lane *a, size_t *i, const struct lane *b, size_t *j)
{
	for (size_t apart = 1; apart < APART; apart++) {
		for (size_t di = 0; di <= apart; di++) {
			size_t dj = apart - di;

			if (*i + di > a->len || *j + dj > b->len || !alike(a, *i + di, b, *j + dj))
				continue;
			*i += di;
			*j += dj;
			return true;
		}
	}
	return false;
}

/* By step of a: which step of b is the same, or the next that is. One entry more for the end. */
static void map_lane(const struct lane *a, const struct lane *b, struct lane *ret)
{
	size_t i = 0, j = 0;
	bool together = true;

	while (i < a->len) {
		size_t from = i;

		if (together && (j >= b->len || a->data[i] != b->data[j]))
			together = come_together(a, &i, b, &j);
		for (; from < i; from++)
			vec_push(ret, j);
		if (i < a->len) {
			vec_push(ret, j);
			i++;
			j++;
		}
	}
	vec_push(ret, MAX(j, (size_t)(together ? b->len : 0)));
}

/* Turns of the run `a` as turns of a run that does what b did. */
static void fit(struct turns *turns, const struct lanes *a, const struct lanes *b)
{
	struct lanes maps = { 0 };

	for (size_t t = 0; t < a->len; t++)
		if (t < b->len)
			map_lane(&a->data[t], &b->data[t], lane_of(&maps, (uint32_t)t));
	for (size_t i = 0; i < turns->len; i++) {
		struct plait_turn *turn = &turns->data[i];

		if (turn->thread < maps.len && turn->upto < maps.data[turn->thread].len)
			turn->upto = maps.data[turn->thread].data[turn->upto];
	}
	lanes_deinit(&maps);
}

/* ---- runs ---- */

/* The steps of a run that is known by its schedule. */
static struct err *lanes_of(struct study *s, uint32_t input, const struct schedule *schedule,
			    struct lanes *ret)
{
	struct run_request req = schedule_request(schedule);
	struct run_result r = { 0 };
	struct trace *t = NULL;
	struct err *err = study_record(s, input, &req, &r, &t);

	if (!err)
		err = read_lanes(t, &r.schedule, ret);
	trace_close(t);
	run_result_deinit(&r);
	return err;
}

static struct err *follow(struct study *s, uint32_t input, const struct decisions *way,
			  const struct turns *turns, struct ending *ret)
{
	struct turns linked = { 0 };
	struct run_request req = { .strategy = PLAIT_STRATEGY_FOLLOW,
				   .flags = PLAIT_CONTROL_EAGER };
	struct err *err;

	for (size_t i = 0; i < turns->len; i++)
		vec_push(&linked, turns->data[i]);
	turns_link(&linked);
	req.turns = linked.data;
	req.nturns = linked.len;
	ending_deinit(ret);
	err = pair_run(s, input, way, &req, ret);
	vec_deinit(&linked);
	return err;
}

static bool same_turns(const struct turns *a, const struct turns *b)
{
	for (size_t i = 0; i < a->len; i++)
		if (a->data[i].upto != b->data[i].upto)
			return false;
	return true;
}

/* Fit the turns of `kept` to what `other` did. *ret_more: they have changed. */
static struct err *fit_once(struct study *s, uint32_t input, const struct lanes *kept_lanes,
			    const struct ending *kept, const struct ending *other,
			    struct turns *turns, bool *ret_more)
{
	struct lanes lanes = { 0 };
	struct turns fitted = { 0 };
	struct err *err = lanes_of(s, input, &other->run.schedule, &lanes);

	if (!err) {
		schedule_turns(&kept->run.schedule, &fitted);
		fit(&fitted, kept_lanes, &lanes);
		*ret_more = !same_turns(turns, &fitted);
		vec_deinit(turns);
		*turns = fitted;
	}
	lanes_deinit(&lanes);
	return err;
}

struct err *race_turn_round(struct study *s, uint32_t input, const struct decisions *way,
			    const struct ending *kept, struct ending *other)
{
	struct lanes lanes = { 0 };
	struct turns turns = { 0 };
	bool more = true;
	struct err *err;

	schedule_turns(&kept->run.schedule, &turns);
	err = follow(s, input, way, &turns, other);
	if (!err && ending_compare(kept, other) != DIFFERENCE_NONE)
		err = lanes_of(s, input, &kept->run.schedule, &lanes);
	for (unsigned i = 0; i < FITS && more && !err && !study_out_of_time(s) &&
			     ending_compare(kept, other) != DIFFERENCE_NONE;
	     i++) {
		err = fit_once(s, input, &lanes, kept, other, &turns, &more);
		if (!err && more)
			err = follow(s, input, way, &turns, other);
		log_debug(1, "turns fitted%s: %d", more ? "" : " before",
			  ending_compare(kept, other));
	}
	lanes_deinit(&lanes);
	vec_deinit(&turns);
	return err;
}
