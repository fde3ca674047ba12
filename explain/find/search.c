/* explain/find/search.c - native runs until one passes.
 *
 * For each such pair (pairs.c), nearest to the failure first: follow the failing schedule up
 * to the pair's first step, forbid that step until the second has run, and keep to the failing
 * order of turns otherwise. A run that passes with the constraint honoured is an alternate; it is
 * run again with recording on, and must pass again.
 *
 * The first alternate is not always the telling one: an inversion that merely gives the work to
 * another thread passes too, and everything differs then. So the search goes on for a while, and
 * the few alternates with the smallest difference (projection.c) are kept, the earlier found first
 * when equal. Which of them tells the cause is decided by what cures it (cure.c).
 *
 * A long run is looked at from its switches first: leave it somewhere and go on simply, by halves
 * to the last switch where that passes. What went wrong lies there, often far before the failure.
 *
 * If none passes, again without keeping to the order of turns: the running thread stays. If none
 * passes still, several threads meet the first step one after the other (a queue torn down while
 * all its users still run): it waits until nobody else can go on; or what waits is a release, or the
 * first of several changes (closing.h). */
#define LOG_DOMAIN "explain"
#include "explain/find/search.h"

#include "base/err.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "explain/find/closing.h"
#include "explain/find/projection.h"

#include <string.h>

enum { MAX_COMPARED = 60, RANDOM_RUNS = 120 };
#define MIN_COMPARING 2.0 /* seconds */

struct plait_pattern search_pattern(const struct steps *s, uint32_t i)
{
	const struct step *e = &s->data[i];
	uint32_t nth = 0;

	for (uint32_t k = 0; k <= i; k++) {
		const struct step *o = &s->data[k];

		nth += o->thread == e->thread && o->site == e->site && o->address == e->address;
	}
	return (struct plait_pattern){ .thread = e->thread,
				       .site_low = e->site,
				       .site_high = e->site,
				       .nth = nth,
				       .address = e->address };
}

/* BEFORE: the first waits for the second. LATE: it waits for everybody. */
static struct plait_constraint inversion(const struct steps *s, const struct step_pair *p,
					 uint32_t kind)
{
	return (struct plait_constraint){ .kind = kind,
					  .a = search_pattern(s, p->second),
					  .b = search_pattern(s, p->first) };
}

static struct err *try_pair(const struct explain_runner *runner, const struct steps *s,
			    const struct step_pair *p, uint32_t kind, uint32_t strategy,
			    bool record, struct explain_result *ret)
{
	struct plait_constraint c = inversion(s, p, kind);
	struct explain_request request = { .prefix_steps = s->data[p->first].clock,
					   .strategy = strategy,
					   .constraints = &c,
					   .nconstraints = 1,
					   .record = record };

	memset(ret, 0, sizeof(*ret));
	return runner->run(runner->context, &request, ret);
}

/* Where in the passing run each step of the failing run comes again: the same thread, site, and
 * its number there. [failing.len]; STEP_NONE: nowhere. The caller frees it. */
static uint32_t *find_again(const struct steps *failing, const struct steps *passing)
{
	uint32_t *again = xmalloc(failing->len * sizeof(*again));
	_cleanup_(map_deinit) struct map count = { 0 }, at = { 0 };

	for (uint32_t k = 0; k < passing->len; k++) {
		uint64_t place =
			hash_u64((uint64_t)passing->data[k].thread << 32 | passing->data[k].site);
		uint64_t nth = ++*map_put(&count, place, 0);

		*map_put(&at, place + nth, 0) = k + 1;
	}
	map_clear(&count);
	for (uint32_t i = 0; i < failing->len; i++) {
		uint64_t place =
			hash_u64((uint64_t)failing->data[i].thread << 32 | failing->data[i].site);
		uint64_t nth = ++*map_put(&count, place, 0);

		again[i] = (uint32_t)map_get_or(&at, place + nth, 0) - 1;
	}
	return again;
}

/* Did the passing run really do the second before the first? (The first may not happen at all.) */
static bool is_inverted(const uint32_t *again, const struct step_pair *p)
{
	uint32_t first = again[p->first], second = again[p->second];

	return second != STEP_NONE && (first == STEP_NONE || second < first);
}

