/* explain/find/grip.c - see grip.h.
 *
 * Three ways in which a thread keeps what others give back. A count: who leaves it at one, so that another
 * thread takes that one away and frees the object, has no share in it any more. A lock: who met the object
 * under the lock that is held where it is freed may use it until the unlock. A pointer that is read again
 * each time: who uses what it has read while another thread frees that and stores a new one needs one lock
 * with it. (Who stores nothing, or null, tears it down: that is no question of a lock.) */
#include "explain/find/grip.h"

#include "base/mem.h"
#include "explain/find/guards.h"
#include "unplait/abi.h"

enum { POINTER = 8, MAX_LOCKS = 64 };

struct finder {
	const struct steps *f, *g;
	const struct gone *gone;
	const struct step *use, *by;
};

static bool in_block(const struct finder *d, uint64_t address)
{
	return address - d->by->address < MAX(d->by->size, 1u);
}

static bool touches_block(const struct finder *d, const struct step *e)
{
	return step_is_memory(e) && e->kind != PLAIT_EV_FREE && !e->pending &&
	       in_block(d, e->address);
}

static bool reads_pointer(const struct finder *d, const struct step *e)
{
	return step_is_memory(e) && !e->pending && step_reads(e) && e->size == POINTER &&
	       in_block(d, e->value) && !in_block(d, e->address);
}

/* ---- counts ---- */

/* Does this step, the last change of the count before the release, take it from one to zero? */
static bool ends_count(const struct step *e)
{
	return e->kind == PLAIT_EV_ATOMIC_RMW ? e->value == 1 : e->value == 0;
}

/* Who left the value that this change began with: an update sees it itself, else the read before it; STEP_NONE. */
static uint32_t began_with(const struct steps *s, uint32_t change)
{
	const struct step *e = &s->data[change];

	if (step_reads(e))
		return e->source;
	for (uint32_t k = change; k-- > 0;)
		if (s->data[k].thread == e->thread && s->data[k].address == e->address)
			return step_reads(&s->data[k]) ? s->data[k].source : STEP_NONE;
	return STEP_NONE;
}

static bool is_last_change(const struct steps *s, uint32_t i, uint32_t before)
{
	for (uint32_t k = i + 1; k < before; k++)
		if (s->data[k].thread == s->data[i].thread && step_writes(&s->data[k]) &&
		    s->data[k].address == s->data[i].address)
			return false;
	return true;
}

static bool find_count(const struct finder *d, struct grip *ret)
{
	const struct steps *s = d->f;

	for (uint32_t i = d->gone->by; i-- > 0;) {
		const struct step *e = &s->data[i];
		uint32_t from;

		if (e->thread != d->by->thread || !touches_block(d, e) || !step_writes(e))
			continue;
		/* the last thing that it changed there before it gave it back */
		from = ends_count(e) ? began_with(s, i) : STEP_NONE;
		if (from == STEP_NONE || s->data[from].thread != d->use->thread ||
		    s->data[from].address != e->address || d->use->address == e->address ||
		    !is_last_change(s, from, d->gone->use))
			return false;
		*ret = (struct grip){ GRIP_COUNTED, from, i, false };
		return true;
	}
	return false;
}

/* ---- locks ---- */

/* Does this write go on from what its thread has read there? That is how one counts. */
static bool is_update(const struct steps *s, uint32_t write)
{
	const struct step *e = &s->data[write];

	for (uint32_t k = write; k-- > 0 && !step_reads(e);)
		if (s->data[k].thread == e->thread)
			return s->data[k].address == e->address && step_reads(&s->data[k]);
	return step_reads(e);
}

/* Has the user met the object under this lock, and not counted itself in? The last time it held it. */
static uint32_t met_under(const struct finder *d, uint64_t lock)
{
	const struct steps *s = d->f;
	uint32_t met = STEP_NONE;
	bool inside = false;

	for (uint32_t k = d->gone->use; k-- > 0;) {
		const struct step *e = &s->data[k];

		if (e->thread != d->use->thread || e->pending)
			continue;
		if (step_is_release(e) && e->address == lock)
			inside = true;
		else if (step_is_acquire(e) && e->address == lock)
			return inside ? met : STEP_NONE;
		else if (inside && touches_block(d, e) && step_writes(e) && is_update(s, k))
			return STEP_NONE; /* counted: that is how it is kept */
		else if (inside && (touches_block(d, e) || reads_pointer(d, e)))
			met = k;
	}
	return STEP_NONE;
}

static bool find_lock(const struct finder *d, struct grip *ret)
{
	const struct steps *s = d->f;

	for (uint32_t k = d->gone->by, seen = 0; k-- > 0 && seen < MAX_LOCKS;) {
		const struct step *e = &s->data[k];
		uint32_t met;

		if (e->thread != d->by->thread || !step_is_acquire(e) || e->pending)
			continue;
		seen++;
		if (guards_held(s, d->gone->by, e->address) != k ||
		    guards_held(s, d->gone->use, e->address) != STEP_NONE)
			continue;
		met = met_under(d, e->address);
		if (met == STEP_NONE)
			continue;
		*ret = (struct grip){ GRIP_LOOKED_UP, met, k, false };
		return true;
	}
	return false;
}

/* ---- pointers ---- */

/* Does this step put another object where the pointer is? An update knows only what it found: the object that is
 * freed, or nothing of it. */
static bool puts_another(const struct finder *d, const struct step *e)
{
	if (e->kind == PLAIT_EV_ATOMIC_RMW)
		return in_block(d, e->value);
	return e->value && !in_block(d, e->value);
}

/* Where the freeing thread stores another object in the pointer; STEP_NONE. */
static uint32_t replaced_in(const struct finder *d, const struct steps *s,
			    const struct step *pointer)
{
	bool seen = false; /* what was there before the user has looked is no replacement */

	for (uint32_t k = 0; s && k < s->len; k++) {
		const struct step *e = &s->data[k];

		seen |= e->thread == pointer->thread && e->site == pointer->site &&
			e->address == pointer->address;
		if (!seen)
			continue;
		if (e->thread == d->by->thread && !e->pending && step_is_memory(e) &&
		    step_writes(e) && e->address == pointer->address && e->size == POINTER &&
		    puts_another(d, e))
			return k;
	}
	return STEP_NONE;
}

static bool find_pointer(const struct finder *d, struct grip *ret)
{
	const struct steps *s = d->f;
	uint32_t k = d->gone->use;

	while (k-- > 0 && !(s->data[k].thread == d->use->thread && reads_pointer(d, &s->data[k])))
		;
	if (k == STEP_NONE)
		return false;
	*ret = (struct grip){ GRIP_REPLACED, k, replaced_in(d, s, &s->data[k]), false };
	if (ret->other == STEP_NONE) {
		ret->other = replaced_in(d, d->g, &s->data[k]);
		ret->in_passing = true;
	}
	return ret->other != STEP_NONE && !guards_shared(s, k, d->gone->by);
}

struct grip grip_find(const struct steps *failing, const struct steps *passing,
		      const struct gone *gone)
{
	struct grip grip = { .kind = GRIP_NOT };
	struct finder d = { failing, passing, gone, NULL, NULL };

	if (gone->kind != BUG_USE_AFTER_FREE || gone->by == STEP_NONE)
		return grip;
	d.use = &failing->data[gone->use];
	d.by = &failing->data[gone->by];
	if (d.use->thread != d.by->thread &&
	    (find_count(&d, &grip) || find_lock(&d, &grip) || find_pointer(&d, &grip)))
		return grip;
	return (struct grip){ .kind = GRIP_NOT };
}
