#include "solve/load-blocked.h"

#include "sym/sym.h"
#include "unplait/effects.h"

struct locks VEC_FIELDS(uint64_t);

void load_blocked_note(struct load_thread *t, size_t position, const struct sym_step *s)
{
	vec_push(&t->syncs, ((struct load_sync){ .position = position,
						 .event = s->event,
						 .beyond = s->beyond,
						 .failed = s->result > 0,
						 .address = s->address,
						 .mutex = s->address2 }));
}

static bool takes(const struct load_sync *s)
{
	return !s->failed && plait_acquires(s->event);
}

/* Does a thread wait here for what another one must do? (A lock is free in the end: the thread that holds
 * it at the failure is given an unlock.) */
static bool waits(const struct load_sync *s)
{
	return plait_may_block(s->event) && !plait_acquires(s->event);
}

static void release(struct locks *held, uint64_t lock)
{
	for (size_t i = held->len; i-- > 0;)
		if (held->data[i] == lock) {
			held->data[i] = held->data[--held->len];
			return;
		}
}

/* The locks held before the n-th synchronisation of a thread. */
static void held_before(const struct load_thread *t, size_t n, struct locks *ret)
{
	vec_clear(ret);
	for (size_t i = 0; i < n; i++) {
		const struct load_sync *s = &t->syncs.data[i];

		if (takes(s))
			vec_push(ret, s->address);
		else if (plait_releases(s->event))
			release(ret, s->address);
		else if (s->event == PLAIT_EV_WAIT)
			release(ret, s->mutex);
		else if (s->event == PLAIT_EV_WOKEN)
			vec_push(ret, s->mutex);
	}
}

static bool holds(const struct load_thread *t, size_t n, uint64_t lock)
{
	struct locks held = { 0 };
	bool found = false;

	held_before(t, n, &held);
	for (size_t i = 0; i < held.len; i++)
		found |= held.data[i] == lock;
	vec_deinit(&held);
	return found;
}

/* A critical section begun behind the last record and not seen to end is left out as well: the
 * thread would go on in it, who knows how. */
void load_free_cut(struct order_build *b, const struct load_thread *t, uint32_t thread)
{
	size_t cut = SIZE_MAX, open = 0;
	struct locks held = { 0 };

	for (size_t i = 0; i < t->syncs.len; i++) {
		const struct load_sync *s = &t->syncs.data[i];

		if (!s->beyond)
			continue;
		if (!held.len)
			open = s->position;
		if (waits(s)) {
			cut = s->position;
			break;
		}
		if (takes(s))
			vec_push(&held, s->address);
		else if (plait_releases(s->event))
			release(&held, s->address);
	}
	if (held.len && !t->ended)
		cut = open;
	if (cut != SIZE_MAX)
		order_build_cut(b, thread, cut, false);
	vec_deinit(&held);
}

/* ---- a deadlock ---- */

enum { MOST_TRIES = 100000 };

struct search {
	const struct load_thread *threads;
	size_t n;
	size_t *at;	/* per thread: the synchronisation it waits in; SIZE_MAX = at its end */
	unsigned tries; /* left */
	unsigned skip;	/* consistent choices to pass over */
};

static bool can_block(const struct load_sync *s)
{
	return s->beyond && !s->failed && (waits(s) || s->event == PLAIT_EV_LOCK);
}

/* Does somebody hold, where it waits, the lock that thread t waits for? (It may be t itself.) */
static bool is_held(const struct search *s, uint64_t lock)
{
	for (size_t u = 0; u < s->n; u++) {
		const struct load_thread *x = &s->threads[u];

		if (!x->ended && holds(x, MIN(s->at[u], x->syncs.len), lock))
			return true;
	}
	return false;
}

static bool all_stuck(const struct search *s)
{
	bool any = false;

	for (size_t t = 0; t < s->n; t++) {
		const struct load_sync *x;

		if (s->threads[t].ended || s->at[t] == SIZE_MAX)
			continue;
		any = true;
		x = &s->threads[t].syncs.data[s->at[t]];
		if (x->event == PLAIT_EV_LOCK && !is_held(s, x->address))
			return false;
	}
	return any;
}

/* Choose for thread t and those behind it, the earliest place first. */
static bool choose(struct search *s, size_t t)
{
	const struct load_thread *x = &s->threads[t];

	if (t == s->n)
		return s->tries && s->tries-- && all_stuck(s) && !s->skip--;
	for (size_t i = 0; i < x->syncs.len && !x->ended; i++) {
		if (!can_block(&x->syncs.data[i]))
			continue;
		s->at[t] = i;
		if (choose(s, t + 1))
			return true;
	}
	s->at[t] = SIZE_MAX;
	return choose(s, t + 1);
}

bool load_blocked_cut(struct order_build *b, struct load_thread *threads, size_t n, unsigned skip)
{
	struct search s = { threads, n, xcalloc(n + 1, sizeof(size_t)), MOST_TRIES, skip };
	bool found = choose(&s, 0);

	for (uint32_t t = 0; t < n; t++) {
		struct load_thread *x = &threads[t];

		if (x->ended)
			continue;
		if (!found)
			load_free_cut(b, x, t);
		else if (s.at[t] != SIZE_MAX)
			order_build_cut(b, t, x->syncs.data[s.at[t]].position + 1, true);
	}
	free(s.at);
	return found;
}
