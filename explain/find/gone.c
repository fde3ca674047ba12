/* explain/find/gone.c - see gone.h.
 *
 * The control engine ends a run at the first use of memory that was freed, or of a lock that was
 * destroyed; the use is then the last step, caught before it was done (steps_add_caught). Two more
 * signs of the same: a thread of a deadlock waits for a lock that is gone, and an unlock that the
 * lock refused because another thread holds it, or nobody. */
#include "explain/find/gone.h"

#include "run/run.h"
#include "unplait/effects.h"

#include <errno.h>

enum { BLOCK_MAX = 1 << 16 };

static bool covers(const struct step *gone, uint64_t address)
{
	if (gone->kind == PLAIT_EV_LOCK_DESTROY)
		return gone->address == address;
	return gone->kind == PLAIT_EV_FREE && address - gone->address < MAX(gone->size, 1u);
}

/* Of a block that was allocated before the recording began nobody knows the size: the release next
 * below the address, the last of them. */
static uint32_t find_nearest(const struct steps *s, uint32_t use)
{
	uint64_t address = s->data[use].address;
	uint32_t found = STEP_NONE;

	for (uint32_t i = 0; i < use; i++) {
		const struct step *e = &s->data[i];

		if (e->kind == PLAIT_EV_FREE && e->size <= 1 && address - e->address < BLOCK_MAX &&
		    (found == STEP_NONE || e->address >= s->data[found].address))
			found = i;
	}
	return found;
}

/* The last step before `use` after which its object was not there any more; STEP_NONE. */
static uint32_t find_end(const struct steps *s, uint32_t use)
{
	uint64_t address = s->data[use].address;

	for (uint32_t i = use; i-- > 0;) {
		if (covers(&s->data[i], address))
			return i;
		if (s->data[i].kind == PLAIT_EV_LOCK_INIT && s->data[i].address == address)
			return STEP_NONE;
	}
	return STEP_NONE;
}

static bool find_caught(const struct steps *s, const struct run_result *end, struct gone *ret)
{
	static const enum bug_kind kinds[] = {
		[PLAIT_MISUSE_FREED] = BUG_USE_AFTER_FREE,
		[PLAIT_MISUSE_FREE_TWICE] = BUG_DOUBLE_FREE,
		[PLAIT_MISUSE_LOCK] = BUG_DESTROYED_LOCK,
	};
	uint32_t code = (uint32_t)end->failure.code;

	if (end->end != PLAIT_END_MISUSE || code >= ARRAY_SIZE(kinds) || !kinds[code])
		return false;
	for (uint32_t i = (uint32_t)s->len; i-- > 0;) {
		if (!s->data[i].pending || s->data[i].address != end->failure.address)
			continue;
		*ret = (struct gone){ kinds[code], i, find_end(s, i) };
		if (ret->by == STEP_NONE)
			ret->by = find_nearest(s, i);
		return ret->by != STEP_NONE;
	}
	return false;
}

/* A lock that nobody will ever give back: it is not there any more. */
static bool find_waiting(const struct steps *s, struct gone *ret)
{
	for (uint32_t i = 0; i < s->len; i++) {
		uint32_t by;

		if (!s->data[i].pending || step_is_memory(&s->data[i]))
			continue;
		by = find_end(s, i);
		if (by == STEP_NONE || s->data[by].thread == s->data[i].thread)
			continue;
		*ret = (struct gone){ BUG_DESTROYED_LOCK, i, by };
		return true;
	}
	return false;
}

/* The thread that has taken the lock before `at` and has not given it back; STEP_NONE. */
static uint32_t holder(const struct steps *s, uint32_t at)
{
	for (uint32_t i = at; i-- > 0;) {
		if (s->data[i].address != s->data[at].address)
			continue;
		if (step_is_acquire(&s->data[i]))
			return i;
		if (step_is_release(&s->data[i]) && !s->data[i].value)
			return STEP_NONE;
	}
	return STEP_NONE;
}

/* The last thing that the failing thread did with a lock was refused. */
static bool find_refused(const struct steps *s, uint32_t failed, struct gone *ret)
{
	for (uint32_t i = (uint32_t)s->len; i-- > 0;) {
		const struct step *e = &s->data[i];

		if (e->thread != failed || e->pending || step_is_memory(e))
			continue;
		if (!step_is_release(e) || e->value != EPERM)
			return false;
		*ret = (struct gone){ BUG_FOREIGN_UNLOCK, i, holder(s, i) };
		return true;
	}
	return false;
}

bool gone_find(const struct steps *failing, const struct run_result *end, struct gone *ret)
{
	if (find_caught(failing, end, ret))
		return true;
	if (end->outcome == PLAIT_OUTCOME_DEADLOCK)
		return find_waiting(failing, ret);
	return end->outcome == PLAIT_OUTCOME_ASSERT &&
	       find_refused(failing, end->failure.thread, ret);
}
