/* explain/dynamic/candidates.c - the causes that are considered, with their evidence.
 *
 * What the failing run shows by itself (used after its end, a cycle of locks, a wait that nobody ends, a
 * lock that is missing where it fails), and the cures that were tried (advise.c). A cure that does just
 * what the run shows is one candidate with it. */
#include "explain/dynamic/job.h"

#include "base/err.h"
#include "debug/names.h"
#include "explain/dynamic/found.h"
#include "explain/show/present.h"

/* Does this step use what was freed, or lie in it? */
static bool in_gone(const struct job *j, const struct steps *s, uint32_t step)
{
	const struct step *by;

	if (j->gone.by == STEP_NONE || step >= s->len)
		return false;
	by = &j->steps.data[j->gone.by];
	return s->data[step].address - by->address < MAX(by->size, 1u);
}

static bool ends_in_gone(const struct job *j, const struct candidate *c)
{
	return in_gone(
		j, c->cure.to_in_passing ? &j->alternates.data[c->alternate].passing : &j->steps,
		c->cure.to);
}

/* What was freed may be used at many places; a block that keeps one of them safe, and leaves the others
 * as they are, does not say why. */
static bool mends_most(const struct evidence *e)
{
	return (e->after.failed + e->after.other) * e->before.runs * 2 <=
	       (e->before.failed + e->before.other) * e->after.runs;
}

static bool is_block(const struct candidate *c)
{
	return c->source == CANDIDATE_CURE && c->kind != BUG_ORDER && c->evidence.after.runs;
}

/* A block within what was used after its end: a reference count that is changed and looked at in two
 * steps. It says why it came to that. (A lock in that memory is no count, and that it was freed between two
 * uses says nothing.) */
static bool is_about_count(const struct job *j, const struct candidate *c)
{
	const struct step *d = j->steps.data;

	return is_block(c) && step_is_memory(&d[c->cure.from]) && c->cure.intruder < j->steps.len &&
	       d[c->cure.intruder].kind != PLAIT_EV_FREE &&
	       candidate_standing(c) <= STANDING_HELPS && mends_most(&c->evidence) &&
	       in_gone(j, &j->steps, c->cure.from) && ends_in_gone(j, c);
}

/* Two threads have both decided to free it: a block without which that never happens is the decision,
 * wherever its objects are. */
static bool is_decision(const struct job *j, const struct candidate *c)
{
	return j->gone.kind == BUG_DOUBLE_FREE && is_block(c) &&
	       candidate_standing(c) == STANDING_CURED &&
	       cure_separation(&c->evidence.seen) >= SEPARATION_SURE;
}

const struct candidate *job_find_reason(const struct job *j, const struct candidates *all)
{
	for (size_t i = 0; j->gone.kind && i < all->len; i++)
		if (is_about_count(j, &all->data[i]) || is_decision(j, &all->data[i]))
			return &all->data[i];
	return NULL;
}

static void add_lifetime(const struct job *j, const struct advice *a, struct candidates *all)
{
	struct candidate c = { .source = CANDIDATE_LIFETIME,
			       .kind = j->gone.kind,
			       .evidence = { .shows = SHOWS_ALL } };

	if (a->late_tested) {
		c.evidence.before = a->late_before;
		c.evidence.after = a->late;
		c.evidence.counted = a->late_counted;
	}
	vec_push(all, c);
}

/* Is what was tried the remedy of this wait: wake all, a signal that is missing, or check and wait in
 * one? */
static bool is_remedy(const struct stuck *k, const struct cure *c)
{
	if (c->kind != BUG_LOST_WAKEUP)
		return false;
	if (c->constraints[0].kind == PLAIT_CONSTRAINT_BROADCAST)
		return k->kind == STUCK_STOLEN;
	if (c->constraints[0].kind == PLAIT_CONSTRAINT_WAKE)
		return k->kind == STUCK_SILENT || k->kind == STUCK_UNGUARDED;
	return k->kind == STUCK_LOST;
}

/* The failing run shows what happened, the trial of a cure that does just this what to do about it: one
 * candidate. A trial in which it still fails speaks against it only where the run does not show all. */
static void adopt_trial(struct candidate *c, const struct candidate *trial)
{
	enum trial_result result = evidence_result(&trial->evidence);

	if ((c->evidence.shows == SHOWS_ALL && result > TRIAL_HELPS) ||
	    (c->cure.nconstraints && evidence_result(&c->evidence) <= result))
		return;
	c->cure = trial->cure;
	c->alternate = trial->alternate;
	c->evidence.before = trial->evidence.before;
	c->evidence.after = trial->evidence.after;
	c->evidence.counted = trial->evidence.counted;
	c->evidence.weeded = trial->evidence.weeded;
}

static void add_cycle(const struct advice *a, enum cycle_kind kind, struct candidates *all)
{
	struct candidate c = { .source = CANDIDATE_CYCLE,
			       .kind = BUG_DEADLOCK,
			       .evidence = { .shows = SHOWS_ALL } };

	for (size_t i = 0; i < a->tried.len; i++)
		if (a->tried.data[i].kind == BUG_DEADLOCK && kind != CYCLE_ORPHAN)
			adopt_trial(&c, &a->tried.data[i]);
	vec_push(all, c);
}

