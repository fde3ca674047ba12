/* OpenMP's tasks: a wait goes on when it is over or has something to run, and only then.
 *
 * The oracle of the random test knows the same rules in another form: it looks at every task by itself,
 * and follows the chain of parents upwards. */
#include "sched/tasks.h"

#include <criterion/criterion.h>
#include <string.h>

static struct tasks tasks;

static void depend(uint64_t number, uint64_t variable, uint32_t type)
{
	tasks_depend(&tasks, number, variable, type);
}

Test(tasks, a_wait_without_children_is_over)
{
	cr_assert(!tasks_must_wait(&tasks, 1, 0));
	tasks_create(&tasks, 2, 1, TASKS_CREATED);
	tasks_set(&tasks, 2, TASKS_DONE);
	cr_assert(!tasks_must_wait(&tasks, 1, 0));
}

Test(tasks, a_child_that_nobody_runs_is_something_to_do)
{
	tasks_create(&tasks, 2, 1, TASKS_CREATED);
	cr_assert(!tasks_must_wait(&tasks, 1, 0));
	tasks_set(&tasks, 2, TASKS_STARTED);
	cr_assert(tasks_must_wait(&tasks, 1, 0));
	cr_assert(!tasks_must_wait(&tasks, 1, 2), "it is just ending");
	tasks_create(&tasks, 3, 2, TASKS_CREATED);
	cr_assert(!tasks_must_wait(&tasks, 1, 0), "a grandchild is something to do as well");
}

Test(tasks, a_dependence_holds_a_task_back)
{
	tasks_create(&tasks, 2, 1, TASKS_CREATED);
	depend(2, 0x100, TASKS_OUT);
	tasks_create(&tasks, 3, 1, TASKS_CREATED);
	depend(3, 0x100, TASKS_IN);
	tasks_set(&tasks, 2, TASKS_STARTED);
	cr_assert(tasks_must_wait(&tasks, 1, 0));
	tasks_set(&tasks, 2, TASKS_DONE);
	cr_assert(!tasks_must_wait(&tasks, 1, 0));
}

Test(tasks, a_wait_for_dependences_waits_for_these_only)
{
	tasks_create(&tasks, 2, 1, TASKS_STARTED);
	depend(2, 0x100, TASKS_INOUT);
	tasks_create(&tasks, 3, 1, TASKS_STARTED);
	depend(3, 0x200, TASKS_INOUT);
	tasks_create(&tasks, 4, 1, TASKS_AWAITED);
	depend(4, 0x100, TASKS_IN);
	cr_assert(tasks_must_wait_for(&tasks, 4));
	tasks_set(&tasks, 2, TASKS_DONE);
	cr_assert(!tasks_must_wait_for(&tasks, 4));
}

/* ---- against an oracle ---- */

enum { N = 12, VARIABLES = 3, ROUNDS = 20000 };

static uint64_t state;

static uint32_t pick(uint32_t n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % n;
}

struct model {
	uint32_t parent[N + 1], on[N + 1], type[N + 1];
	enum tasks_state state[N + 1];
};

static bool unfinished(const struct model *m, uint32_t i)
{
	return m->state[i] == TASKS_CREATED || m->state[i] == TASKS_STARTED;
}

static bool can_start(const struct model *m, uint32_t i)
{
	for (uint32_t k = 1; k < i; k++) {
		bool both_read = m->type[k] == TASKS_IN && m->type[i] == TASKS_IN;

		if (unfinished(m, k) && m->parent[k] == m->parent[i] && m->on[k] == m->on[i] &&
		    m->on[i] && !both_read)
			return false;
	}
	return m->state[i] == TASKS_CREATED;
}

static bool is_below(const struct model *m, uint32_t i, uint32_t top)
{
	return m->parent[i] == top || (m->parent[i] && is_below(m, m->parent[i], top));
}

static bool expected(const struct model *m, uint32_t waiting)
{
	bool open = false, something = false;

	for (uint32_t i = 1; i <= N; i++) {
		open |= unfinished(m, i) && m->parent[i] == waiting;
		something |= can_start(m, i) && is_below(m, i, waiting);
	}
	return open && !something;
}

Test(tasks, random_trees_as_an_oracle_says)
{
	uint32_t waits = 0;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		struct model m = { 0 };

		memset(&tasks, 0, sizeof(tasks));
		state = round + 1;
		for (uint32_t i = 1; i <= N; i++) {
			m.parent[i] = i == 1 ? 0 : pick(i - 1) + 1;
			m.on[i] = pick(VARIABLES + 1);
			m.type[i] = pick(3) + 1;
			m.state[i] = (enum tasks_state[]){ TASKS_DONE, TASKS_CREATED, TASKS_STARTED,
							   TASKS_STARTED }[pick(4)];
			tasks_create(&tasks, i, m.parent[i], m.state[i]);
			if (m.on[i])
				depend(i, m.on[i], m.type[i]);
		}
		for (uint32_t i = 1; i <= N; i++) {
			waits += expected(&m, i);
			cr_assert_eq(tasks_must_wait(&tasks, i, 0), expected(&m, i),
				     "seed %u, task %u", round + 1, i);
		}
	}
	cr_assert_gt(waits, 1000);
}
