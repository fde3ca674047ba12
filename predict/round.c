/* predict/round.c - flip one decision at a time, run what the solver proposes, and go on from there.
 *
 * What comes in: runs that passed (bases). A chance is a decision of a base whose other side no run
 * has taken. The question is whether its thread can come there with values that make it decide
 * otherwise, the other threads being anywhere on their paths (order/reach). If so, the prefix is run
 * natively, and the run shows how the thread goes on. Where it fails that is a prediction; where it
 * passes its recording is a new base. So no trace is ever made up, and there is no explosion of
 * synthesised paths (000 section 5.2 synthesises them symbolically instead).
 *
 * An assertion is a decision like any other. When nothing is left to ask, cover.c looks for ways to
 * take a chance that lead elsewhere. */
#define LOG_DOMAIN "predict"
#include "predict/round.h"

#include "base/err.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "run/place.h"
#include "solve/realize.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The first time a question gets so long; and what is noted when that was not enough. */
#define HASTY_SECONDS 0.25
enum { HASTY_UNKNOWN = 99 };

/* ---- bases ---- */

/* Which sides have runs taken? */
static void note_taken(struct predict *p, const struct base *b)
{
	for (size_t i = 0; i < b->chances.len; i++) {
		const struct order_place *at;

		if (b->chances.data[i].condition == ORDER_NONE)
			continue;
		at = &b->l.built.m->places.data[b->chances.data[i].condition];
		map_put(&p->taken, load_side(at->node, at->was), 1);
	}
}

static void note_gaps(struct predict *p, const struct base *b)
{
	if (b->l.unsupported)
		names_intern(&p->result->gaps, b->l.unsupported);
	for (size_t i = 0; i < b->l.gaps.len; i++)
		names_intern(&p->result->gaps, b->l.gaps.text[i]);
}

struct err *round_add(struct predict *p, const char *plait, const char *recording,
		      const struct predict_flips *flips, uint64_t *path)
{
	double start = clock_seconds();
	struct base b;
	struct err *err = base_open(plait, recording, p->program,
				    MAX(p->deadline - clock_seconds(), 0.1), &p->o, NULL, &b);

	p->result->seconds_load += clock_seconds() - start;
	if (err)
		return err;
	if (path)
		*path = b.l.unsupported ? 0 : b.path;
	note_gaps(p, &b);
	if (b.l.unsupported || map_find(&p->paths, b.path)) {
		base_close(&b);
		return NULL;
	}
	map_put(&p->paths, b.path, 1);
	if (flips)
		flips_copy(&b.flips, flips);
	note_taken(p, &b);
	err = flips ? predict_keep(p, &b) : NULL;
	log_debug(1, "%s: %zu events, %zu decisions", plait, b.l.built.m->events.len,
		  b.chances.len);
	vec_push(&p->bases, b);
	p->result->models++;
	mix_note(p, p->bases.len - 1);
	return err;
}

/* ---- which question next ---- */

struct pick {
	size_t base, chance;
};

static uint64_t asked_key(size_t base, size_t chance)
{
	return (uint64_t)base << 32 | chance;
}

static const struct order_place *place_of(const struct predict *p, size_t base,
					  const struct chance *c)
{
	return &p->bases.data[base].l.built.m->places.data[c->condition];
}

/* What the user names comes first; then ways to stop each other, and decisions that lead to a failure
 * nearby. Then few flips. A side that other runs have taken, only not beside these paths of the other
 * threads, counts like three more: mix.c asks about most of that without a run. What writes nothing
 * that the failure depends on counts like one more, and so does a loop that may not end. Then
 * decisions near the end of their thread. Every other run is for two accesses that meet
 * (meetings.c): no flip says how near a failure those are. */
static uint64_t cost(const struct predict *p, size_t base, const struct chance *c)
{
	const struct base *b = &p->bases.data[base];
	uint64_t flips = b->flips.len + c->loose;
	const struct order_place *at;
	bool near, taken, update = c->target == PREDICT_ASSERT;

	if (c->asked_for)
		return (uint64_t)c->behind << 8;
	if (c->target == PREDICT_DEADLOCK)
		return flips << 40;
	if (c->condition == ORDER_NONE)
		return (uint64_t)!p->meetings << 60 |
		       (flips + (update && !(c->writes & b->wanted)) + 1) << 40;
	at = place_of(p, base, c);
	taken = map_find(&p->taken, load_side(at->node, !at->was));
	near = at->doom <= 1 && !taken && p->o.targets & (PREDICT_ASSERT | PREDICT_CRASH);
	if (taken)
		flips += 3;
	if (!(at->writes & b->wanted) || c->target == PREDICT_HANG)
		flips++;
	if (update && p->meetings && !near)
		return (flips + 1) << 40 | (uint64_t)c->behind << 8;
	return (uint64_t)!near << 60 | flips << 40 | (uint64_t)c->behind << 8 | !update << 1 |
	       at->pin;
}

