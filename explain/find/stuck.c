/* explain/find/stuck.c - see stuck.h.
 *
 * A thread looks at something under a lock (the check), finds that it has to wait, and waits. That
 * nobody wakes it has a handful of reasons, and the steps of the run tell them apart: what became of
 * the memory that it looked at, and of the signals to its condition?
 *
 * The memory was changed by another thread after the check: then the signal either came before the
 * wait (lost), or after it but woke somebody else (stolen), or not at all (silent). If it was not
 * changed any more, the thread was right to wait; then what was once announced was undone before it
 * looked. If it looked at nothing, the signal may simply have come before.
 *
 * If nobody's memory was changed after the check, two threads may wait for each other, as they do for two
 * locks: each looked at what the other one had set last (a lock made of a flag, a mutex and a condition).
 *
 * Memory that was looked at before the lock was taken counts only when nothing else explains it: a
 * flag that is tested outside, and a wait inside. */
#include "explain/find/stuck.h"

#include "base/mem.h"
#include "explain/find/guards.h"
#include "unplait/abi.h"

enum { MAX_CHECKS = 24, BEFORE_LOCK = 60 };

static bool is_wait(const struct step *s)
{
	return s->kind == PLAIT_EV_WAIT || s->kind == PLAIT_EV_WOKEN;
}

static bool is_signal(const struct step *s, uint64_t condition)
{
	return (s->kind == PLAIT_EV_SIGNAL || s->kind == PLAIT_EV_BROADCAST) &&
	       s->address == condition;
}

/* ---- a lock is held meanwhile ---- */

static bool find_held(const struct steps *s, uint32_t wait, struct stuck *ret)
{
	for (uint32_t k = 0; k < s->len; k++) {
		const struct step *e = &s->data[k];
		uint32_t held;

		if (!e->pending || !step_is_acquire(e) || e->thread == s->data[wait].thread)
			continue;
		held = guards_held(s, wait, e->address);
		if (held == STEP_NONE)
			continue;
		*ret = (struct stuck){
			.kind = STUCK_HOLDS, .wait = wait, .held = held, .other = k
		};
		return true;
	}
	return false;
}

/* ---- the check ---- */

/* Where the thread began to wait: its wait is over only when it is woken. */
static uint32_t begin_of_wait(const struct steps *s, uint32_t wait)
{
	for (uint32_t k = wait; k-- > 0;)
		if (s->data[k].thread == s->data[wait].thread && s->data[k].kind == PLAIT_EV_WAIT)
			return s->data[wait].kind == PLAIT_EV_WOKEN ? k : wait;
	return wait;
}

struct checks {
	uint32_t step[MAX_CHECKS], n; /* the latest first */
	uint32_t lock;		      /* where the lock of the wait was taken; STEP_NONE */
};

/* Has the thread the lock of the wait since this step? Other locks, taken and given back in between, are
 * those of what it looks at. */
static bool takes_lock_of_wait(const struct step *e, const struct step *wait)
{
	if (e->kind == PLAIT_EV_WOKEN)
		return true;
	return step_is_acquire(e) && (wait->kind != PLAIT_EV_WAIT || e->address == wait->value);
}

/* What it read between taking the lock, or waking up, and the wait. outside: ... before that. */
static struct checks checks_of(const struct steps *s, uint32_t begin, bool outside)
{
	struct checks c = { .lock = STEP_NONE };
	uint32_t seen = 0;

	for (uint32_t k = begin; k-- > 0 && c.n < MAX_CHECKS && seen < BEFORE_LOCK;) {
		const struct step *e = &s->data[k];

		if (e->thread != s->data[begin].thread)
			continue;
		seen += c.lock != STEP_NONE && !e->alone;
		if (c.lock == STEP_NONE && takes_lock_of_wait(e, &s->data[begin])) {
			c.lock = k;
			if (!outside)
				break;
		}
		if (step_is_memory(e) && step_reads(e) && !e->alone &&
		    (!outside || c.lock != STEP_NONE))
			c.step[c.n++] = k;
	}
	return c;
}

/* ---- it was changed after the check ---- */

