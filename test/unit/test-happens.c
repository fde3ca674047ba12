/* Happens-before and races: the clocks against a closure over all edges, on random executions.
 *
 * The generator plays a scheduler: it keeps the state of each lock, semaphore, barrier and so on, and
 * lets a random thread do a random thing that is possible now. The oracle knows nothing of clocks: it
 * writes down every edge that the rules give, event by event, and closes them transitively. */
#include "base/arena.h"
#include "base/mem.h"
#include "sched/cells.h"
#include "unplait/effects.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, EVENTS = 90, RELAXED = 0, SEQ_CST = 5 };
enum {
	MUTEX = 0x1000,
	OTHER_MUTEX = 0x1040,
	RWLOCK = 0x1080,
	SEM = 0x10c0,
	BARRIER = 0x1100,
	ONCE = 0x1140,
	FUTEX = 0x1180,
	CONDITION = 0x11c0,
	ATOMICS = 0x2000,
	DATA = 0x3000,
};

/* What the oracle knows beside the event itself. */
struct fact {
	struct happens_event e;
	uint64_t size;
	uint32_t site; /* a number of its own: races are told apart by events */
	bool writer;   /* RWUNLOCK: it held the lock for writing */
	uint32_t round;
};

struct world {
	struct fact fact[EVENTS];
	uint32_t n;
	uint64_t random;
	uint32_t mutex[2]; /* owner + 1 */
	uint32_t readers, writer;
	bool reads[THREADS];
	uint32_t posts, round, arrived, in_round[THREADS]; /* the round + 1 that it waits in */
	uint32_t once;					   /* 1 running, 2 done */
	uint32_t once_by;
	bool waits[THREADS]; /* for the condition, without the mutex */
	bool alive[THREADS], ended[THREADS], joined[THREADS];
	bool before[EVENTS][EVENTS];
};

static uint32_t pick(struct world *w, uint32_t n)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(w->random >> 33) % n;
}

/* ---- the generator ---- */

static struct fact *add(struct world *w, uint32_t thread, uint32_t kind, uint64_t object)
{
	struct fact *f = &w->fact[w->n++];

	*f = (struct fact){ .e = { .kind = kind,
				   .thread = thread,
				   .time = w->n,
				   .object = object,
				   .order = SEQ_CST,
				   .wrote = true },
			    .site = w->n };
	return f;
}

static bool lock_op(struct world *w, uint32_t t)
{
	uint32_t m = pick(w, 2);
	uint64_t object = m ? OTHER_MUTEX : MUTEX;

	if (!w->mutex[m]) {
		add(w, t, pick(w, 2) ? PLAIT_EV_LOCK : PLAIT_EV_TRYLOCK, object);
		w->mutex[m] = t + 1;
	} else if (w->mutex[m] != t + 1) {
		add(w, t, PLAIT_EV_TRYLOCK, object)->e.result = EBUSY;
	} else if (m == 0 && pick(w, 3) == 0) {
		add(w, t, PLAIT_EV_WAIT, CONDITION)->e.object2 = object;
		w->mutex[m] = 0;
		w->waits[t] = true;
	} else {
		add(w, t, PLAIT_EV_UNLOCK, object);
		w->mutex[m] = 0;
	}
	return true;
}

static bool rwlock_op(struct world *w, uint32_t t)
{
	if (w->writer == t + 1 || w->reads[t]) {
		add(w, t, PLAIT_EV_RWUNLOCK, RWLOCK)->writer = w->writer == t + 1;
		w->readers -= w->reads[t];
		w->writer = 0;
		w->reads[t] = false;
	} else if (w->writer) {
		return false;
	} else if (!w->readers && pick(w, 2)) {
		add(w, t, PLAIT_EV_WRLOCK, RWLOCK);
		w->writer = t + 1;
	} else {
		add(w, t, PLAIT_EV_RDLOCK, RWLOCK);
		w->readers++;
		w->reads[t] = true;
	}
	return true;
}