/* A pair of places is asked about a few times, not on every path; a way of too many flips never. */
static bool is_spent(const struct predict *p, size_t base, const struct chance *c)
{
	enum { MOST_TIMES = 3 };

	return (c->key && map_get_or(&p->times, c->key, 0) >= MOST_TIMES) ||
	       (p->o.flips && p->bases.data[base].flips.len >= p->o.flips);
}

/* What a hasty round could not answer is asked again. */
bool round_is_asked(const struct predict *p, size_t base, size_t chance)
{
	const uint64_t *a = map_find(&p->asked, asked_key(base, chance));

	return a && (p->hasty || *a != HASTY_UNKNOWN);
}

static bool pick(const struct predict *p, struct pick *ret)
{
	uint64_t best = UINT64_MAX;

	for (size_t b = 0; b < p->bases.len; b++)
		for (size_t i = 0; i < p->bases.data[b].chances.len; i++) {
			const struct chance *c = &p->bases.data[b].chances.data[i];
			uint64_t price;

			if (round_is_asked(p, b, i) || is_spent(p, b, c))
				continue;
			price = cost(p, b, c);
			if (price >= best)
				continue;
			best = price;
			*ret = (struct pick){ b, i };
		}
	return best != UINT64_MAX;
}

/* ---- asking ---- */

struct err *round_ask(struct predict *p, const struct base *b, const struct chance *c,
		      struct order_reached *ret)
{
	struct order_model *m = c->loose ? b->loose_model : b->l.built.m;
	struct order_question q = { c->goals, c->ngoals, TERM_NONE };
	double left = MAX(p->deadline - clock_seconds(), 0.01);
	double most = p->hasty ? MIN(HASTY_SECONDS, p->o.question_seconds) : p->o.question_seconds;
	struct order_budget budget = { .seconds = MIN(most, left),
				       .decisions = p->o.decisions,
				       .seed = p->o.seed,
				       .no_search = p->o.steady };
	double start = clock_seconds();
	struct err *err;

	if (c->condition != ORDER_NONE)
		q.condition = term_not(&m->terms, m->conditions.data[c->condition]);
	err = order_reach_ask(c->loose ? b->loose : b->reach, &q, &budget, ret);
	p->result->seconds_ask += clock_seconds() - start;
	p->result->sat += !err && ret->status == ORDER_SAT;
	p->result->unsat += !err && ret->status == ORDER_UNSAT;
	p->result->unknown += !err && ret->status == ORDER_UNKNOWN;
	p->open_end |= !err && ret->status == ORDER_UNKNOWN && !p->hasty && !b->mixed;
	return err;
}

uint64_t round_questions(const struct predict *p)
{
	return p->result->sat + p->result->unsat + p->result->unknown;
}

/* ---- running ---- */

void round_flips(const struct base *b, const struct chance *c, struct predict_flips *ret)
{
	flips_copy(ret, &b->flips);
	base_describe(b, c, ret);
}

/* Recording moves the heap, and the hash of a run knows its addresses: what is confirmed and saved
 * is the same schedule without recording. */
static struct err *run_unrecorded(struct predict *p, struct run_result *run)
{
	struct run_request req = schedule_request(&run->schedule);
	struct run_result again = { 0 };
	struct err *err = session_run(p->session, &req, &again);

	if (!err && run_failed(&again)) {
		run_result_deinit(run);
		*run = again;
		return NULL;
	}
	run_result_deinit(&again);
	return err;
}

/* ---- which failures count ---- */

static uint32_t target_of(const struct run_result *run)
{
	if (run->end == PLAIT_END_MISUSE)
		return PREDICT_MEMORY;
	switch (run->outcome) {
	case PLAIT_OUTCOME_SIGNAL:
		return PREDICT_CRASH;
	case PLAIT_OUTCOME_DEADLOCK:
		return PREDICT_DEADLOCK;
	case PLAIT_OUTCOME_HANG:
		return PREDICT_HANG;
	default:
		return PREDICT_ASSERT;
	}
}

bool predict_is_at(const struct predict_options *o, const char *file, uint32_t line)
{
	size_t len = strlen(file), end = o->at_file ? strlen(o->at_file) : 0;

	if (!o->at_file)
		return true;
	return line == o->at_line && len >= end && strcmp(file + len - end, o->at_file) == 0 &&
	       (len == end || file[len - end - 1] == '/');
}

