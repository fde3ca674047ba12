/* explain/find/guards.c - see guards.h. */
#include "explain/find/guards.h"

#include "base/mem.h"
#include "explain/find/before.h"
#include "unplait/abi.h"

enum { MAX_LOCKS = 8, MAX_PLACES = 64, AT_FAILURE = 24 };

/* ---- who holds what ---- */

/* The steps at which a thread took the locks that it holds now. */
struct held {
	uint32_t step[MAX_LOCKS], n;
};

static bool is_wait(const struct step *e)
{
	return e->kind == PLAIT_EV_WAIT || e->kind == PLAIT_EV_WOKEN;
}

/* A wait gives its mutex back, and has it again when it is woken. */
static uint64_t lock_of(const struct step *e)
{
	return is_wait(e) ? e->value : e->address;
}

static bool takes(const struct step *e)
{
	return !e->pending && (step_is_acquire(e) || e->kind == PLAIT_EV_WOKEN);
}

static bool gives_back(const struct step *e)
{
	return !e->pending && (step_is_release(e) || e->kind == PLAIT_EV_WAIT);
}

static struct held held_at(const struct steps *s, uint32_t at)
{
	struct held h = { .n = 0 };

	for (uint32_t i = 0; i < at; i++) {
		const struct step *e = &s->data[i];

		if (e->thread != s->data[at].thread)
			continue;
		if (takes(e) && h.n < MAX_LOCKS)
			h.step[h.n++] = i;
		for (uint32_t k = h.n; gives_back(e) && k-- > 0;)
			if (lock_of(&s->data[h.step[k]]) == lock_of(e)) {
				h.step[k] = h.step[--h.n];
				break;
			}
	}
	return h;
}

static uint32_t find_lock(const struct steps *s, const struct held *h, uint64_t lock)
{
	for (uint32_t k = 0; k < h->n; k++)
		if (lock_of(&s->data[h->step[k]]) == lock)
			return h->step[k];
	return STEP_NONE;
}

uint32_t guards_held(const struct steps *s, uint32_t at, uint64_t lock)
{
	struct held h = held_at(s, at);

	return find_lock(s, &h, lock);
}

uint32_t guards_nested(const struct steps *s, uint64_t outer, uint64_t inner)
{
	_cleanup_(xfreep) bool *holds = xcalloc(s->nthreads, sizeof(*holds));

	for (uint32_t i = 0; i < s->len; i++) {
		const struct step *e = &s->data[i];

		if (takes(e) && lock_of(e) == inner && holds[e->thread])
			return i;
		if (lock_of(e) == outer && (takes(e) || gives_back(e)))
			holds[e->thread] = takes(e);
	}
	return STEP_NONE;
}

/* ---- every access to an object ---- */

static bool overlaps(const struct step *a, const struct step *b)
{
	return a->address < b->address + MAX(b->size, 1u) &&
	       b->address < a->address + MAX(a->size, 1u);
}

/* Places that touch the object, and whether they hold the lock. */
struct places {
	uint32_t site[MAX_PLACES], n;
};

static bool is_known(const struct places *p, uint32_t site)
{
	for (uint32_t k = 0; k < p->n; k++)
		if (p->site[k] == site)
			return true;
	return false;
}

/* Before the first of the others was created, or after the last was joined: no lock is needed. */
static bool is_lonely(const struct steps *s, const struct step *e)
{
	for (uint32_t t = 0; s->births && t < s->nthreads; t++) {
		const struct birth *b = &s->births[t];

		if (t != e->thread && b->clock <= e->clock &&
		    !(b->joined && b->joined <= e->clock + 1))
			return false;
	}
	return s->births != NULL;
}

/* Does this access keep to the rule that all but u hold the lock? */
static bool fits(const struct step *e, const struct step *u, bool holds, struct places *with)
{
	if (e->site == u->site)
		return !holds; /* else its callers sometimes take it: their business */
	if (!holds)	       /* x++ of the one that forgot it is two places in one thread */
		return e->thread == u->thread && !is_known(with, e->site);
	if (is_known(with, e->site))
		return true;
	if (with->n == MAX_PLACES)
		return false;
	with->site[with->n++] = e->site;
	return true;
}

