/* The analysis of watch areas: random lock programs against a brute-force oracle, damaged areas,
 * buckets. */
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "deadlock/deadlock.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 64

/* ---- a tiny random source: the same on every machine ---- */

static uint64_t random_state;

static uint32_t rnd(uint32_t n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(random_state >> 33) % n;
}

/* ---- a machine with threads and locks ---- */

enum lock_type { MUTEX, SPIN, RWLOCK, RWLOCK_WRITERS_FIRST, TYPES };

struct sim_use {
	int lock;
	bool write; /* or exclusive */
};

struct sim_thread {
	struct sim_use held[MOST];
	int nheld;
	bool blocked, timed, moving;
	struct sim_use want;
};

struct sim {
	int nthreads, nlocks;
	enum lock_type type[MOST];
	struct sim_thread threads[MOST];
};

static bool is_rw(const struct sim *s, int lock)
{
	return s->type[lock] >= RWLOCK;
}

/* Would thread t get what it wants, if only the threads in `there` existed? */
static bool grantable(const struct sim *s, int t, struct sim_use want, const bool *there)
{
	bool held = false;

	for (int u = 0; u < s->nthreads; u++)
		for (int k = 0; there[u] && k < s->threads[u].nheld; k++) {
			if (s->threads[u].held[k].lock != want.lock)
				continue;
			held = true;
			if (want.write || s->threads[u].held[k].write)
				return false;
		}
	if (held && s->type[want.lock] == RWLOCK_WRITERS_FIRST)
		for (int u = 0; u < s->nthreads; u++)
			if (there[u] && u != t && s->threads[u].blocked &&
			    s->threads[u].want.lock == want.lock && s->threads[u].want.write)
				return false;
	return true;
}

static void step(struct sim *s, int t, const bool *all)
{
	struct sim_thread *th = &s->threads[t];

	if (th->blocked && grantable(s, t, th->want, all)) {
		th->held[th->nheld++] = th->want;
		th->blocked = false;
	} else if (th->blocked && th->timed && rnd(4) == 0) {
		th->blocked = false;
	} else if (!th->blocked && th->nheld && rnd(5) < 2) {
		int k = (int)rnd((uint32_t)th->nheld);

		memmove(&th->held[k], &th->held[k + 1],
			(size_t)(th->nheld - k - 1) * sizeof(th->held[0]));
		th->nheld--;
	} else if (!th->blocked && th->nheld < 8) {
		struct sim_use want = { .lock = (int)rnd((uint32_t)s->nlocks) };

		want.write = !is_rw(s, want.lock) || rnd(2);
		/* what a program gets an error for instead of waiting */
		for (int k = 0; k < th->nheld; k++)
			if (is_rw(s, want.lock) && th->held[k].lock == want.lock &&
			    th->held[k].write)
				return;
		th->timed = rnd(8) == 0;
		th->want = want;
		th->blocked = true;
	}
}

static void simulate(struct sim *s, uint64_t seed)
{
	bool all[MOST];
	int steps, types;

	random_state = seed * 0x9e3779b97f4a7c15ull;
	memset(s, 0, sizeof(*s));
	memset(all, true, sizeof(all));
	s->nthreads = 2 + (int)rnd(rnd(3) ? 6 : MOST - 1);
	s->nlocks = 1 + (int)rnd(rnd(3) ? 6 : MOST);
	types = rnd(3) ? TYPES : 1;
	for (int i = 0; i < s->nlocks; i++)
		s->type[i] = (enum lock_type)rnd((uint32_t)types);
	steps = (int)rnd(40 * (uint32_t)s->nthreads);
	for (int i = 0; i < steps; i++)
		step(s, (int)rnd((uint32_t)s->nthreads), all);
	if (rnd(4) == 0)
		for (int t = 0; t < s->nthreads; t++)
			s->threads[t].moving = rnd(4) == 0;
}

/* Holt's reduction: let everybody who can go on finish and vanish, as often as possible. Who is
 * left waits for ever. A thread that moves or whose wait ends by itself can go on. */
static int oracle(const struct sim *s, bool *left)
{
	bool again = true;
	int n = s->nthreads;

	memset(left, false, MOST * sizeof(*left));
	for (int t = 0; t < s->nthreads; t++)
		left[t] = true;
	while (again) {
		again = false;
		for (int t = 0; t < s->nthreads; t++) {
			const struct sim_thread *th = &s->threads[t];

			if (!left[t] || (th->blocked && !th->timed && !th->moving &&
					 !grantable(s, t, th->want, left)))
				continue;
			left[t] = false;
			again = true;
			n--;
		}
	}
	return n;
}

/* ---- the same state as an area ---- */

#define SLOT  sizeof(struct watch_slot)
#define SLOTS (WATCH_PAGE + (WATCH_MODULES + 1) * sizeof(struct watch_module))

static uint64_t lock_address(int lock)
{
	return 0x10000 + 64ull * (uint64_t)lock;
}

