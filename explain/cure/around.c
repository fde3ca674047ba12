/* explain/cure/around.c - what is told beside the best cure, or before it.
 *
 * What tells failing from passing schedules best lies close to the failure: two threads were inside
 * at once. Why could they be? A block on other objects that was broken before that, in every
 * schedule that fails, and that cures the program as well, may be the root; it is told, too. */
#define LOG_DOMAIN "explain"
#include "explain/cure/trials.h"

#include "base/err.h"

enum { MAX_EARLIER = 4, MAX_NARROWER = 4, MUCH_CHEAPER = 4 /* times */ };
#define LITTLE_LESS 0.05 /* separation that the shorter block may lack */
#define SIMPLER	    0.3	 /* ... and that a much simpler one must have */

static bool mends_every(const struct cure_trial *trial)
{
	return !trial->failed && !trial->other && !trial->dropped;
}

/* As good as what was found, and told before it. */
static void tell_before(struct trials *t, const struct candidate *found,
			const struct planned_cure *c, const struct cure_trial *trial)
{
	struct candidate better = trials_candidate(t, c, trial);

	better.plan = found->plan - 1;
	vec_push(&t->out->tried, better);
}

/* ---- what came before ---- */

static bool is_any_block(const struct cure *c)
{
	return (c->kind == BUG_ATOMICITY || c->kind == BUG_MULTI_VARIABLE) &&
	       c->intruder != STEP_NONE && !c->loop && !c->waits;
}

static bool is_block(const struct cure *c)
{
	return is_any_block(c) && !c->to_in_passing;
}

static bool touches(const struct steps *s, const struct cure *c, uint32_t step)
{
	return s->data[c->from].address == s->data[step].address ||
	       (!c->to_in_passing && s->data[c->to].address == s->data[step].address);
}

/* Was this block broken before the one that was taken, in every schedule that failed, and about
 * something else? Not if it is much longer: then it may help because it holds the other one. */
static bool is_earlier(const struct trials *t, const struct cure *best,
		       const struct planned_cure *c)
{
	const struct steps *f = t->r->failing;

	return is_block(&c->cure) && c->cure.from < best->from && c->cure.to < best->to &&
	       (best->intruder == STEP_NONE || c->cure.intruder < best->intruder) &&
	       !touches(f, best, c->cure.from) && !touches(f, best, c->cure.to) &&
	       c->seen.broken_failing == c->seen.failing &&
	       c->cure.cost <= (uint64_t)best->cost * MUCH_CHEAPER &&
	       cure_separation(&c->seen) >= SEPARATION_TELLING;
}

/* The cheapest of them that works. */
static struct err *look_earlier(struct trials *t, const struct cure *best)
{
	const struct advise_request *r = t->r;
	struct trial_limits limits = trials_limits(t, r->runs, 1, SECONDS_SHORT, FACES_OWN);
	struct planned_cure *cheapest = NULL;

	for (unsigned tried = 0; tried < MAX_EARLIER && explain_spent(t->r->runner) < t->end;
	     tried++) {
		struct cure_trial trial;
		struct err *err;

		cheapest = NULL;
		for (size_t i = 0; i < t->all.len; i++)
			if (is_earlier(t, best, &t->all.data[i]) &&
			    (!cheapest || t->all.data[i].cure.cost < cheapest->cure.cost))
				cheapest = &t->all.data[i];
		if (!cheapest)
			return NULL;
		err = cure_try(r->runner, &cheapest->cure, &limits, NULL, &trial);
		if (err)
			return err;
		trials_log(cheapest, &trial);
		if (mends_every(&trial)) {
			t->out->earlier.found = true;
			t->out->earlier.cure = cheapest->cure;
			t->out->earlier.after = trial;
			t->out->earlier.seen = cheapest->seen;
			return NULL;
		}
		cheapest->seen.broken_failing = 0; /* not again */
	}
	return NULL;
}

/* ---- the shortest block ---- */

/* Steps of its own thread in the failing run, which may have ended before the block did. */
static uint32_t length_of(const struct steps *s, const struct cure *c)
{
	uint32_t n = 0, end = c->to_in_passing ? (uint32_t)s->len : c->to;

	for (uint32_t i = c->from; i < end; i++)
		n += s->data[i].thread == s->data[c->from].thread;
	return n;
}

/* What is checked first and set last: no part of it that leaves out either end says as much. */
static bool leaves_out_an_end(const struct trials *t, const struct candidate *found,
			      const struct planned_cure *c)
{
	const struct step *d = t->r->failing->data, *from = &d[found->cure.from];

	if (found->cure.came_back)
		return !c->cure.came_back;
	return found->cure.kind == BUG_ATOMICITY && !found->cure.to_in_passing &&
	       step_is_memory(from) && step_reads(from) && !step_writes(from) &&
	       step_writes(&d[found->cure.to]) && d[c->cure.to].address != from->address;
}

/* Does it lie within what was taken, and say as much? */
static bool is_within(const struct trials *t, const struct candidate *found,
		      const struct planned_cure *c)
{
	const struct cure *best = &found->cure;
	const struct step *d = t->r->failing->data;

	return is_any_block(best) && is_any_block(&c->cure) &&
	       c->cure.to_in_passing == best->to_in_passing &&
	       (c->cure.other_from == STEP_NONE || best->other_from != STEP_NONE) &&
	       !c->cure.around_lock && c->cure.from >= best->from && c->cure.to <= best->to &&
	       !leaves_out_an_end(t, found, c) && d[c->cure.from].thread == d[best->from].thread &&
	       length_of(t->r->failing, &c->cure) < length_of(t->r->failing, best) &&
	       cure_separation(&c->seen) >= cure_separation(&found->evidence.seen) - LITTLE_LESS;
}

