/* Strategies, decisions and state machines of sched/. */
#include "sched/decisions.h"
#include "sched/strategy.h"
#include "sched/sync.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

Test(sched, decisions_survive_the_trip)
{
	const struct decision in[] = { { 0, DECISION_SWITCH, 3 },
				       { 0, DECISION_CHOICE, 1 },
				       { 127, DECISION_SWITCH, 8191 },
				       { 1ull << 40, DECISION_WAKE, 0 } };
	uint8_t bytes[4 * DECISION_MAX_BYTES], *p = bytes;
	struct decision_reader r;
	struct decision d;
	uint64_t last = 0;
	size_t i;

	for (i = 0; i < 4; i++) {
		p = decision_write(p, &in[i], last);
		last = in[i].step;
	}
	decision_reader_init(&r, bytes, (size_t)(p - bytes));
	for (i = 0; i < 4; i++) {
		cr_assert(decision_read(&r, &d));
		cr_assert(d.step == in[i].step && d.kind == in[i].kind && d.value == in[i].value);
	}
	cr_assert_not(decision_read(&r, &d));
	cr_assert_not(r.damaged);
	decision_reader_init(&r, bytes, (size_t)(p - bytes) - 1);
	while (decision_read(&r, &d))
		;
	cr_assert(r.damaged);
}

/* Two tasks, everything ready: the sequence of picks as a bit string. */
static uint64_t picks(uint32_t strategy, uint64_t seed)
{
	struct sched_task tasks[2] = { { .id = 0 }, { .id = 1 } };
	struct sched_task *all[2] = { &tasks[0], &tasks[1] };
	struct sched_params params = {
		.strategy = strategy, .seed = seed, .depth = 3, .length = 60
	};
	struct sched_task *current = &tasks[0];
	struct sched s;
	uint64_t bits = 0, i;

	sched_init(&s, &params);
	sched_task_new(&s, &tasks[0]);
	sched_task_new(&s, &tasks[1]);
	for (i = 1; i <= 60; i++) {
		struct sched_view v = { .tasks = all,
					.ntasks = 2,
					.all = all,
					.nall = 2,
					.current = current,
					.current_ready = true,
					.point = i };

		current = sched_pick(&s, &v);
		bits = bits << 1 | current->id;
	}
	return bits;
}

Test(sched, same_seed_same_picks)
{
	uint32_t s;

	for (s = PLAIT_STRATEGY_RANDOM; s < PLAIT_STRATEGY_COUNT; s++)
		cr_assert_eq(picks(s, 7), picks(s, 7), "%s", sched_strategy_name(s));
	cr_assert_neq(picks(PLAIT_STRATEGY_RANDOM, 7), picks(PLAIT_STRATEGY_RANDOM, 8));
	cr_assert_eq(picks(PLAIT_STRATEGY_STAY, 1), 0);
}

Test(sched, pct_switches_at_most_d_minus_1_times)
{
	uint64_t seed;

	for (seed = 1; seed < 200; seed++) {
		uint64_t p = picks(PLAIT_STRATEGY_PCT, seed);
		int changes = __builtin_popcountll((p ^ p >> 1) & ((1ull << 59) - 1));

		cr_assert_leq(changes, 2, "seed %llu", (unsigned long long)seed);
	}
}

Test(sched, strategies_have_names)
{
	uint32_t s;

	for (s = 0; s < PLAIT_STRATEGY_COUNT; s++)
		cr_assert_eq(sched_strategy_find(sched_strategy_name(s)), s);
	cr_assert_eq(sched_strategy_find("nonsense"), PLAIT_STRATEGY_COUNT);
}