static bool overlaps(const struct step *a, const struct step *b)
{
	return a->address < b->address + MAX(b->size, 1u) &&
	       b->address < a->address + MAX(a->size, 1u);
}

/* Another thread's first write to what was checked, after the check; STEP_NONE. */
static uint32_t change_after(const struct steps *s, uint32_t check)
{
	for (uint32_t k = check + 1; k < s->len; k++)
		if (s->data[k].thread != s->data[check].thread && !s->data[k].pending &&
		    step_is_memory(&s->data[k]) && step_writes(&s->data[k]) &&
		    s->data[k].kind != PLAIT_EV_FREE && overlaps(&s->data[k], &s->data[check]))
			return k;
	return STEP_NONE;
}

/* The first signal after `from`; STEP_NONE. */
static uint32_t signal_after(const struct steps *s, uint32_t from, uint32_t until,
			     uint64_t condition)
{
	for (uint32_t k = from + 1; k < until; k++)
		if (is_signal(&s->data[k], condition))
			return k;
	return STEP_NONE;
}

/* Somebody else woke up from the same condition after the signal. */
static uint32_t woken_after(const struct steps *s, uint32_t signal, uint32_t wait)
{
	for (uint32_t k = signal + 1; k < s->len; k++)
		if (s->data[k].kind == PLAIT_EV_WOKEN && !s->data[k].pending &&
		    s->data[k].address == s->data[wait].address &&
		    s->data[k].thread != s->data[wait].thread)
			return k;
	return STEP_NONE;
}

/* What came of one check, if it was changed after. */
static bool changed(const struct steps *s, uint32_t check, uint32_t begin, struct stuck *ret)
{
	uint64_t condition = s->data[ret->wait].address;
	uint32_t change = change_after(s, check), signal;

	if (change == STEP_NONE)
		return false;
	ret->check = check;
	ret->change = change;
	signal = change < begin ? signal_after(s, change, begin, condition) : STEP_NONE;
	if (signal != STEP_NONE) {
		ret->kind = STUCK_LOST;
		ret->signal = signal;
		return true;
	}
	signal = signal_after(s, MAX(change, begin), (uint32_t)s->len, condition);
	if (signal == STEP_NONE) {
		ret->kind = STUCK_SILENT;
		return true;
	}
	ret->woken = woken_after(s, signal, ret->wait);
	ret->signal = signal;
	ret->kind = STUCK_STOLEN;
	return ret->woken != STEP_NONE && s->data[signal].kind == PLAIT_EV_SIGNAL;
}

/* ---- it was there before, and undone ---- */

static uint32_t write_before(const struct steps *s, uint32_t before, uint32_t check)
{
	for (uint32_t k = before; k-- > 0;)
		if (step_is_memory(&s->data[k]) && step_writes(&s->data[k]) &&
		    overlaps(&s->data[k], &s->data[check]))
			return k;
	return STEP_NONE;
}

/* What is there after this write; an update knows only what it found. */
static uint64_t value_after(const struct steps *s, uint32_t write)
{
	const struct step *e = &s->data[write];

	for (uint32_t k = write + 1; e->kind == PLAIT_EV_ATOMIC_RMW && k < s->len; k++)
		if (step_is_memory(&s->data[k]) && s->data[k].address == e->address &&
		    (step_reads(&s->data[k]) || s->data[k].kind == PLAIT_EV_ATOMIC_RMW))
			return s->data[k].value;
	return e->value;
}

/* Does this write go on from what its thread has just read there? */
static bool is_update(const struct steps *s, uint32_t write)
{
	const struct step *e = &s->data[write];

	for (uint32_t k = write; k-- > 0 && e->kind != PLAIT_EV_ATOMIC_RMW;)
		if (s->data[k].thread == e->thread)
			return step_is_memory(&s->data[k]) && step_reads(&s->data[k]) &&
			       s->data[k].address == e->address;
	return e->kind == PLAIT_EV_ATOMIC_RMW;
}