/* Is one of the frames of the thread that failed at the place that the user names? */
static struct err *is_there(struct predict *p, const struct run_result *run, bool *ret)
{
	_cleanup_(xfreep) char *plait = NULL;
	struct places at = { 0 };
	struct err *err;

	*ret = !p->o.at_file;
	if (*ret)
		return NULL;
	plait = xasprintf("%s/at.plait", p->dir);
	err = save_plait(p->session, run, plait);
	if (!err)
		err = places_of_failure(run, plait, &at);
	for (size_t i = 0; i < at.len; i++)
		*ret |= predict_is_at(&p->o, at.data[i].file, at.data[i].line);
	places_deinit(&at);
	return err;
}

/* How many recordings have the path of this one? */
static uint64_t runs_like(const struct predict *p, const char *recording)
{
	for (size_t i = 0; i < p->bases.len; i++)
		if (strcmp(p->bases.data[i].plait, recording) == 0)
			return map_get_or(&p->runs, p->bases.data[i].path, 1);
	return 1;
}

/* What hunt does with a failure. */
struct err *round_consider(struct predict *p, size_t base, const struct predict_flips *flips,
			   struct run_result *run)
{
	size_t before = p->result->found.failures.len;
	struct prediction new = { .failure = before };
	bool wanted = target_of(run) & p->o.targets;
	struct err *err = wanted ? run_unrecorded(p, run) : NULL;

	if (!err && wanted)
		err = is_there(p, run, &wanted);
	if (!wanted)
		p->result->unwanted++;
	if (!err && wanted)
		err = findings_consider(&p->findings, p->session, run, p->result->proposals,
					"predict");
	if (err || p->result->found.failures.len == before)
		return err;
	new.base = predict_name(p, p->bases.data[base].recording);
	flips_copy(&new.flips, flips);
	new.near = runs_like(p, p->bases.data[base].recording);
	new.questions = round_questions(p);
	new.native_runs = p->result->proposals;
	vec_push(&p->result->predictions, new);
	p->stop = !p->o.all;
	return NULL;
}

static struct err *consider(struct predict *p, size_t base, const struct chance *c,
			    struct run_result *run)
{
	struct predict_flips flips = { 0 };
	struct err *err;

	round_flips(&p->bases.data[base], c, &flips);
	err = round_consider(p, base, &flips, run);
	flips_deinit(&flips);
	return err;
}

/* It passed: how did the threads go on? */
static struct err *go_on(struct predict *p, size_t base, const struct chance *c,
			 const struct run_result *run)
{
	_cleanup_(xfreep) char *plait = xasprintf("%s/%" PRIu64 ".plait", p->dir, p->saved++);
	_cleanup_(xfreep) char *recording = xstrdup(p->bases.data[base].recording);
	struct predict_flips flips = { 0 };
	struct err *err = save_plait(p->session, run, plait);

	round_flips(&p->bases.data[base], c, &flips); /* bases may move */
	if (!err)
		err = round_add(p, plait, recording, &flips, NULL);
	flips_deinit(&flips);
	return err;
}

struct err *round_propose(struct predict *p, size_t base, const struct chance *c,
			  const struct order_reached *a)
{
	const struct base *b = &p->bases.data[base];
	struct realize_end end = { .last = c->goals[0].thread, .strategy = PLAIT_STRATEGY_FOLLOW };
	double start = clock_seconds();
	bool mixed = b->mixed;
	struct realized r;
	struct err *err = realize(p->session, &b->l.built, a->order, a->len, &end, &r);

	p->result->proposals++;
	p->result->native_runs += r.runs;
	p->result->followed += r.followed;
	log_debug(1, "proposal %" PRIu64 ": %s, %zu of %zu events as asked", p->result->proposals,
		  outcome_name(r.run.outcome), r.matched, r.events);
	if (!err) {
		findings_measure(&p->findings, &r.run);
		claim_add_run(&p->claim, &r.run);
		p->open_end |= !r.followed && !mixed;
		if (c->target == PREDICT_RACE)
			err = race_consider(p, base, c, &r.run);
	}
	if (!err && !p->stop) {
		err = run_failed(&r.run) ? consider(p, base, c, &r.run) : go_on(p, base, c, &r.run);
	}
	p->result->seconds_run += clock_seconds() - start;
	realized_deinit(&r);
	return err;
}

static void note_proposal(struct predict *p, size_t base, const struct chance *c)
{
	struct predict_proposal new = { .base = predict_name(p, p->bases.data[base].recording) };

	round_flips(&p->bases.data[base], c, &new.flips);
	vec_push(&p->result->unconfirmed, new);
}