static void add_stuck(const struct job *j, const struct advice *a, const struct stuck *k,
		      struct candidates *all)
{
	struct candidate c = { .source = CANDIDATE_STUCK, .kind = BUG_LOST_WAKEUP };

	c.evidence.shows = stuck_is_shown(k->kind) ? SHOWS_ALL : SHOWS_SIGNS;
	for (size_t i = 0; i < a->tried.len; i++)
		if (is_remedy(k, &a->tried.data[i].cure))
			adopt_trial(&c, &a->tried.data[i]);
	/* that it decides whether to signal is no excuse if all goes well with a signal */
	if (!c.evidence.after.runs || evidence_result(&c.evidence) > TRIAL_GOOD) {
		c.evidence.contradicted = stuck_is_deliberate(k, &j->steps, &j->steps);
		for (size_t i = 0; i < j->alternates.len && !c.evidence.contradicted; i++)
			c.evidence.contradicted =
				stuck_is_deliberate(k, &j->steps, &j->alternates.data[i].passing);
	}
	vec_push(all, c);
}

/* A flag that is looked at before the lock is taken belongs to the wait only if the function that looks
 * is one of those that wait. */
static struct err *looks_elsewhere(const struct job *j, const struct stuck *k, bool *ret)
{
	const struct plait_stack *stack = stacks_find(&j->stacks, &j->steps.data[k->wait]);
	struct symbols *symbols = NULL;
	struct code_point at;
	struct err *err;

	*ret = false;
	if ((k->kind != STUCK_UNGUARDED && k->kind != STUCK_MISSED) || !stack)
		return NULL;
	err = symbols_open(j->trace, &symbols);
	if (err)
		return err;
	*ret = symbols_site(symbols, j->steps.data[k->check].site, &at) && at.line &&
	       !stack_has_function(symbols, stack, &at);
	symbols_close(symbols);
	return NULL;
}

static void add_guard(const struct job *j, struct candidates *all, struct guard *ret)
{
	if (job_failed_thread(j) == STEP_NONE || j->gone.kind ||
	    !guards_at_failure(&j->steps, job_failed_thread(j), ret))
		return;
	vec_push(all,
		 ((struct candidate){ .source = CANDIDATE_GUARD,
				      .kind = BUG_ATOMICITY,
				      .evidence = { .shows = SHOWS_SIGNS, .lacks_lock = true } }));
}

/* Takes a lock, waits for a signal, or gives one. */
static bool is_about_waiting(const struct step *e)
{
	return step_is_acquire(e) || e->kind == PLAIT_EV_WAIT || e->kind == PLAIT_EV_WOKEN ||
	       e->kind == PLAIT_EV_SIGNAL || e->kind == PLAIT_EV_BROADCAST;
}

/* ... or both are in critical sections of one lock: who was first at it. */
static bool is_order_of_locks(const struct job *j, const struct cure *c)
{
	if (c->kind != BUG_ORDER || c->from >= j->steps.len || c->to >= j->steps.len)
		return false;
	return guards_shared(&j->steps, c->from, c->to) ||
	       (is_about_waiting(&j->steps.data[c->from]) &&
		is_about_waiting(&j->steps.data[c->to]));
}

/* What the run shows, and every cure that was tried; without those that another candidate adopted. */
static void collect(const struct job *j, const struct advice *a, struct found *found,
		    struct candidates *ret)
{
	bool deadlocked = j->failing.outcome == PLAIT_OUTCOME_DEADLOCK;
	enum cycle_kind cycle = deadlocked && !j->gone.kind ? find_cycle(&j->steps) : CYCLE_NONE;

	if (j->gone.kind)
		add_lifetime(j, a, ret);
	if (cycle)
		add_cycle(a, cycle, ret);
	if (found->stuck.kind && !cycle)
		add_stuck(j, a, &found->stuck, ret);
	add_guard(j, ret, &found->guard);
	for (size_t i = 0; i < a->tried.len; i++) {
		struct candidate c = a->tried.data[i];

		c.evidence.of_locks = deadlocked && is_order_of_locks(j, &c.cure);
		if (c.kind != BUG_DEADLOCK && !is_remedy(&found->stuck, &c.cure))
			vec_push(ret, c);
	}
	candidates_rank(ret);
}

/* Why threads wait: the failing run shows it, or a passing one what they wait for. */
static struct stuck find_wait(const struct job *j)
{
	struct stuck found = stuck_find(&j->steps);

	for (size_t i = 0; i < j->alternates.len && !found.kind; i++)
		if (j->alternates.data[i].found)
			found = stuck_find_awaited(&j->steps, &j->alternates.data[i].passing);
	return found;
}

struct err *job_collect(struct job *j, const struct advice *a, struct found *found,
			struct candidates *ret)
{
	bool elsewhere = false;
	struct err *err;

	*found = (struct found){
		.guard = { STEP_NONE, STEP_NONE, STEP_NONE, 0, { STEP_NONE, STEP_NONE } }
	};
	if (j->failing.outcome == PLAIT_OUTCOME_DEADLOCK && !j->gone.kind)
		found->stuck = find_wait(j);
	err = found->stuck.kind ? looks_elsewhere(j, &found->stuck, &elsewhere) : NULL;
	if (err)
		return err;
	if (elsewhere)
		found->stuck.kind = STUCK_NOT;
	collect(j, a, found, ret);
	return NULL;
}
