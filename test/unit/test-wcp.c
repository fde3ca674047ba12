/* "Weak causally precedes" by clocks against its definition, as a fixed point over small random runs. */
#include "race/wcp.h"
#include "trace/trace.h"

#include <criterion/criterion.h>
#include <string.h>

enum { THREADS = 3, EVENTS = 26, LOCKS = 2, PLACES = 3 };
enum { LOCK_AT = 0x1000, SEM = 0x2000, DATA = 0x3000 };

struct run {
	struct event ev[EVENTS];
	uint32_t n, acquire[EVENTS][LOCKS]; /* + 1: the section that an event is in; 0 none */
	uint32_t release[EVENTS];	    /* of an acquire; EVENTS: none */
	bool hb[EVENTS][EVENTS], wcp[EVENTS][EVENTS];
	uint64_t random;
};

static uint32_t pick(struct run *r, uint32_t n)
{
	r->random = r->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(r->random >> 33) % n;
}

static void add(struct run *r, uint32_t thread, uint8_t kind, uint64_t address, uint32_t other)
{
	r->ev[r->n++] = (struct event){ .thread = thread,
					.kind = kind,
					.clock = r->n + 1,
					.address = address,
					.other = other,
					.n = 4 };
}

static void generate(struct run *r, uint64_t seed)
{
	uint32_t owner[LOCKS] = { 0 }, since[LOCKS] = { 0 }, posts = 0;

	memset(r, 0, sizeof(*r));
	r->random = seed;
	for (uint32_t t = 1; t < THREADS; t++)
		add(r, 0, PLAIT_EV_FORK, 0, t);
	while (r->n < EVENTS) {
		uint32_t t = pick(r, THREADS), l = pick(r, LOCKS), what = pick(r, 12), i = r->n;

		if (what < 5 && (!owner[l] || owner[l] == t + 1)) {
			add(r, t, owner[l] ? PLAIT_EV_UNLOCK : PLAIT_EV_LOCK, LOCK_AT + 64 * l, 0);
			r->release[i] = EVENTS;
			if (owner[l])
				r->release[since[l]] = i;
			else
				since[l] = i;
			for (uint32_t k = 0; k < LOCKS; k++)
				if (owner[k] == t + 1)
					r->acquire[i][k] = since[k] + 1;
			r->acquire[i][l] = since[l] + 1;
			owner[l] = owner[l] ? 0 : t + 1;
			continue;
		}
		if (what == 5) {
			add(r, t, PLAIT_EV_SEM_POST, SEM, 0);
			posts++;
		} else if (what == 6 && posts) {
			add(r, t, PLAIT_EV_SEM_WAIT, SEM, 0);
			posts--;
		} else if (what > 6) {
			add(r, t, pick(r, 2) ? PLAIT_EV_READ : PLAIT_EV_WRITE,
			    DATA + 8 * pick(r, PLACES), 0);
		}
		for (uint32_t k = 0; k < LOCKS && r->n > i; k++)
			if (owner[k] == t + 1)
				r->acquire[i][k] = since[k] + 1;
	}
}

/* ---- the definition ---- */

static bool is_hard_edge(const struct run *r, uint32_t a, uint32_t b)
{
	const struct event *x = &r->ev[a], *y = &r->ev[b];

	return (x->kind == PLAIT_EV_FORK && y->thread == x->other) ||
	       (x->kind == PLAIT_EV_SEM_POST && y->kind == PLAIT_EV_SEM_WAIT);
}

static void close_happens_before(struct run *r)
{
	for (uint32_t a = 0; a < r->n; a++)
		for (uint32_t b = a; b < r->n; b++)
			r->hb[a][b] = r->ev[a].thread == r->ev[b].thread || is_hard_edge(r, a, b) ||
				      (r->ev[a].kind == PLAIT_EV_UNLOCK &&
				       r->ev[b].kind == PLAIT_EV_LOCK &&
				       r->ev[a].address == r->ev[b].address);
	for (uint32_t k = 0; k < r->n; k++)
		for (uint32_t a = 0; a < r->n; a++)
			for (uint32_t b = 0; b < r->n; b++)
				r->hb[a][b] |= r->hb[a][k] && r->hb[k][b];
}

static bool conflict(const struct run *r, uint32_t a, uint32_t b)
{
	const struct event *x = &r->ev[a], *y = &r->ev[b];

	return plait_is_access(x->kind) && plait_is_access(y->kind) && x->address == y->address &&
	       x->thread != y->thread && (x->kind == PLAIT_EV_WRITE || y->kind == PLAIT_EV_WRITE);
}

static bool put(struct run *r, uint32_t a, uint32_t b)
{
	bool new = !r->wcp[a][b];

	r->wcp[a][b] = true;
	return new;
}

/* Rules (a) and (b) for two events in different sections of lock l. */
static bool relate_sections(struct run *r, uint32_t a, uint32_t b, uint32_t l)
{
	uint32_t first = r->acquire[a][l], second = r->acquire[b][l], end;
	bool more = false;

	if (!first || !second || first >= second)
		return false;
	end = r->release[first - 1];
	if (conflict(r, a, b))
		more |= put(r, end, b);
	if (r->wcp[a][b] && r->ev[a].thread != r->ev[b].thread && r->release[second - 1] != EVENTS)
		more |= put(r, end, r->release[second - 1]);
	return more;
}

static void close_wcp(struct run *r)
{
	bool more = true;

	close_happens_before(r);
	while (more) {
		more = false;
		for (uint32_t a = 0; a < r->n; a++)
			for (uint32_t b = a + 1; b < r->n; b++) {
				if (is_hard_edge(r, a, b))
					more |= put(r, a, b);
				for (uint32_t l = 0; l < LOCKS; l++)
					more |= relate_sections(r, a, b, l);
			}
		for (uint32_t k = 0; k < r->n; k++)
			for (uint32_t a = 0; a < r->n; a++)
				for (uint32_t b = 0; b < r->n; b++)
					if ((r->hb[a][k] && r->wcp[k][b]) ||
					    (r->wcp[a][k] && r->hb[k][b]))
						more |= put(r, a, b);
	}
}

/* ---- the comparison ---- */

Test(wcp, definition, .timeout = 60)
{
	static struct run r;
	uint32_t ordered = 0, unordered = 0, weaker = 0;

	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct wcp *w = wcp_new();
		uint32_t time[EVENTS];

		generate(&r, seed * 7919);
		close_wcp(&r);
		for (uint32_t b = 0; b < r.n; b++) {
			time[b] = wcp_add(w, &r.ev[b]);
			for (uint32_t a = 0; a < b; a++) {
				bool before;

				if (!conflict(&r, a, b))
					continue;
				before = wcp_is_before(w, r.ev[a].thread, time[a], r.ev[b].thread);
				cr_assert_eq(before, r.wcp[a][b], "seed %llu: events %u and %u",
					     (unsigned long long)seed, a, b);
				ordered += before;
				unordered += !before;
				weaker += !before && r.hb[a][b];
			}
		}
		wcp_free(w);
	}
	cr_assert(ordered > 1000 && unordered > 1000 && weaker > 100,
		  "%u ordered, %u not, of which %u happen before", ordered, unordered, weaker);
}