static bool inverted(const struct steps *failing, const struct step_pair *p,
		     const struct steps *passing)
{
	_cleanup_(xfreep) uint32_t *again = find_again(failing, passing);

	return is_inverted(again, p);
}

static bool passed(const struct explain_result *r)
{
	return !r->failed && !r->constraint_dropped;
}

/* The pair nearest to the failure that a passing run has the other way round; else one whose second
 * step it does not get to: control flow differs. */
static bool find_inverted(const struct steps *failing, const struct step_pairs *pairs,
			  const struct steps *passing, struct step_pair *ret)
{
	_cleanup_(xfreep) uint32_t *again = find_again(failing, passing);

	for (size_t i = 0; i < pairs->len; i++)
		if (is_inverted(again, &pairs->data[i])) {
			*ret = pairs->data[i];
			return true;
		}
	for (size_t i = 0; i < pairs->len; i++)
		if (again[pairs->data[i].second] == STEP_NONE) {
			*ret = pairs->data[i];
			return true;
		}
	return false;
}

/* The failing run may end before another thread has done what was to come first: of that thread it
 * has no step to turn round. The last read of the failing run that sees such a step in the passing
 * run. */
static bool find_unreached(const struct steps *failing, uint32_t failed,
			   const struct steps *passing, struct alternate *ret)
{
	_cleanup_(xfreep) uint32_t *again = find_again(failing, passing);
	_cleanup_(xfreep) bool *happened = xcalloc(passing->len + 1, sizeof(*happened));

	for (uint32_t i = 0; i < failing->len; i++)
		if (again[i] != STEP_NONE)
			happened[again[i]] = true;
	for (uint32_t i = (uint32_t)failing->len; i-- > 0;) {
		const struct step *e = &failing->data[i];
		uint32_t source =
			again[i] == STEP_NONE ? STEP_NONE : passing->data[again[i]].source;

		if (!step_is_memory(e) || !step_reads(e) || source == STEP_NONE ||
		    (failed != STEP_NONE && e->thread != failed))
			continue;
		if (!happened[source] && passing->data[source].thread != e->thread) {
			ret->early = i;
			ret->unreached = source;
			return true;
		}
	}
	return false;
}

struct alternate alternate_of(const struct step_pair *pair)
{
	struct alternate a = { .found = true, .unreached = STEP_NONE, .early = STEP_NONE };

	if (pair)
		a.pair = *pair;
	return a;
}

/* Take a passing run for an alternate if it tells something about the failing one. */
static bool take_passing(const struct steps *failing, const struct step_pairs *pairs,
			 uint32_t failed, struct steps *passing, struct alternate *ret)
{
	bool unreached;

	*ret = alternate_of(NULL);
	unreached = find_unreached(failing, failed, passing, ret);
	if (!find_inverted(failing, pairs, passing, &ret->pair)) {
		if (!unreached) {
			steps_deinit(passing);
			return false;
		}
		ret->pair = (struct step_pair){ ret->early, STEP_NONE, ret->early };
	}
	ret->passing = *passing;
	return true;
}

struct indices VEC_FIELDS(uint32_t);

static void indices_deinit(struct indices *x)
{
	vec_deinit(x);
}

struct search {
	const struct explain_runner *runner;
	const struct steps *failing;
	uint32_t failed;
	struct step_pairs pairs;
	uint64_t max_pairs;
	double seconds;	   /* budget, of work (explain_spent) ... */
	double begin, end; /* ... and from when to when */
	double stage_end;  /* of this way of looking: others want their turn */
	size_t compared;
	struct alternates *best;
};

/* How much differs: what the report would have to show. */
static size_t difference(const struct search *s, const struct steps *passing)
{
	struct projection p;
	size_t n;

	projection_make(s->failing, passing, s->failed, &p);
	n = p.nflows;
	for (size_t i = 0; i < s->failing->len; i++)
		n += p.show_failing[i] != 0;
	for (size_t i = 0; i < passing->len; i++)
		n += p.show_passing[i] != 0;
	projection_deinit(&p);
	return n;
}

/* Few runs of it fit into the time, and what went wrong may lie far before the failure. */
static bool is_long(const struct search *s)
{
	enum { LONG_RUN = 200000 }; /* steps */

	return s->failing->len > LONG_RUN;
}

