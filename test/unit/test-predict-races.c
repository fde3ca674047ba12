/* Predicted races against all sync-preserving reorderings of small random runs.
 *
 * The oracle walks every interleaving of the threads' events that is a run: locks are free when they are
 * taken, each read sees the write that it saw, what waits has been woken, sections of one lock keep
 * their order. Two accesses race if some such walk has both of them next. */
#include "base/mem.h"
#include "race/predict.h"
#include "trace/trace.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, EVENTS = 18, LOCKS = 2, PLACES = 2 };
enum { LOCK_AT = 0x1000, SEM = 0x2000, DATA = 0x3000 };

struct run {
	struct event ev[EVENTS];
	uint32_t n, lane[THREADS][EVENTS], len[THREADS];
	uint32_t writer[EVENTS];	 /* of a read: the write it saw, EVENTS = none */
	uint32_t posted[EVENTS][EVENTS]; /* of a wait: which posts came before */
	bool meets[EVENTS][EVENTS];
	bool *visited;
	uint64_t random;
};

static uint32_t pick(struct run *r, uint32_t n)
{
	r->random = r->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(r->random >> 33) % n;
}

static struct event *add(struct run *r, uint32_t thread, uint8_t kind, uint64_t address)
{
	struct event *ev = &r->ev[r->n];

	*ev = (struct event){ .thread = thread,
			      .kind = kind,
			      .index = r->len[thread],
			      .clock = r->n + 1,
			      .site = r->n + 1,
			      .address = address,
			      .n = 4 };
	r->lane[thread][r->len[thread]++] = r->n++;
	return ev;
}

/* ---- a random run ---- */

static void generate(struct run *r, uint64_t seed)
{
	uint32_t owner[LOCKS] = { 0 }, posts = 0;
	bool *visited = r->visited;

	*r = (struct run){ .random = seed, .visited = visited };
	for (uint32_t t = 1; t < THREADS; t++)
		add(r, 0, PLAIT_EV_FORK, 0)->other = t;
	while (r->n < EVENTS) {
		uint32_t t = pick(r, THREADS), l = pick(r, LOCKS), what = pick(r, 10);

		if (what < 4 && (!owner[l] || owner[l] == t + 1)) {
			add(r, t, owner[l] ? PLAIT_EV_UNLOCK : PLAIT_EV_LOCK, LOCK_AT + 64 * l);
			owner[l] = owner[l] ? 0 : t + 1;
		} else if (what == 4) {
			add(r, t, PLAIT_EV_SEM_POST, SEM);
			posts++;
		} else if (what == 5 && posts) {
			add(r, t, PLAIT_EV_SEM_WAIT, SEM);
			posts--;
		} else if (what > 5) {
			add(r, t, pick(r, 2) ? PLAIT_EV_READ : PLAIT_EV_WRITE,
			    DATA + 8 * pick(r, PLACES));
		}
	}
	for (uint32_t i = 0; i < r->n; i++) {
		r->writer[i] = EVENTS;
		for (uint32_t k = 0; k < i; k++) {
			if (r->ev[k].kind == PLAIT_EV_WRITE && r->ev[i].kind == PLAIT_EV_READ &&
			    r->ev[k].address == r->ev[i].address)
				r->writer[i] = k;
			r->posted[i][k] = r->ev[k].kind == PLAIT_EV_SEM_POST &&
					  r->ev[i].kind == PLAIT_EV_SEM_WAIT;
		}
	}
}

/* ---- every walk ---- */

struct state {
	uint8_t at[THREADS];
	uint8_t last[PLACES]; /* the write that each place has, EVENTS = none */
};

static bool is_done(const struct run *r, const struct state *s, uint32_t event)
{
	return r->ev[event].index < s->at[r->ev[event].thread];
}