/* A number that is counted up, twice: who waits for it to change has missed nothing. */
static bool has_grown(const struct steps *s, uint32_t set, uint32_t change, uint32_t before)
{
	uint64_t first = before == STEP_NONE ? 0 : value_after(s, before);

	return is_update(s, set) && is_update(s, change) && first < value_after(s, set) &&
	       value_after(s, set) < value_after(s, change);
}

/* One thread that does the same twice has not undone it, unless it is back at what it was before: a
 * queue that is filled, a number that grows. */
static bool is_back(const struct steps *s, uint32_t set, uint32_t change, uint32_t check)
{
	uint32_t before = write_before(s, set, check);

	if (s->data[change].thread != s->data[set].thread)
		return true;
	if (has_grown(s, set, change, before))
		return false;
	return s->data[change].site != s->data[set].site || before == STEP_NONE ||
	       s->data[before].value == s->data[change].value;
}

/* Did this thread see the value of `set` before it was changed? Then it has had what was announced. */
static bool seen_between(const struct steps *s, uint32_t set, uint32_t change, uint32_t thread)
{
	for (uint32_t k = set + 1; k < change; k++)
		if (s->data[k].thread == thread && step_is_memory(&s->data[k]) &&
		    step_reads(&s->data[k]) && overlaps(&s->data[k], &s->data[set]))
			return true;
	return false;
}

/* Set and announced by another thread, after this one was born, and changed since, before the check. */
static bool undone(const struct steps *s, uint32_t check, struct stuck *ret)
{
	uint32_t change = write_before(s, check, check), me = s->data[check].thread;
	uint32_t set = change == STEP_NONE ? STEP_NONE : write_before(s, change, check), signal;

	if (set == STEP_NONE || s->data[set].thread == me ||
	    s->data[set].value == s->data[change].value || !is_back(s, set, change, check) ||
	    seen_between(s, set, change, me) ||
	    (s->births && s->data[set].clock + 1 < s->births[me].clock))
		return false;
	signal = signal_after(s, set, check, s->data[ret->wait].address);
	if (signal == STEP_NONE || s->data[signal].thread != s->data[set].thread ||
	    signal_after(s, check, (uint32_t)s->len, s->data[ret->wait].address) != STEP_NONE)
		return false;
	ret->kind = s->data[change].thread == me		    ? STUCK_OVERWRITTEN
		    : s->data[change].thread == s->data[set].thread ? STUCK_REUSED
								    : STUCK_TAKEN;
	/* a signal after the second write announces that one */
	if (ret->kind == STUCK_REUSED && signal > change)
		return false;
	ret->check = check;
	ret->change = change;
	ret->set = set;
	ret->signal = signal;
	return true;
}

/* ---- the answer ---- */

static struct stuck nothing(uint32_t wait)
{
	return (struct stuck){ .wait = wait,
			       .check = STEP_NONE,
			       .change = STEP_NONE,
			       .set = STEP_NONE,
			       .signal = STEP_NONE,
			       .woken = STEP_NONE,
			       .held = STEP_NONE,
			       .other = STEP_NONE,
			       .other_check = STEP_NONE,
			       .other_change = STEP_NONE };
}

/* A later check says more than an earlier one, a lost or stolen signal more than none. */
static void look_at_checks(const struct steps *s, const struct checks *c, uint32_t begin,
			   struct stuck *ret)
{
	struct stuck best = *ret;

	for (uint32_t i = 0; i < c->n; i++) {
		struct stuck now = nothing(ret->wait);

		now.held = c->lock;
		if ((changed(s, c->step[i], begin, &now) || undone(s, c->step[i], &now)) &&
		    (!best.kind || now.kind < best.kind))
			best = now;
	}
	*ret = best;
}

/* What was looked at again under the lock does not count as looked at before it. */
static void drop_repeated(const struct steps *s, const struct checks *again, struct checks *c)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		bool repeated = false;

		for (uint32_t k = 0; k < again->n && !repeated; k++)
			repeated = overlaps(&s->data[c->step[i]], &s->data[again->step[k]]);
		if (!repeated)
			c->step[kept++] = c->step[i];
	}
	c->n = kept;
}