/* ---- until nothing is left ---- */

bool round_is_over(struct predict *p)
{
	const struct predict_result *r = p->result;

	if (p->stop)
		return true;
	p->result->out_of_budget = clock_seconds() > p->deadline || r->proposals >= p->o.runs ||
				   (p->o.questions && round_questions(p) >= p->o.questions);
	p->result->interrupted = interrupted() != 0;
	return r->out_of_budget || r->interrupted;
}

enum order_status round_answer(const struct predict *p, size_t base, size_t chance)
{
	uint64_t a = map_get_or(&p->asked, asked_key(base, chance), ORDER_UNKNOWN);

	return a == HASTY_UNKNOWN ? ORDER_UNKNOWN : (enum order_status)a;
}

/* What a failure may hang on. */
static bool is_worth_loosening(const struct predict *p, size_t base, const struct chance *c)
{
	return p->bases.data[base].loose && !c->loose && !p->bases.data[base].mixed &&
	       (c->condition == ORDER_NONE ? c->target != PREDICT_DEADLOCK
					   : place_of(p, base, c)->doom <= 1);
}

/* The same, later, without recorded addresses. */
static void ask_loosely(struct predict *p, size_t base, const struct chance *c)
{
	struct chance again = *c;

	again.loose = true;
	again.key = c->key ? hash_u64(c->key) : 0;
	vec_push(&p->bases.data[base].chances, again);
}

static struct err *ask_one(struct predict *p, struct pick next)
{
	struct chance c = p->bases.data[next.base].chances.data[next.chance];
	struct order_reached a = { 0 };
	struct err *err;

	progress("%" PRIu64 " questions, %" PRIu64 " runs", round_questions(p),
		 p->result->proposals);
	err = round_ask(p, &p->bases.data[next.base], &c, &a);
	*map_put(&p->asked, asked_key(next.base, next.chance), 0) =
		p->hasty && a.status == ORDER_UNKNOWN ? HASTY_UNKNOWN : a.status;
	if (c.key)
		++*map_put(&p->times, c.key, 0);
	if (!err && a.status == ORDER_UNSAT && is_worth_loosening(p, next.base, &c))
		ask_loosely(p, next.base, &c);
	if (!err && a.status == ORDER_SAT && c.condition != ORDER_NONE && !c.loose &&
	    !p->bases.data[next.base].mixed) {
		const struct order_place *at = place_of(p, next.base, &c);

		map_put(&p->taken, load_side(at->node, !at->was), 1);
	}
	if (!err && a.status == ORDER_SAT && p->session)
		err = round_propose(p, next.base, &c, &a);
	else if (!err && a.status == ORDER_SAT)
		note_proposal(p, next.base, &c);
	order_reached_deinit(&a);
	return err;
}

/* Another recording comes in when nothing is left to ask about those before it, or after many
 * questions: one recording mostly does. */
static struct err *ask_all(struct predict *p)
{
	enum { QUESTIONS_EACH = 400 };
	uint64_t begun = round_questions(p);
	struct err *err = NULL;
	struct pick next;

	while (!err && !round_is_over(p)) {
		bool is_left, more = false;

		err = mix_next(p);
		if (err)
			break;
		is_left = pick(p, &next);
		if (!is_left || round_questions(p) - begun >= QUESTIONS_EACH) {
			err = predict_load_next(p, &more);
			begun = round_questions(p);
		}
		if (!is_left && !more)
			break;
		if (!is_left || err)
			continue;
		err = ask_one(p, next);
		p->meetings = p->result->proposals % 2;
	}
	return err;
}

/* One question that was too hard for a hasty round; *more: it led to a new base, whose questions may
 * be easy. */
static struct err *ask_hard(struct predict *p, bool *more)
{
	size_t before = p->bases.len;
	struct err *err = NULL;
	struct pick next;

	while (!err && !round_is_over(p) && p->bases.len == before && pick(p, &next))
		err = ask_one(p, next);
	*more = p->bases.len > before;
	return err;
}

struct err *round_run(struct predict *p)
{
	bool more = true;
	struct err *err = NULL;

	while (more && !err) {
		more = false;
		/* hard questions wait until the easy ones are answered */
		p->hasty = !p->o.steady;
		err = ask_all(p);
		p->hasty = false;
		if (!err && !round_is_over(p))
			err = ask_hard(p, &more);
		if (more)
			continue;
		if (!err && p->session && !round_is_over(p))
			err = cover_all(p, &more);
	}
	progress_done();
	return err;
}