/* May this event be next? Waits need the posts that they had, as the closure has it. */
static bool is_enabled(const struct run *r, const struct state *s, uint32_t i)
{
	const struct event *ev = &r->ev[i];

	if (ev->thread && !is_done(r, s, r->lane[0][ev->thread - 1]))
		return false;
	if (ev->kind == PLAIT_EV_READ && s->last[(ev->address - DATA) / 8] != r->writer[i])
		return false;
	for (uint32_t k = 0; k < r->n; k++) {
		const struct event *o = &r->ev[k];

		if (r->posted[i][k] && !is_done(r, s, k))
			return false;
		if (ev->kind != PLAIT_EV_LOCK || o->kind != PLAIT_EV_LOCK ||
		    o->address != ev->address || !is_done(r, s, k))
			continue;
		if (k > i)
			return false;			  /* sections stay in their order */
		for (uint32_t e = k + 1; e < r->n; e++) { /* ... and the earlier one is over */
			if (r->ev[e].kind != PLAIT_EV_UNLOCK || r->ev[e].address != ev->address ||
			    r->ev[e].thread != o->thread)
				continue;
			if (!is_done(r, s, e))
				return false;
			break;
		}
	}
	return true;
}

/* An access needs its thread to have begun, whatever else: what it would see does not matter. */
static bool is_next(const struct run *r, const struct state *s, uint32_t i)
{
	const struct event *ev = &r->ev[i];

	return s->at[ev->thread] == ev->index &&
	       (!ev->thread || is_done(r, s, r->lane[0][ev->thread - 1]));
}

static void walk(struct run *r, struct state s)
{
	size_t key = 0;

	for (uint32_t t = 0; t < THREADS; t++)
		key = key * (EVENTS + 1) + s.at[t];
	for (uint32_t i = 0; i < PLACES; i++)
		key = key * (EVENTS + 1) + s.last[i];
	if (r->visited[key])
		return;
	r->visited[key] = true;
	for (uint32_t a = 0; a < r->n; a++)
		for (uint32_t b = a + 1; b < r->n; b++)
			r->meets[a][b] |= is_next(r, &s, a) && is_next(r, &s, b);
	for (uint32_t t = 0; t < THREADS; t++) {
		struct state next = s;
		uint32_t i;

		if (s.at[t] == r->len[t])
			continue;
		i = r->lane[t][s.at[t]];
		if (!is_enabled(r, &s, i))
			continue;
		next.at[t]++;
		if (r->ev[i].kind == PLAIT_EV_WRITE)
			next.last[(r->ev[i].address - DATA) / 8] = (uint8_t)i;
		walk(r, next);
	}
}

/* An unlock that never comes leaves its section open: nobody else gets the lock. */
static void check(struct run *r, uint64_t seed)
{
	size_t states = 1;
	struct predictor *p = predictor_new();
	struct state start = { 0 };

	for (uint32_t i = 0; i < THREADS + PLACES; i++)
		states *= EVENTS + 1;
	memset(r->visited, 0, states);
	for (uint32_t i = 0; i < PLACES; i++)
		start.last[i] = EVENTS;
	walk(r, start);
	for (uint32_t i = 0; i < r->n; i++)
		predictor_add(p, &r->ev[i]);
	for (uint32_t a = 0; a < r->n; a++)
		for (uint32_t b = a + 1; b < r->n; b++) {
			if (!plait_is_access(r->ev[a].kind) || !plait_is_access(r->ev[b].kind) ||
			    r->ev[a].thread == r->ev[b].thread)
				continue;
			cr_assert(predictor_meet(p, a, b) == r->meets[a][b],
				  "seed %llu: events %u and %u: all walks say %d",
				  (unsigned long long)seed, a, b, r->meets[a][b]);
		}
	predictor_free(p);
}

Test(predict_races, agrees_with_all_reorderings)
{
	struct run *r = xcalloc(1, sizeof(*r));
	size_t states = 1;

	for (uint32_t i = 0; i < THREADS + PLACES; i++)
		states *= EVENTS + 1;
	r->visited = xcalloc(states, 1);
	for (uint64_t seed = 1; seed <= 400; seed++) {
		generate(r, seed);
		check(r, seed);
	}
	free(r->visited);
	free(r);
}
