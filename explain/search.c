/* explain/search.c - native runs until one passes.
 *
 * For each candidate pair (pairs.c), nearest to the failure first: follow the failing schedule up
 * to the pair's first step, forbid that step until the second has run, go on without further
 * preemption. A run that passes with the constraint honoured is the alternate; it is run again with
 * recording on, and must pass again. */
#include "explain/search.h"

#include "base/err.h"
#include "base/log.h"

#include <string.h>

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

static struct plait_constraint inversion(const struct steps *s, const struct step_pair *p)
{
	return (struct plait_constraint){ .kind = PLAIT_CONSTRAINT_BEFORE,
					  .a = search_pattern(s, p->second),
					  .b = search_pattern(s, p->first) };
}

static struct err *try_pair(const struct explain_runner *runner, const struct steps *s,
			    const struct step_pair *p, bool record, struct explain_result *ret)
{
	struct plait_constraint c = inversion(s, p);
	struct explain_request request = { .prefix_steps = s->data[p->first].clock,
					   .strategy = PLAIT_STRATEGY_STAY,
					   .constraints = &c,
					   .nconstraints = 1,
					   .record = record };

	memset(ret, 0, sizeof(*ret));
	return runner->run(runner->context, &request, ret);
}

/* Where the passing run does what step i of the failing run does; STEP_NONE: nowhere. */
static uint32_t find_again(const struct steps *failing, uint32_t i, const struct steps *passing)
{
	const struct step *e = &failing->data[i];
	uint32_t nth = 0;

	for (uint32_t k = 0; k <= i; k++)
		nth += failing->data[k].thread == e->thread && failing->data[k].site == e->site;
	for (uint32_t k = 0; k < passing->len; k++)
		if (passing->data[k].thread == e->thread && passing->data[k].site == e->site &&
		    !--nth)
			return k;
	return STEP_NONE;
}

/* Did the passing run really do the second before the first? (The first may not happen at all.) */
static bool inverted(const struct steps *failing, const struct step_pair *p,
		     const struct steps *passing)
{
	uint32_t first = find_again(failing, p->first, passing);
	uint32_t second = find_again(failing, p->second, passing);

	return second != STEP_NONE && (first == STEP_NONE || second < first);
}

static bool passed(const struct explain_result *r)
{
	return !r->failed && !r->constraint_dropped;
}

/* The pair nearest to the failure that a passing run has the other way round. */
static bool find_inverted(const struct steps *failing, const struct step_pairs *pairs,
			  const struct steps *passing, struct step_pair *ret)
{
	for (size_t i = 0; i < pairs->len; i++)
		if (inverted(failing, &pairs->data[i], passing)) {
			*ret = pairs->data[i];
			return true;
		}
	return false;
}

/* When no single inversion is enough (the program fails nearly always), share as much of the
 * failing schedule as possible: leave it at one of its switches, the latest first, and go on
 * without preemption. */
static struct err *search_prefixes(const struct explain_runner *runner, const struct steps *failing,
				   const struct step_pairs *pairs, double end,
				   struct alternate *ret)
{
	static const uint32_t ways[] = { PLAIT_STRATEGY_STAY, PLAIT_STRATEGY_FAIR };
	struct err *err = NULL;

	for (size_t i = failing->len * ARRAY_SIZE(ways); i-- > 0 && !ret->found && !err;) {
		size_t at = i / ARRAY_SIZE(ways);
		struct explain_request request = { .prefix_steps = failing->data[at].clock,
						   .strategy = ways[i % ARRAY_SIZE(ways)] };
		struct explain_result r;

		if (at && failing->data[at].thread == failing->data[at - 1].thread)
			continue;
		if (clock_seconds() > end)
			break;
		ret->pairs_tried++;
		progress("looking for a passing schedule with a long common start");
		err = runner->run(runner->context, &request, &r);
		if (err || !passed(&r))
			continue;
		request.record = true;
		err = runner->run(runner->context, &request, &r);
		if (!err && passed(&r) && find_inverted(failing, pairs, &r.steps, &ret->pair)) {
			ret->found = true;
			ret->passing = r.steps;
		} else {
			steps_deinit(&r.steps);
		}
	}
	return err;
}

struct err *search_alternate(const struct explain_runner *runner, const struct steps *failing,
			     const struct search_budget *budget, struct alternate *ret)
{
	double end = clock_seconds() + (budget->seconds > 0 ? budget->seconds : 30);
	uint64_t max = budget->max_pairs ? budget->max_pairs : 500;
	struct step_pairs pairs;
	struct err *err = NULL;

	memset(ret, 0, sizeof(*ret));
	pairs_find(failing, &pairs);
	for (size_t i = 0; i < pairs.len && !ret->found && !err; i++) {
		struct explain_result r;

		if (ret->pairs_tried >= max || clock_seconds() > end)
			break;
		ret->pairs_tried++;
		progress("looking for the nearest passing schedule: pair %zu of %zu", i + 1,
			 pairs.len);
		err = try_pair(runner, failing, &pairs.data[i], false, &r);
		if (err || !passed(&r))
			continue;
		err = try_pair(runner, failing, &pairs.data[i], true, &r);
		if (!err && passed(&r) && inverted(failing, &pairs.data[i], &r.steps)) {
			ret->found = true;
			ret->pair = pairs.data[i];
			ret->passing = r.steps;
		} else {
			steps_deinit(&r.steps);
		}
	}
	if (!err && !ret->found)
		err = search_prefixes(runner, failing, &pairs, end, ret);
	progress_done();
	vec_deinit(&pairs);
	return err;
}