static const struct step *second_of(const struct search *s, const struct alternate *a)
{
	return a->pair.second != STEP_NONE ? &s->failing->data[a->pair.second]
					   : &a->passing.data[a->unreached];
}

static bool same_places(const struct search *s, const struct alternate *a,
			const struct alternate *b)
{
	const struct step *d = s->failing->data;

	return d[a->pair.first].site == d[b->pair.first].site &&
	       second_of(s, a)->site == second_of(s, b)->site;
}

/* Of alternates at the same two places of the program the first found stays, which is nearest to
 * the failure; of the others those that differ least. */
static void keep_best(struct search *s, const struct alternate *a)
{
	struct alternates *best = s->best;
	struct alternate new = *a;
	size_t at = 0;

	new.difference = difference(s, &a->passing);
	log_debug(1, "steps %u and %u the other way round: passes, difference %zu", a->pair.first,
		  a->pair.second, new.difference);
	s->compared++;
	while (at < best->len && best->data[at].difference <= new.difference)
		at++;
	for (size_t i = 0; i < best->len; i++)
		if (same_places(s, &best->data[i], a))
			at = MAX_ALTERNATES;
	if (at == MAX_ALTERNATES) {
		steps_deinit(&new.passing);
		return;
	}
	if (best->len == MAX_ALTERNATES)
		steps_deinit(&best->data[--best->len].passing);
	memmove(&best->data[at + 1], &best->data[at], (best->len - at) * sizeof(best->data[0]));
	best->data[at] = new;
	best->len++;
}

static void keep_pair(struct search *s, const struct step_pair *pair, const struct steps *passing)
{
	struct alternate a = alternate_of(pair);

	a.passing = *passing;
	find_unreached(s->failing, s->failed, passing, &a);
	keep_best(s, &a);
}

void alternates_deinit(struct alternates *a)
{
	for (size_t i = 0; i < a->len; i++)
		steps_deinit(&a->data[i].passing);
	memset(a, 0, sizeof(*a));
}

/* Looking for a better alternate takes no longer than a few times what the first one took. */
static bool enough(const struct search *s, size_t tried, double first_found)
{
	double now = explain_spent(s->runner);

	if (tried >= s->max_pairs || now >= s->stage_end)
		return true;
	return s->best->len && (s->compared >= MAX_COMPARED ||
				now > first_found + MAX(MIN_COMPARING, first_found - s->begin));
}

static struct err *search_pairs(struct search *s, uint32_t kind, uint32_t strategy)
{
	double first_found = 0;

	s->stage_end = MIN(s->end, explain_spent(s->runner) + s->seconds / 4);
	for (size_t i = 0; i < s->pairs.len && !enough(s, i, first_found); i++) {
		const struct step_pair *pair = &s->pairs.data[i];
		struct explain_result r;
		struct err *err;

		if (!s->best->len)
			s->best->pairs_tried++;
		progress("looking for the nearest passing schedule: pair %zu of %zu", i + 1,
			 s->pairs.len);
		err = try_pair(s->runner, s->failing, pair, kind, strategy, false, &r);
		log_debug(2, "steps %u and %u, constraint %u, strategy %u: %s%s", pair->first,
			  pair->second, kind, strategy, r.failed ? "fails" : "passes",
			  r.constraint_dropped ? ", dropped" : "");
		if (!err && !passed(&r))
			continue;
		if (!err)
			err = try_pair(s->runner, s->failing, pair, kind, strategy, true, &r);
		if (err)
			return err;
		if (!passed(&r) || !inverted(s->failing, pair, &r.steps)) {
			steps_deinit(&r.steps);
			continue;
		}
		if (!s->best->len)
			first_found = explain_spent(s->runner);
		keep_pair(s, pair, &r.steps);
	}
	return NULL;
}

/* What has to wait so that this does not come too early; STEP_NONE: nothing. */
static uint32_t torn_down(const struct steps *f, uint32_t i)
{
	if (f->data[i].kind == PLAIT_EV_FREE)
		return i;
	return step_is_memory(&f->data[i]) && step_writes(&f->data[i]) ? closing_begin(f, i)
								       : STEP_NONE;
}