/* Is the lock held at every place that touches the object, but the one that forgot it? */
static bool is_rule(const struct steps *s, uint32_t without, uint64_t lock, struct guard *ret)
{
	const struct step *u = &s->data[without];
	_cleanup_(xfreep) uint32_t *depth = xcalloc(s->nthreads, sizeof(*depth));
	struct places with = { .n = 0 };
	bool holds = true;

	ret->also[0] = ret->also[1] = STEP_NONE;
	for (uint32_t i = 0; i < s->len && holds; i++) {
		const struct step *e = &s->data[i];

		if (takes(e) && lock_of(e) == lock)
			depth[e->thread]++;
		else if (gives_back(e) && lock_of(e) == lock && depth[e->thread])
			depth[e->thread]--;
		else if (!e->pending && !e->alone && step_is_memory(e) && overlaps(e, u) &&
			 e->kind != PLAIT_EV_FREE && !is_lonely(s, e)) {
			holds = fits(e, u, depth[e->thread] > 0, &with);
			if (!depth[e->thread] && e->site != u->site)
				ret->also[ret->also[0] != STEP_NONE] = i;
		}
	}
	ret->places = with.n;
	return holds && with.n > 0;
}

/* An atomic access does without a lock on purpose. */
static bool is_atomic(const struct step *e)
{
	return e->kind == PLAIT_EV_ATOMIC_READ || e->kind == PLAIT_EV_ATOMIC_WRITE ||
	       e->kind == PLAIT_EV_ATOMIC_RMW;
}

static bool have_common_lock(const struct steps *s, const struct held *a, const struct held *b)
{
	for (uint32_t k = 0; k < a->n; k++)
		if (find_lock(s, b, lock_of(&s->data[a->step[k]])) != STEP_NONE)
			return true;
	return false;
}

bool guards_shared(const struct steps *s, uint32_t a, uint32_t b)
{
	struct held mine = held_at(s, a), other = held_at(s, b);

	return have_common_lock(s, &mine, &other);
}

bool guards_apart(const struct steps *s, uint32_t a, uint32_t b)
{
	struct held mine = held_at(s, a), other = held_at(s, b);

	return mine.n && other.n && !have_common_lock(s, &mine, &other);
}

/* A read after all that others write, ordered by a join or a lock: it sees what became of it, and nobody can
 * come between. The last write of each thread stands for all. */
static bool only_checks(const struct steps *s, uint32_t at)
{
	for (uint32_t t = 0; t < s->nthreads; t++) {
		uint32_t last = STEP_NONE;

		for (uint32_t k = 0; k < s->len; k++)
			if (s->data[k].thread == t && step_is_memory(&s->data[k]) &&
			    step_conflicts(&s->data[k], &s->data[at]))
				last = k;
		if (last != STEP_NONE && (last > at || !steps_ordered(s, last, at)))
			return false;
	}
	return !step_writes(&s->data[at]);
}

static bool forgot(const struct steps *s, uint32_t without, uint32_t with, struct guard *ret)
{
	struct held mine = held_at(s, without), other = held_at(s, with);

	if (is_atomic(&s->data[without]) || have_common_lock(s, &mine, &other))
		return false;
	for (uint32_t k = other.n; k-- > 0;) {
		uint64_t lock = lock_of(&s->data[other.step[k]]);

		if (find_lock(s, &mine, lock) != STEP_NONE || s->data[other.step[k]].sole ||
		    !is_rule(s, without, lock, ret) || only_checks(s, without))
			continue;
		ret->lock = other.step[k];
		ret->with = with;
		ret->without = without;
		return true;
	}
	return false;
}

bool guards_find(const struct steps *s, uint32_t a, uint32_t b, struct guard *ret)
{
	const struct step *x, *y;

	if (a >= s->len || b >= s->len)
		return false;
	x = &s->data[a];
	y = &s->data[b];
	if (x->thread == y->thread || !step_is_memory(x) || !step_is_memory(y) || !overlaps(x, y) ||
	    x->pending || y->pending || !(step_writes(x) || step_writes(y)))
		return false;
	return forgot(s, a, b, ret) || forgot(s, b, a, ret);
}

/* The last thing that this step's thread synchronised by, if it was giving back a lock; STEP_NONE. */
static uint32_t release_before(const struct steps *s, uint32_t at)
{
	for (uint32_t k = at; k-- > 0;)
		if (s->data[k].thread == s->data[at].thread && !step_is_memory(&s->data[k]))
			return step_is_release(&s->data[k]) ? k : STEP_NONE;
	return STEP_NONE;
}

static uint32_t given_back_before(const struct steps *s, uint32_t at, uint64_t lock)
{
	uint32_t k = release_before(s, at);

	return k != STEP_NONE && s->data[k].address == lock ? k : STEP_NONE;
}

/* Who holds the lock, and who has just given it back. */
enum { HOLDS = 1, GAVE_BACK = 2 };