/* What it looked at before it took the lock. */
static struct stuck look_outside(const struct steps *s, uint32_t wait, uint32_t begin,
				 const struct checks *inside)
{
	struct checks before = checks_of(s, begin, true);
	struct stuck found = nothing(wait);

	drop_repeated(s, inside, &before);
	if (before.lock != STEP_NONE && step_is_acquire(&s->data[before.lock]))
		look_at_checks(s, &before, begin, &found);
	if (found.kind == STUCK_OVERWRITTEN)
		return found;
	if (found.kind != STUCK_LOST && found.kind != STUCK_SILENT)
		return nothing(wait);
	found.kind = found.kind == STUCK_LOST ? STUCK_MISSED : STUCK_UNGUARDED;
	return found;
}

/* Of two changes before the signal that was lost, it announces the later one. */
static bool announces(const struct stuck *outside, const struct stuck *inside)
{
	return outside->kind == STUCK_MISSED && inside->kind == STUCK_LOST &&
	       outside->signal == inside->signal && outside->change > inside->change;
}

static struct stuck explain_wait(const struct steps *s, uint32_t wait)
{
	struct stuck found = nothing(wait), before;
	uint32_t begin = begin_of_wait(s, wait), signal = STEP_NONE;
	struct checks c = checks_of(s, begin, false);

	if (find_held(s, wait, &found))
		return found;
	look_at_checks(s, &c, begin, &found);
	before = look_outside(s, wait, begin, &c);
	if (before.kind && (!found.kind || before.kind < found.kind || announces(&before, &found)))
		return before;
	if (found.kind)
		return found;
	for (uint32_t k = 0; k < begin; k++)
		if (is_signal(&s->data[k], s->data[wait].address) &&
		    s->data[k].thread != s->data[wait].thread)
			signal = k;
	if (!c.n && signal != STEP_NONE) {
		found.kind = STUCK_BLIND;
		found.signal = signal;
	}
	return found;
}

/* Waits until another thread has done something, or has ended; a lock that somebody holds is another
 * story. */
static bool waits_for_somebody(const struct step *e)
{
	return e->pending && !step_is_acquire(e) &&
	       (e->kind == PLAIT_EV_SEM_WAIT || e->kind == PLAIT_EV_BARRIER_LEAVE ||
		e->kind == PLAIT_EV_JOIN);
}

/* What a waiting thread looked at and `other` wrote last; the check, and the write in *ret. */
static uint32_t set_by(const struct steps *s, uint32_t wait, uint32_t other, uint32_t *ret)
{
	struct checks c = checks_of(s, begin_of_wait(s, wait), false);

	for (uint32_t i = 0; i < c.n; i++) {
		*ret = write_before(s, c.step[i], c.step[i]);
		if (*ret != STEP_NONE && s->data[*ret].thread == other &&
		    other != s->data[wait].thread)
			return c.step[i];
	}
	return STEP_NONE;
}

/* Two threads, each of which looked at what the other one had set last. If it is one variable, it is a
 * count, and perhaps a third thread is missing. */
static bool find_mutual(const struct steps *s, uint32_t a, uint32_t b, struct stuck *ret)
{
	struct stuck k = nothing(a);

	k.kind = STUCK_MUTUAL;
	k.other = b;
	k.check = set_by(s, a, s->data[b].thread, &k.change);
	k.other_check = set_by(s, b, s->data[a].thread, &k.other_change);
	if (k.check == STEP_NONE || k.other_check == STEP_NONE ||
	    overlaps(&s->data[k.check], &s->data[k.other_check]))
		return false;
	*ret = k;
	return true;
}

static struct stuck mutual(const struct steps *s)
{
	struct stuck k = nothing(STEP_NONE);

	for (uint32_t a = 0; a < s->len; a++)
		for (uint32_t b = a + 1; b < s->len && s->data[a].pending; b++)
			if (is_wait(&s->data[a]) && s->data[b].pending && is_wait(&s->data[b]) &&
			    find_mutual(s, a, b, &k))
				return k;
	return k;
}

struct stuck stuck_find(const struct steps *failing)
{
	struct stuck best = nothing(STEP_NONE);