/* What was given back under somebody's feet, or changed: that waits until nobody else can go on. */
static struct err *search_teardown(struct search *s)
{
	const struct steps *f = s->failing;
	uint32_t last = STEP_NONE, before = STEP_NONE;

	for (uint32_t i = 0; i < f->len; i++)
		if (f->data[i].thread == s->failed && !f->data[i].pending)
			last = i;
	for (uint32_t i = (uint32_t)f->len;
	     i-- > 0 && last != STEP_NONE && !s->best->len && explain_spent(s->runner) < s->end;) {
		struct step_pair pair = { torn_down(f, i), last, last };
		struct explain_result r;
		struct err *err;

		if (pair.first == STEP_NONE || pair.first == before ||
		    f->data[i].thread == s->failed)
			continue;
		before = pair.first;
		s->best->pairs_tried++;
		err = try_pair(s->runner, f, &pair, PLAIT_CONSTRAINT_LATE, PLAIT_STRATEGY_STAY,
			       true, &r);
		if (err)
			return err;
		log_debug(2, "step %u late: %s%s", pair.first, r.failed ? "fails" : "passes",
			  r.constraint_dropped ? ", dropped" : "");
		if (passed(&r))
			keep_pair(s, &pair, &r.steps);
		else
			steps_deinit(&r.steps);
	}
	return NULL;
}

/* Leave the failing schedule at a step and go on in this way. */
static struct explain_request leaving(const struct search *s, uint32_t at, uint32_t way)
{
	return (struct explain_request){ .prefix_steps = s->failing->data[at].clock,
					 .strategy = way };
}

/* The way to go on behind a step, without preemption or fairly, that passes; else WAY_NONE. */
enum { WAY_NONE = UINT32_MAX };

static struct err *find_way(struct search *s, uint32_t at, uint32_t *ret)
{
	static const uint32_t ways[] = { PLAIT_STRATEGY_STAY, PLAIT_STRATEGY_FAIR };
	struct err *err = NULL;

	*ret = WAY_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(ways) && *ret == WAY_NONE && !err; i++) {
		struct explain_request request = leaving(s, at, ways[i]);
		struct explain_result r;

		s->best->pairs_tried++;
		progress("looking for a passing schedule with a long common start");
		err = s->runner->run(s->runner->context, &request, &r);
		if (!err && passed(&r))
			*ret = ways[i];
		log_debug(2, "leave at step %u, strategy %u: %s", at, ways[i],
			  *ret == WAY_NONE ? "fails" : "passes");
	}
	return err;
}

/* Record the run that leaves the failing schedule there. *found: it passes again, and tells
 * something; only then *ret is made. */
static struct err *take_leaving(struct search *s, uint32_t at, uint32_t way, struct alternate *ret,
				bool *found)
{
	struct explain_request request = leaving(s, at, way);
	struct explain_result r;
	struct err *err;

	*found = false;
	request.record = true;
	err = s->runner->run(s->runner->context, &request, &r);
	if (!err && passed(&r))
		*found = take_passing(s->failing, &s->pairs, s->failed, &r.steps, ret);
	else if (!err)
		steps_deinit(&r.steps);
	return err;
}

/* Between a switch where leaving passes and a later one where it does not: the last that passes.
 * Its run replaces the one we have, if it tells something. */
static struct err *search_between(struct search *s, const struct indices *at, size_t passes,
				  size_t fails)
{
	uint32_t way, last_way = WAY_NONE;
	struct alternate later;
	struct err *err = NULL;
	bool found;

	while (!err && fails - passes > 1 && explain_spent(s->runner) < s->end) {
		size_t middle = passes + (fails - passes) / 2;

		err = find_way(s, at->data[middle], &way);
		if (way != WAY_NONE)
			last_way = way;
		*(way != WAY_NONE ? &passes : &fails) = middle;
	}
	if (err || last_way == WAY_NONE)
		return err;
	err = take_leaving(s, at->data[passes], last_way, &later, &found);
	if (!err && found) {
		steps_deinit(&s->best->data[0].passing);
		s->best->data[0] = later;
	}
	return err;
}