/* Is every access to the object done with the lock in hand, or just after it was given back? */
static bool all_with_or_after(const struct steps *s, uint32_t at, uint64_t lock)
{
	_cleanup_(xfreep) uint8_t *state = xcalloc(s->nthreads, sizeof(*state));
	bool holds = true;

	for (uint32_t i = 0; i < s->len && holds; i++) {
		const struct step *e = &s->data[i];

		if (!step_is_memory(e) && lock_of(e) == lock && (takes(e) || gives_back(e)))
			state[e->thread] = takes(e) ? HOLDS : GAVE_BACK;
		else if (!step_is_memory(e))
			state[e->thread] &= HOLDS;
		else if (!e->pending && !e->alone && overlaps(e, &s->data[at]) &&
			 e->kind != PLAIT_EV_FREE && !is_lonely(s, e))
			holds = state[e->thread] != 0;
	}
	return holds;
}

static bool is_early(const struct steps *s, uint32_t without, uint32_t with, struct guard *ret,
		     uint32_t *release)
{
	struct held other = held_at(s, with);

	for (uint32_t k = other.n; k-- > 0 && !is_atomic(&s->data[without]);) {
		uint64_t lock = lock_of(&s->data[other.step[k]]);

		*release = given_back_before(s, without, lock);
		if (*release == STEP_NONE || guards_held(s, without, lock) != STEP_NONE ||
		    !all_with_or_after(s, without, lock))
			continue;
		*ret = (struct guard){ other.step[k], with, without, 0, { STEP_NONE, STEP_NONE } };
		return true;
	}
	return false;
}

/* The same where both have just given it back, so that `with` is some other access. */
static bool are_early(const struct steps *s, uint32_t a, uint32_t b, struct guard *ret,
		      uint32_t *release)
{
	uint64_t lock;

	*release = release_before(s, a);
	if (*release == STEP_NONE || is_atomic(&s->data[a]))
		return false;
	lock = s->data[*release].address;
	if (given_back_before(s, b, lock) == STEP_NONE || !all_with_or_after(s, a, lock))
		return false;
	for (uint32_t k = a; k-- > 0;) {
		uint32_t held = step_is_memory(&s->data[k]) && overlaps(&s->data[k], &s->data[a])
					? guards_held(s, k, lock)
					: STEP_NONE;

		if (held == STEP_NONE)
			continue;
		*ret = (struct guard){ held, k, a, 0, { STEP_NONE, STEP_NONE } };
		return true;
	}
	return false;
}

/* Another thread's access that this one can meet, nearest to it; STEP_NONE. */
static uint32_t nearest_conflict(const struct steps *s, uint32_t at)
{
	for (uint32_t d = 1; d < s->len; d++) {
		if (at >= d && step_is_memory(&s->data[at - d]) &&
		    step_conflicts(&s->data[at - d], &s->data[at]))
			return at - d;
		if (at + d < s->len && step_is_memory(&s->data[at + d]) &&
		    step_conflicts(&s->data[at + d], &s->data[at]))
			return at + d;
	}
	return STEP_NONE;
}

bool guards_early(const struct steps *s, uint32_t a, uint32_t b, struct guard *ret,
		  uint32_t *release)
{
	if (a >= s->len || b >= s->len || s->data[a].thread == s->data[b].thread ||
	    !step_is_memory(&s->data[a]) || !step_is_memory(&s->data[b]) ||
	    !overlaps(&s->data[a], &s->data[b]))
		return false;
	return is_early(s, a, b, ret, release) || is_early(s, b, a, ret, release) ||
	       are_early(s, a, b, ret, release);
}

bool guards_early_at(const struct steps *s, uint32_t at, struct guard *ret, uint32_t *release)
{
	uint32_t other = step_is_memory(&s->data[at]) ? nearest_conflict(s, at) : STEP_NONE;

	return other != STEP_NONE && is_early(s, at, other, ret, release);
}

uint32_t guards_differ(const struct steps *s, uint32_t a, uint32_t b)
{
	struct held mine, other;

	if (a >= s->len || b >= s->len || s->data[a].thread == s->data[b].thread)
		return STEP_NONE;
	mine = held_at(s, a);
	other = held_at(s, b);
	if (have_common_lock(s, &mine, &other))
		return STEP_NONE;
	for (uint32_t k = 0; k < mine.n; k++)
		for (uint32_t i = 0; i < other.n; i++)
			if (s->data[mine.step[k]].site == s->data[other.step[i]].site)
				return mine.step[k];
	return STEP_NONE;
}

bool guards_at_failure(const struct steps *s, uint32_t failed, struct guard *ret)
{
	for (uint32_t i = (uint32_t)s->len, seen = 0; i-- > 0 && seen < AT_FAILURE;) {
		const struct step *e = &s->data[i];
		uint32_t other;

		if (e->thread != failed || e->pending || e->alone || !step_is_memory(e) ||
		    e->kind == PLAIT_EV_FREE)
			continue;
		seen++;
		other = nearest_conflict(s, i);
		if (other != STEP_NONE && guards_find(s, i, other, ret))
			return true;
	}
	return false;
}