/* Is it much simpler than what was taken, and broken in every schedule that fails? It tells failing from
 * passing schedules less well if more has to happen before the program fails; what tells them apart
 * best is often long, and ends at the failure itself. */
static bool is_simpler(const struct candidate *found, const struct planned_cure *c)
{
	return (found->cure.missed ? is_any_block(&c->cure) : is_block(&c->cure)) &&
	       !c->cure.around_lock && (uint64_t)c->cure.cost * MUCH_CHEAPER <= found->cure.cost &&
	       c->seen.broken_failing == c->seen.failing && cure_separation(&c->seen) >= SIMPLER;
}

/* One variable before several: what lies between the uses of two variables is often no more than the
 * shortest way from one thing to another. */
static bool says_it_simpler(const struct cure *a, const struct cure *b)
{
	bool one = a->kind == BUG_ATOMICITY, other = b->kind == BUG_ATOMICITY;

	return one != other ? one : a->cost < b->cost;
}

/* A long block may cure only because a short one lies in it, or near it, that cures as well: that is the
 * part which must not be broken. The shortest of those within it, else the simplest. */
static struct planned_cure *find_narrower(const struct trials *t, const struct candidate *found)
{
	const struct steps *f = t->r->failing;
	struct planned_cure *best = NULL;
	bool within = false;

	for (size_t i = 0; i < t->all.len; i++) {
		struct planned_cure *c = &t->all.data[i];
		bool inside = is_within(t, found, c);

		if (!inside && (within || !is_simpler(found, c)))
			continue;
		if (!best || inside > within ||
		    (inside ? length_of(f, &c->cure) < length_of(f, &best->cure)
			    : says_it_simpler(&c->cure, &best->cure)))
			best = c;
		within |= inside;
	}
	return best;
}

static struct err *narrow(struct trials *t, const struct candidate *found)
{
	const struct advise_request *r = t->r;
	struct trial_limits limits = trials_limits(t, r->runs, 1, SECONDS_SHORT, FACES_OWN);

	if (!is_any_block(&found->cure) && !found->cure.missed)
		return NULL;
	for (unsigned tried = 0; tried < MAX_NARROWER && explain_spent(r->runner) < t->end;
	     tried++) {
		struct planned_cure *shortest = find_narrower(t, found);
		struct cure_trial trial;
		struct err *err;

		if (!shortest)
			return NULL;
		err = cure_try(r->runner, &shortest->cure, &limits, NULL, &trial);
		if (err)
			return err;
		trials_log(shortest, &trial);
		if (mends_every(&trial)) {
			tell_before(t, found, shortest, &trial);
			return NULL;
		}
		shortest->cure.loop = true; /* not again */
	}
	return NULL;
}

/* Do both touch one object? */
static bool share_object(const struct steps *s, const struct cure *a, const struct cure *b)
{
	const uint32_t mine[] = { a->from, a->intruder, a->to_in_passing ? a->from : a->to };
	const uint32_t other[] = { b->from, b->intruder, b->to_in_passing ? b->from : b->to };

	for (size_t i = 0; i < ARRAY_SIZE(mine); i++)
		for (size_t k = 0; k < ARRAY_SIZE(other); k++)
			if (mine[i] < s->len && other[k] < s->len &&
			    s->data[mine[i]].address == s->data[other[k]].address)
				return true;
	return false;
}

/* A mistake by which a thread comes to where it breaks the program in the end: a check that it does not repeat
 * under the lock, or something given away too early. */
static bool is_behind(const struct trials *t, const struct cure *found, const struct cure *c)
{
	return c->stale ||
	       (c->early && c->other_from == STEP_NONE && share_object(t->r->failing, found, c));
}

/* The cheapest of them that is broken in every schedule that fails, and cures all. */
static struct err *look_behind(struct trials *t, const struct candidate *found)
{
	struct trial_limits limits =
		trials_limits(t, t->r->runs, UINT64_MAX, SECONDS_FULL, found->evidence.counted);
	struct planned_cure *first = NULL;
	struct cure_trial trial;
	struct err *err;

	if (found->cure.stale || found->cure.early)
		return NULL;
	for (size_t i = 0; i < t->all.len; i++) {
		struct planned_cure *c = &t->all.data[i];

		if (is_behind(t, &found->cure, &c->cure) &&
		    c->seen.broken_failing == c->seen.failing &&
		    cure_separation(&c->seen) >= SIMPLER &&
		    (!first || c->cure.cost < first->cure.cost))
			first = c;
	}
	if (!first || explain_spent(t->r->runner) >= t->end)
		return NULL;
	err = cure_try(t->r->runner, &first->cure, &limits, NULL, &trial);
	if (err)
		return err;
	trials_log(first, &trial);
	if (mends_every(&trial))
		tell_before(t, found, first, &trial);
	return NULL;
}

/* The shortest block, and what came before it. */
struct err *trials_look_around(struct trials *t)
{
	const struct candidate *best = trials_best(t);
	struct candidate found;
	struct err *err;

	if (!best || !best->evidence.after.runs || !cure_observable(&best->cure) ||
	    evidence_result(&best->evidence) > TRIAL_HELPS)
		return NULL;
	found = *best;
	err = narrow(t, &found);
	found = *trials_best(t);
	if (!err)
		err = look_behind(t, &found);
	found = *trials_best(t);
	if (err || found.evidence.after.failed)
		return err;
	return look_earlier(t, &found.cure);
}