Test(sync, mutex_types)
{
	struct sync_mutex normal = { 0 }, recursive = { .kind = SYNC_MUTEX_RECURSIVE },
			  checked = { .kind = SYNC_MUTEX_ERRORCHECK };

	cr_assert_eq(sync_mutex_lock(&normal, 1), 0);
	cr_assert_not(sync_mutex_ready(&normal, 1), "a normal mutex deadlocks with itself");
	cr_assert_not(sync_mutex_ready(&normal, 2));
	cr_assert_eq(sync_mutex_trylock(&normal, 2), EBUSY);
	cr_assert_eq(sync_mutex_unlock(&normal, 1), 0);
	cr_assert(sync_mutex_ready(&normal, 2));

	cr_assert_eq(sync_mutex_lock(&recursive, 1), 0);
	cr_assert_eq(sync_mutex_lock(&recursive, 1), 0);
	cr_assert_eq(sync_mutex_unlock(&recursive, 2), EPERM);
	cr_assert_eq(sync_mutex_unlock(&recursive, 1), 0);
	cr_assert_not(sync_mutex_ready(&recursive, 2));
	cr_assert_eq(sync_mutex_unlock(&recursive, 1), 0);
	cr_assert(sync_mutex_ready(&recursive, 2));

	cr_assert_eq(sync_mutex_lock(&checked, 1), 0);
	cr_assert(sync_mutex_ready(&checked, 1));
	cr_assert_eq(sync_mutex_lock(&checked, 1), EDEADLK);
	cr_assert_eq(sync_mutex_destroy(&checked), EBUSY);
	cr_assert_eq(sync_mutex_unlock(&checked, 1), 0);
	cr_assert_eq(sync_mutex_destroy(&checked), 0);
	cr_assert(sync_mutex_is_dead(&checked));
}

Test(sync, robust_mutex)
{
	struct sync_mutex m = { .kind = SYNC_MUTEX_ROBUST };

	cr_assert_eq(sync_mutex_lock(&m, 1), 0);
	sync_mutex_owner_died(&m);
	cr_assert(sync_mutex_ready(&m, 2));
	cr_assert_eq(sync_mutex_lock(&m, 2), EOWNERDEAD);
	cr_assert_eq(sync_mutex_consistent(&m, 2), 0);
	cr_assert_eq(sync_mutex_unlock(&m, 2), 0);
	cr_assert_eq(sync_mutex_lock(&m, 3), 0);
	sync_mutex_owner_died(&m);
	cr_assert_eq(sync_mutex_lock(&m, 2), EOWNERDEAD);
	cr_assert_eq(sync_mutex_unlock(&m, 2), 0);
	cr_assert_eq(sync_mutex_lock(&m, 3), ENOTRECOVERABLE);
}

Test(sync, rwlock)
{
	struct sync_rwlock l = { 0 };

	cr_assert_eq(sync_rwlock_rdlock(&l, 1), 0);
	cr_assert_eq(sync_rwlock_rdlock(&l, 2), 0);
	cr_assert_eq(sync_rwlock_wrlock(&l, 3), EBUSY);
	cr_assert_eq(sync_rwlock_unlock(&l, 1), 0);
	cr_assert_eq(sync_rwlock_unlock(&l, 2), 0);
	cr_assert_eq(sync_rwlock_wrlock(&l, 3), 0);
	cr_assert_eq(sync_rwlock_wrlock(&l, 3), EDEADLK);
	cr_assert_not(sync_rwlock_read_ready(&l, false));
	cr_assert_eq(sync_rwlock_unlock(&l, 3), 0);
	cr_assert(sync_rwlock_read_ready(&l, true), "readers are preferred by default");
	l.flags = 2;
	cr_assert_not(sync_rwlock_read_ready(&l, true));
}

Test(sync, barrier_and_semaphore_and_once)
{
	struct sync_barrier b = { .count = 2 };
	struct sync_sem s = { .value = 1 };
	uint32_t round, other;
	int once = 0;

	cr_assert_not(sync_barrier_arrive(&b, &round));
	cr_assert_not(sync_barrier_passed(&b, round));
	cr_assert(sync_barrier_arrive(&b, &other));
	cr_assert(sync_barrier_passed(&b, round));
	cr_assert_eq(sync_sem_trywait(&s), 0);
	cr_assert_not(sync_sem_ready(&s));
	cr_assert_eq(sync_sem_trywait(&s), EAGAIN);
	cr_assert_eq(sync_sem_post(&s), 0);
	cr_assert(sync_sem_ready(&s));
	cr_assert(sync_once_begin(&once));
	cr_assert_not(sync_once_ready(&once));
	sync_once_done(&once);
	cr_assert(sync_once_ready(&once));
	cr_assert_not(sync_once_begin(&once));
}