static bool message_op(struct world *w, uint32_t t)
{
	switch (pick(w, 6)) {
	case 0:
		add(w, t, PLAIT_EV_SEM_POST, SEM);
		w->posts++;
		return true;
	case 1:
		add(w, t, PLAIT_EV_SEM_TRYWAIT, SEM)->e.result = w->posts ? 0 : EAGAIN;
		w->posts -= w->posts > 0;
		return true;
	case 2:
		add(w, t, PLAIT_EV_FUTEX_WAKE, FUTEX);
		return true;
	case 3:
		add(w, t, PLAIT_EV_FUTEX_WAIT, FUTEX)->e.result = pick(w, 3) ? 0 : EAGAIN;
		return true;
	case 4:
		if (w->once == 1 && w->once_by != t)
			return false;
		add(w, t,
		    w->once == 0   ? PLAIT_EV_ONCE_BEGIN
		    : w->once == 1 ? PLAIT_EV_ONCE_END
				   : PLAIT_EV_ONCE_PASS,
		    ONCE);
		w->once_by = t;
		w->once += w->once < 2;
		return true;
	default:
		add(w, t, PLAIT_EV_BARRIER_WAIT, BARRIER)->e.n = 2;
		w->fact[w->n - 1].round = w->round;
		w->in_round[t] = w->round + 1;
		w->round += ++w->arrived % 2 == 0;
		return true;
	}
}

static bool atomic_op(struct world *w, uint32_t t)
{
	static const uint32_t kinds[] = { PLAIT_EV_ATOMIC_READ, PLAIT_EV_ATOMIC_WRITE,
					  PLAIT_EV_ATOMIC_RMW, PLAIT_EV_FENCE };
	static const uint32_t orders[] = { 0, 2, 3, 4, 5 };
	uint32_t kind = kinds[pick(w, 4)];
	struct fact *f = add(w, t, kind, ATOMICS + 8 * pick(w, 2));

	f->e.order = orders[pick(w, 5)];
	f->size = 8;
	if (kind == PLAIT_EV_ATOMIC_RMW)
		f->e.wrote = pick(w, 3) > 0;
	return true;
}

static bool access_op(struct world *w, uint32_t t)
{
	static const uint32_t kinds[] = { PLAIT_EV_READ, PLAIT_EV_WRITE, PLAIT_EV_READ_RANGE,
					  PLAIT_EV_WRITE_RANGE };
	uint32_t k = pick(w, 4);
	struct fact *f;

	if (pick(w, 8) == 0) { /* an atomic, as if it were plain */
		f = add(w, t, kinds[k & 1], ATOMICS);
		f->size = 8;
		return true;
	}
	f = add(w, t, kinds[k], DATA + pick(w, 12));
	f->size = k < 2 ? 1u << pick(w, 3) : 1 + pick(w, 20);
	if (k >= 2 && pick(w, 2)) { /* whole blocks, and something before and behind */
		f->e.object = DATA - 16 + pick(w, 32);
		f->size = CELL_BLOCK + pick(w, 2 * CELL_BLOCK);
	}
	return true;
}

static bool thread_op(struct world *w, uint32_t t)
{
	uint32_t other = 1 + pick(w, THREADS - 1);
	bool holds = w->mutex[0] == t + 1 || w->mutex[1] == t + 1 || w->writer == t + 1 ||
		     w->reads[t] || (w->once == 1 && w->once_by == t);

	if (!w->alive[other] && !w->ended[other]) {
		add(w, t, PLAIT_EV_FORK, 0)->e.other = other;
		w->alive[other] = true;
	} else if (w->ended[other] && !w->joined[other] && other != t) {
		add(w, t, PLAIT_EV_JOIN, 0)->e.other = other;
		w->joined[other] = true;
	} else if (t && !holds && pick(w, 3) == 0) {
		add(w, t, PLAIT_EV_EXIT, 0);
		w->alive[t] = false;
		w->ended[t] = true;
	} else {
		return false;
	}
	return true;
}

/* What a thread that waits can do: leave, if it may. */
static bool waiting_op(struct world *w, uint32_t t)
{
	if (w->in_round[t]) {
		if (w->in_round[t] > w->round)
			return false;
		add(w, t, PLAIT_EV_BARRIER_LEAVE, BARRIER)->round = w->in_round[t] - 1;
		w->in_round[t] = 0;
		return true;
	}
	if (w->mutex[0])
		return false;
	add(w, t, PLAIT_EV_WOKEN, CONDITION)->e.object2 = MUTEX;
	w->fact[w->n - 1].e.result = pick(w, 2) ? ETIMEDOUT : 0;
	w->mutex[0] = t + 1;
	w->waits[t] = false;
	return true;
}