/* Share as much of the failing schedule as possible: leave it at one of its switches, the latest
 * first. After the first few in longer and longer jumps, for what went wrong may lie far back and
 * every try takes a whole run; then by halves between the one that passes and the next that does
 * not. */
static struct err *search_prefixes(struct search *s)
{
	enum { ONE_BY_ONE = 32 };
	_cleanup_(indices_deinit) struct indices at = { 0 };
	size_t i, fails, jump = 1, tried = 0, one_by_one = is_long(s) ? 0 : ONE_BY_ONE;
	struct err *err = NULL;
	bool found = false;
	uint32_t way;

	for (uint32_t k = 0; k < s->failing->len; k++)
		if (!k || s->failing->data[k].thread != s->failing->data[k - 1].thread)
			vec_push(&at, k);
	for (i = fails = at.len; i > 0 && !found && !err && explain_spent(s->runner) < s->end;) {
		fails = i;
		i -= MIN(jump, i);
		jump *= ++tried > one_by_one ? 2 : 1;
		err = find_way(s, at.data[i], &way);
		if (!err && way != WAY_NONE)
			err = take_leaving(s, at.data[i], way, &s->best->data[0], &found);
	}
	s->best->len = found;
	return err || !found ? err : search_between(s, &at, i, fails);
}

/* The last resort: leave the failing schedule somewhere, later first, and go on at random. */
static struct err *search_random(struct search *s)
{
	static const uint32_t ways[] = { PLAIT_STRATEGY_RANDOM, PLAIT_STRATEGY_POS,
					 PLAIT_STRATEGY_PCT };

	for (uint64_t i = 0; i < RANDOM_RUNS && s->best->len < MAX_ALTERNATES; i++) {
		size_t at = (size_t)((RANDOM_RUNS - 1 - i) * (s->failing->len - 1) / RANDOM_RUNS);
		struct explain_request request = { .prefix_steps = s->failing->data[at].clock,
						   .strategy = ways[i % ARRAY_SIZE(ways)],
						   .seed = i + 1,
						   /* in turn: sleepers may hide it */
						   .eager = i / ARRAY_SIZE(ways) % 2 };
		struct alternate a;
		struct explain_result r;
		struct err *err;

		if (explain_spent(s->runner) >= s->end)
			break;
		s->best->pairs_tried += !s->best->len;
		err = s->runner->run(s->runner->context, &request, &r);
		if (!err && !passed(&r))
			continue;
		request.record = true;
		if (!err)
			err = s->runner->run(s->runner->context, &request, &r);
		if (err)
			return err;
		if (!passed(&r))
			steps_deinit(&r.steps);
		else if (take_passing(s->failing, &s->pairs, s->failed, &r.steps, &a))
			keep_best(s, &a);
	}
	return NULL;
}

struct err *search_alternate(const struct explain_runner *runner, const struct steps *failing,
			     uint32_t failed, const struct search_budget *budget,
			     struct alternates *ret)
{
	struct search s = { .runner = runner, .failing = failing, .failed = failed, .best = ret };
	struct err *err;

	memset(ret, 0, sizeof(*ret));
	s.begin = explain_spent(runner);
	s.seconds = budget->seconds > 0 ? budget->seconds : 30;
	s.end = s.begin + s.seconds;
	s.max_pairs = budget->max_pairs ? budget->max_pairs : 500;
	pairs_find(failing, &s.pairs);
	err = is_long(&s) ? search_prefixes(&s) : NULL;
	if (!err && !ret->len)
		err = search_pairs(&s, PLAIT_CONSTRAINT_BEFORE, PLAIT_STRATEGY_FOLLOW);
	if (!err && !ret->len)
		err = search_pairs(&s, PLAIT_CONSTRAINT_BEFORE, PLAIT_STRATEGY_STAY);
	if (!err && !ret->len)
		err = search_pairs(&s, PLAIT_CONSTRAINT_LATE, PLAIT_STRATEGY_STAY);
	if (!err && !ret->len)
		err = search_teardown(&s);
	if (!err && !ret->len && !is_long(&s))
		err = search_prefixes(&s);
	if (!err && !ret->len && failing->len)
		err = search_random(&s);
	progress_done();
	vec_deinit(&s.pairs);
	return err;
}