	for (uint32_t i = 0; i < failing->len; i++) {
		struct stuck now = nothing(i);

		if (failing->data[i].pending && is_wait(&failing->data[i]))
			now = explain_wait(failing, i);
		else if (waits_for_somebody(&failing->data[i]))
			find_held(failing, i, &now);
		if (now.kind && (!best.kind || now.kind < best.kind))
			best = now;
	}
	return best.kind ? best : mutual(failing);
}

/* In the passing run, the last write to what was checked since the thread that checked it was created, if nobody but
 * `by` writes it then; NULL. */
static const struct step *written_only_by(const struct steps *passing, const struct step *check,
					  uint32_t by)
{
	const struct step *found = NULL;
	uint64_t since = passing->births && check->thread < passing->nthreads
				 ? passing->births[check->thread].clock
				 : 0;

	for (uint32_t k = 0; k < passing->len; k++) {
		const struct step *e = &passing->data[k];

		if (!step_is_memory(e) || !step_writes(e) || e->pending ||
		    e->kind == PLAIT_EV_FREE || e->clock + 1 < since || !overlaps(e, check))
			continue;
		if (e->thread != by)
			return NULL;
		found = e;
	}
	return found;
}

/* a waits for what b's thread would do, and b for what a's thread has set last. (What nobody has changed in the
 * failing run looks as if a's thread had it for itself.) */
static bool find_awaited(const struct steps *s, const struct steps *passing, uint32_t a, uint32_t b,
			 struct stuck *ret)
{
	uint32_t begin = begin_of_wait(s, a);
	struct checks c = checks_of(s, begin, false);
	const struct step *awaited = NULL;
	struct stuck k = nothing(a);

	k.kind = STUCK_AWAITS;
	k.other = b;
	k.other_check = set_by(s, b, s->data[a].thread, &k.other_change);
	if (k.other_check == STEP_NONE || c.lock == STEP_NONE)
		return false;
	for (uint32_t i = begin; i-- > c.lock && !awaited;) {
		if (s->data[i].thread != s->data[a].thread || !step_is_memory(&s->data[i]) ||
		    !step_reads(&s->data[i]))
			continue;
		if (change_after(s, i) != STEP_NONE)
			return false;
		k.check = i;
		awaited = written_only_by(passing, &s->data[i], s->data[b].thread);
	}
	if (!awaited || overlaps(&s->data[k.check], &s->data[k.other_check]))
		return false;
	k.awaited = *awaited;
	*ret = k;
	return true;
}

struct stuck stuck_find_awaited(const struct steps *failing, const struct steps *passing)
{
	struct stuck k = nothing(STEP_NONE);

	for (uint32_t a = 0; a < failing->len; a++)
		for (uint32_t b = 0; b < failing->len && failing->data[a].pending; b++)
			if (a != b && failing->data[b].pending && is_wait(&failing->data[a]) &&
			    is_wait(&failing->data[b]) && find_awaited(failing, passing, a, b, &k))
				return k;
	return k;
}

/* A signal by the thread of a step before it takes a lock again. */
static bool signals_after(const struct steps *run, uint32_t step)
{
	for (uint32_t k = step + 1; k < run->len; k++) {
		const struct step *e = &run->data[k];

		if (e->thread != run->data[step].thread || e->pending)
			continue;
		if (e->kind == PLAIT_EV_SIGNAL || e->kind == PLAIT_EV_BROADCAST)
			return true;
		if (step_is_acquire(e))
			return false;
	}
	return false;
}

bool stuck_is_shown(enum stuck_kind kind)
{
	return kind && kind != STUCK_MUTUAL && kind != STUCK_AWAITS && kind != STUCK_STOLEN &&
	       kind != STUCK_SILENT && kind != STUCK_TAKEN && kind != STUCK_UNGUARDED;
}

bool stuck_is_deliberate(const struct stuck *k, const struct steps *failing,
			 const struct steps *run)
{
	if (k->kind != STUCK_SILENT)
		return false;
	for (uint32_t i = 0; i < run->len; i++)
		if (run->data[i].site == failing->data[k->change].site && !run->data[i].pending &&
		    signals_after(run, i))
			return true;
	return false;
}