static void generate(struct world *w, uint64_t seed)
{
	static bool (*const ops[])(struct world *, uint32_t) = {
		lock_op,   rwlock_op, message_op, atomic_op,
		atomic_op, access_op, access_op,  thread_op,
	};

	memset(w, 0, sizeof(*w));
	w->random = seed;
	w->alive[0] = true;
	for (unsigned tries = 0; w->n < EVENTS && tries < 10 * EVENTS; tries++) {
		uint32_t t = pick(w, THREADS);

		if (!w->alive[t])
			continue;
		if (w->in_round[t] || w->waits[t])
			waiting_op(w, t);
		else
			ops[pick(w, 8)](w, t);
	}
}

/* ---- the oracle ---- */

static bool is_lock(const struct fact *f, uint64_t object)
{
	uint32_t k = f->e.kind;

	return (f->e.object == object && (k == PLAIT_EV_LOCK || k == PLAIT_EV_TRYLOCK) &&
		!f->e.result) ||
	       (k == PLAIT_EV_WOKEN && f->e.object2 == object);
}

static uint64_t unlocks(const struct fact *f)
{
	return f->e.kind == PLAIT_EV_UNLOCK ? f->e.object
	       : f->e.kind == PLAIT_EV_WAIT ? f->e.object2
					    : 0;
}

static bool writes_atomic(const struct fact *f, uint64_t object)
{
	return f->e.object == object && (f->e.kind == PLAIT_EV_ATOMIC_WRITE ||
					 (f->e.kind == PLAIT_EV_ATOMIC_RMW && f->e.wrote));
}

/* Everything but atomics. */
static bool edge(const struct fact *a, const struct fact *b)
{
	uint32_t x = a->e.kind, y = b->e.kind;
	bool same = a->e.object == b->e.object && !b->e.result;

	if (a->e.thread == b->e.thread)
		return true;
	if (x == PLAIT_EV_FORK && a->e.other == b->e.thread)
		return true;
	if (y == PLAIT_EV_JOIN && b->e.other == a->e.thread)
		return true;
	if (unlocks(a) && is_lock(b, unlocks(a)))
		return true;
	if (x == PLAIT_EV_RWUNLOCK && same)
		return y == PLAIT_EV_WRLOCK || (y == PLAIT_EV_RDLOCK && a->writer);
	if (x == PLAIT_EV_SEM_POST && same)
		return y == PLAIT_EV_SEM_TRYWAIT;
	if (x == PLAIT_EV_FUTEX_WAKE && same)
		return y == PLAIT_EV_FUTEX_WAIT;
	if (x == PLAIT_EV_ONCE_END && same)
		return y == PLAIT_EV_ONCE_PASS;
	if (x == PLAIT_EV_BARRIER_WAIT && y == PLAIT_EV_BARRIER_LEAVE)
		return a->round == b->round;
	return false;
}

/* Does what write h released reach readers of write v? Between them only read-modify-writes, and
 * stores of the thread that released last (the rule of sched/happens.c). */
static bool heads(const struct world *w, uint32_t h, uint32_t v)
{
	uint64_t object = w->fact[h].e.object;

	for (uint32_t i = h + 1; i <= v; i++) {
		uint32_t by = THREADS;

		if (w->fact[i].e.kind != PLAIT_EV_ATOMIC_WRITE || w->fact[i].e.object != object)
			continue;
		for (uint32_t k = 0; k < i; k++) {
			const struct fact *f = &w->fact[k];

			if (!writes_atomic(f, object))
				continue;
			if (f->e.order >= 3)
				by = f->e.thread;
			else if (f->e.kind == PLAIT_EV_ATOMIC_WRITE && by != f->e.thread)
				by = THREADS; /* the sequence was broken here */
		}
		if (by != w->fact[i].e.thread)
			return false;
	}
	return true;
}

static bool acquires(uint32_t order)
{
	return order == 2 || order >= 4;
}

/* The release that a write stands for: itself, and its thread's last release fence before it. The
 * acquire that a read stands for: itself, and all acquire fences of its thread behind it. */
static void atomic_edges(struct world *w, uint32_t from, uint32_t read)
{
	bool sources[EVENTS] = { false };
	const struct fact *f = &w->fact[from], *r = &w->fact[read];

	sources[from] = f->e.order >= 3;
	for (uint32_t i = 0; i < from; i++)
		sources[i] = w->fact[i].e.kind == PLAIT_EV_FENCE && w->fact[i].e.order >= 3 &&
			     w->fact[i].e.thread == f->e.thread;
	for (uint32_t s = 0; s <= from; s++) {
		if (!sources[s])
			continue;
		w->before[s][read] |= acquires(r->e.order);
		for (uint32_t i = read + 1; i < w->n; i++)
			if (w->fact[i].e.kind == PLAIT_EV_FENCE && acquires(w->fact[i].e.order) &&
			    w->fact[i].e.thread == r->e.thread)
				w->before[s][i] = true;
	}
}