static struct watch_slot *area_slot(void *area, int t)
{
	return (struct watch_slot *)((char *)area + SLOTS + (size_t)t * SLOT);
}

static void area_init(void *area, int nslots)
{
	struct watch_header *h = area;

	*h = (struct watch_header){ .magic = WATCH_MAGIC,
				    .version = WATCH_VERSION,
				    .slot_size = SLOT,
				    .slots_at = SLOTS,
				    .size = SLOTS + (uint64_t)nslots * SLOT,
				    .slots_max = MOST,
				    .slots_used = (uint32_t)nslots,
				    .pid = 1 };
}

static struct watch_use *push(struct watch_slot *slot, uint8_t kind, uint8_t state, uint64_t object)
{
	struct watch_window *w = &slot->windows[slot->n];
	struct watch_use *u = &slot->uses[slot->n++];

	*u = (struct watch_use){ .object = object,
				 .kind = kind,
				 .state = state,
				 .stack = WATCH_IN_WINDOW,
				 .frames = 1,
				 .window = (uint32_t)((char *)w - (char *)slot) };
	w->words[0] = 0x400000 + object;
	return u;
}

static void place(struct watch_slot *slot, const struct watch_use *u, uint64_t pc)
{
	slot->windows[u - slot->uses].words[0] = pc;
}

static uint8_t kind_of(const struct sim *s, struct sim_use u)
{
	if (s->type[u.lock] == MUTEX)
		return WATCH_MUTEX;
	if (s->type[u.lock] == SPIN)
		return WATCH_SPIN;
	return u.write ? WATCH_WRITE : WATCH_READ;
}

static void to_area(const struct sim *s, void *area)
{
	area_init(area, s->nthreads);
	for (int t = 0; t < s->nthreads; t++) {
		const struct sim_thread *th = &s->threads[t];
		struct watch_slot *slot = area_slot(area, t);

		slot->state = WATCH_LIVE;
		slot->n = 0;
		slot->tid = 100 + (uint32_t)t;
		slot->seq = 7;
		snprintf(slot->name, sizeof(slot->name), "0.%d", t + 1);
		for (int k = 0; k < th->nheld; k++)
			push(slot, kind_of(s, th->held[k]), WATCH_HELD,
			     lock_address(th->held[k].lock));
		if (th->blocked) {
			struct watch_use *u = push(slot, kind_of(s, th->want), WATCH_WANT,
						   lock_address(th->want.lock));

			u->flags = (uint8_t)((th->timed ? WATCH_TIMED : 0) |
					     (s->type[th->want.lock] == RWLOCK_WRITERS_FIRST
						      ? WATCH_BEHIND_WRITERS
						      : 0));
		}
	}
}

static void check_case(uint64_t seed, void *area)
{
	static struct sim s;
	bool left[MOST];
	struct snapshot before, now;
	struct deadlock d;
	int stuck;

	simulate(&s, seed);
	stuck = oracle(&s, left);
	to_area(&s, area);
	cr_assert_null(snapshot_parse(area, SLOTS + MOST * SLOT, NULL, &before));
	for (int t = 0; t < s.nthreads; t++)
		area_slot(area, t)->seq += s.threads[t].moving;
	cr_assert_null(snapshot_parse(area, SLOTS + MOST * SLOT, NULL, &now));
	snapshot_settle(&now, &before);
	deadlock_find(&now, &d);
	cr_assert((d.ndeadlocks > 0) == (stuck > 0), "seed %llu: found %zu, oracle %d",
		  (unsigned long long)seed, d.ndeadlocks, stuck);
	for (size_t i = 0; i < d.ndeadlocks; i++) {
		const struct wait_cycle *c = &d.cycles[i];

		for (size_t k = 0; k < c->len; k++) {
			const struct wait_edge *e = &c->edges[k];

			cr_assert(left[e->thread], "seed %llu: thread %zu is not blocked for ever",
				  (unsigned long long)seed, e->thread);
			cr_assert_eq(e->holder, c->edges[(k + 1) % c->len].thread);
			cr_assert_eq(now.threads[e->thread].uses[e->want].object,
				     now.threads[e->holder].uses[e->held].object);
		}
	}
	deadlock_deinit(&d);
	snapshot_deinit(&before);
	snapshot_deinit(&now);
}

Test(deadlock, oracle)
{
	void *area = calloc(1, SLOTS + MOST * SLOT);
	struct sim s;
	bool left[MOST];
	unsigned deadlocks = 0;

	for (uint64_t seed = 1; seed <= 5000; seed++) {
		check_case(seed, area);
		simulate(&s, seed);
		deadlocks += oracle(&s, left) > 0;
	}
	/* the cases are worth something only when both answers are common */
	cr_assert(deadlocks > 500 && deadlocks < 4500, "%u of 5000 deadlock", deadlocks);
	free(area);
}

/* ---- areas that lie ---- */