static void close_edges(struct world *w)
{
	for (uint32_t b = 0; b < w->n; b++) {
		const struct fact *f = &w->fact[b];
		uint32_t from = b;

		for (uint32_t a = 0; a < b; a++)
			w->before[a][b] |= edge(&w->fact[a], f);
		if (f->e.kind != PLAIT_EV_ATOMIC_READ && f->e.kind != PLAIT_EV_ATOMIC_RMW)
			continue;
		while (from-- > 0 && !writes_atomic(&w->fact[from], f->e.object))
			;
		for (uint32_t h = 0; from != UINT32_MAX && h <= from; h++)
			if (writes_atomic(&w->fact[h], f->e.object) && heads(w, h, from))
				atomic_edges(w, h, b);
	}
	for (uint32_t b = 0; b < w->n; b++)
		for (uint32_t k = 0; k < b; k++)
			for (uint32_t a = 0; w->before[k][b] && a < k; a++)
				w->before[a][b] |= w->before[a][k];
}

static bool races(const struct world *w, uint32_t a, uint32_t b)
{
	const struct fact *x = &w->fact[a], *y = &w->fact[b];
	uint32_t xk = x->e.kind, yk = y->e.kind;

	if (!plait_is_access(xk) || !plait_is_access(yk) || x->e.thread == y->e.thread)
		return false;
	if (plait_is_atomic(xk) && plait_is_atomic(yk))
		return false;
	if (!(plait_writes(xk) && x->e.wrote) && !(plait_writes(yk) && y->e.wrote))
		return false;
	return x->e.object < y->e.object + y->size && y->e.object < x->e.object + x->size &&
	       !w->before[a][b];
}

/* ---- the machines ---- */

static bool reported[EVENTS + 1][EVENTS + 1];

static void on_race(void *context, uint64_t address, const struct cell_access *first,
		    const struct cell_access *second)
{
	(void)context, (void)address;
	reported[first->site][second->site] = true;
}

static void *get(void *context, size_t bytes)
{
	return arena_alloc(context, bytes);
}

static void replay(struct world *w, uint64_t seed)
{
	struct arena memory = { 0 };
	struct happens h;
	struct cells cells = { .happens = &h, .race = on_race };

	memset(reported, 0, sizeof(reported));
	happens_init(&h, get, &memory);
	for (uint32_t b = 0; b < w->n; b++) {
		const struct fact *f = &w->fact[b];

		happens_acquire(&h, &f->e);
		for (uint32_t a = 0; a < b; a++) {
			const struct happens_event *e = &w->fact[a].e;
			bool known = e->thread == f->e.thread ||
				     e->time <= happens_clock_of(happens_knows(&h, f->e.thread),
								 e->thread);

			cr_assert(known == w->before[a][b],
				  "seed %llu: event %u (kind %u) before event %u (kind %u): "
				  "clocks say %d",
				  (unsigned long long)seed, a, e->kind, b, f->e.kind, known);
		}
		if (plait_is_access(f->e.kind))
			cells_access(
				&cells, f->e.object, f->size,
				(struct cell_access){
					.time = f->e.time,
					.site = f->site,
					.thread = (uint16_t)f->e.thread,
					.flags = (plait_writes(f->e.kind) && f->e.wrote ? CELL_WRITE
											: 0) |
						 (plait_is_atomic(f->e.kind) ? CELL_ATOMIC : 0),
				});
		happens_release(&h, &f->e);
	}
	for (uint32_t b = 0; !cells.lost && b < w->n; b++)
		for (uint32_t a = 0; a < b; a++)
			cr_assert(reported[a + 1][b + 1] == races(w, a, b),
				  "seed %llu: events %u and %u race: cells say %d",
				  (unsigned long long)seed, a, b, reported[a + 1][b + 1]);
	arena_deinit(&memory);
}

Test(happens, clocks_and_cells_agree_with_the_closure)
{
	struct world *w = xcalloc(1, sizeof(*w));

	for (uint64_t seed = 1; seed <= 3000; seed++) {
		generate(w, seed);
		close_edges(w);
		replay(w, seed);
	}
	free(w);
}