Test(deadlock, damaged_areas)
{
	size_t len = SLOTS + 3 * SLOT;
	uint8_t *area = calloc(1, len);
	struct snapshot s;
	struct deadlock d;

	random_state = 42;
	for (int round = 0; round < 3000; round++) {
		struct err *err;

		area_init(area, 3);
		for (int t = 0; t < 3; t++) {
			area_slot(area, t)->state = WATCH_LIVE;
			area_slot(area, t)->n = 2;
		}
		for (int k = 0; k < 30; k++) {
			uint32_t at =
				rnd(3) ? 8 + rnd(120) : (uint32_t)SLOTS + rnd((uint32_t)(3 * SLOT));

			area[at] = (uint8_t)rnd(256);
		}
		err = snapshot_parse(area, rnd(5) ? len : rnd((uint32_t)len), NULL, &s);
		if (!err) {
			deadlock_find(&s, &d);
			fingerprint_free(fingerprint_new(&s, &d, NULL));
			deadlock_deinit(&d);
		}
		err_free(err);
		snapshot_deinit(&s);
	}
	free(area);
}

/* ---- locks that were released by somebody else ---- */

static bool fake_read(void *context, uint64_t address, void *buf, size_t len)
{
	pthread_mutex_t m = { 0 };

	/* lock 0 belongs to thread 0, lock 1 to nobody we know */
	m.__data.__lock = 1;
	m.__data.__owner = address == lock_address(0) ? 100 : 555;
	(void)context;
	memcpy(buf, &m, MIN(len, sizeof(m)));
	return true;
}

Test(deadlock, doubt)
{
	void *area = calloc(1, SLOTS + 2 * SLOT);
	struct memory mem = { NULL, fake_read };
	struct snapshot s;
	struct deadlock d;

	area_init(area, 2);
	for (int t = 0; t < 2; t++) {
		area_slot(area, t)->state = WATCH_LIVE;
		area_slot(area, t)->tid = 100 + (uint32_t)t;
		push(area_slot(area, t), WATCH_MUTEX, WATCH_HELD, lock_address(t));
		push(area_slot(area, t), WATCH_MUTEX, WATCH_WANT, lock_address(1 - t));
	}
	cr_assert_null(snapshot_parse(area, SLOTS + 2 * SLOT, NULL, &s));
	deadlock_find(&s, &d);
	cr_assert_eq(d.ndeadlocks, 1, "as the books have it");
	deadlock_deinit(&d);
	snapshot_deinit(&s);

	cr_assert_null(snapshot_parse(area, SLOTS + 2 * SLOT, &mem, &s));
	deadlock_find(&s, &d);
	cr_assert_eq(d.ncycles, 0, "the lock itself knows better");
	deadlock_deinit(&d);
	snapshot_deinit(&s);

	area_slot(area, 0)->foreign = 1;
	area_slot(area, 0)->foreign_object[0] = lock_address(1);
	cr_assert_null(snapshot_parse(area, SLOTS + 2 * SLOT, NULL, &s));
	deadlock_find(&s, &d);
	cr_assert_eq(d.ncycles, 0, "thread 0 released it for thread 1");
	deadlock_deinit(&d);
	snapshot_deinit(&s);
	free(area);
}

/* ---- buckets: philosophers at tables of any size are one bucket ---- */

static char *philosophers(int n, uint64_t base)
{
	void *area = calloc(1, SLOTS + MOST * SLOT);
	struct snapshot s;
	struct deadlock d;
	struct fingerprint *f;
	char *bucket;

	area_init(area, n);
	for (int t = 0; t < n; t++) {
		struct watch_slot *slot = area_slot(area, t);

		slot->state = WATCH_LIVE;
		slot->tid = (uint32_t)t + 1;
		place(slot, push(slot, WATCH_MUTEX, WATCH_HELD, base + 40ull * (uint64_t)t),
		      0x1000);
		place(slot,
		      push(slot, WATCH_MUTEX, WATCH_WANT, base + 40ull * (uint64_t)((t + 1) % n)),
		      0x2000);
	}
	cr_assert_null(snapshot_parse(area, SLOTS + MOST * SLOT, NULL, &s));
	deadlock_find(&s, &d);
	cr_assert_eq(d.ndeadlocks, 1);
	cr_assert_eq(d.cycles[0].len, (size_t)n);
	f = fingerprint_new(&s, &d, NULL);
	cr_assert_str_eq(fingerprint_kind(f), "deadlock");
	bucket = xstrdup(fingerprint_bucket(f));
	fingerprint_free(f);
	deadlock_deinit(&d);
	snapshot_deinit(&s);
	free(area);
	return bucket;
}

Test(deadlock, bucket)
{
	char *two = philosophers(2, 0x10000);

	for (int n = 3; n <= MOST; n++) {
		char *other = philosophers(n, 0x90000 + 0x1000ull * (uint64_t)n);

		cr_assert_str_eq(two, other);
		free(other);
	}
	cr_assert_eq(strlen(two), 16u);
	free(two);
}
