/* sched/tasks.c - OpenMP's explicit tasks: can a wait for them go on?
 *
 * A thread that waits inside a task may run that task's descendants (the task scheduling constraint of
 * tied tasks, OpenMP 5.2 section 12.9). One of them can be started if nobody has started it and every
 * earlier task of the same parent whose dependences conflict with its own is done. */
#include "sched/tasks.h"

#include <stddef.h>

static struct tasks_task *place_of(struct tasks *t, uint64_t number)
{
	return &t->task[number % TASKS_MOST];
}

void tasks_create(struct tasks *t, uint64_t number, uint64_t parent, enum tasks_state state)
{
	*place_of(t, number) =
		(struct tasks_task){ .number = number, .parent = parent, .state = state };
}

const struct tasks_task *tasks_find(const struct tasks *t, uint64_t number)
{
	const struct tasks_task *task = &t->task[number % TASKS_MOST];

	return number && task->number == number ? task : NULL;
}

void tasks_depend(struct tasks *t, uint64_t number, uint64_t variable, uint32_t type)
{
	struct tasks_task *task = place_of(t, number);

	if (task->number == number && task->n < TASKS_DEPENDENCES)
		task->on[task->n++] = (struct tasks_on){ variable, type };
}

void tasks_set(struct tasks *t, uint64_t number, enum tasks_state state)
{
	if (tasks_find(t, number))
		place_of(t, number)->state = state;
}

/* ---- who comes before whom ---- */

static bool are_ordered(const struct tasks_on *a, const struct tasks_on *b)
{
	if (a->variable != b->variable)
		return false;
	return a->type != b->type || a->type == TASKS_OUT || a->type == TASKS_INOUT;
}

static bool conflict(const struct tasks_task *a, const struct tasks_task *b)
{
	for (uint32_t i = 0; i < a->n; i++)
		for (uint32_t k = 0; k < b->n; k++)
			if (are_ordered(&a->on[i], &b->on[k]))
				return true;
	return false;
}

static bool is_unfinished(const struct tasks_task *task)
{
	return task->state == TASKS_CREATED || task->state == TASKS_STARTED;
}

/* An earlier task of the same parent that must be done before. */
static bool is_held_by(const struct tasks_task *task, const struct tasks_task *other,
		       uint64_t finishing)
{
	return is_unfinished(other) && other->number != finishing &&
	       other->parent == task->parent && other->number < task->number &&
	       conflict(task, other);
}

static bool is_held(const struct tasks *t, const struct tasks_task *task, uint64_t finishing)
{
	for (uint32_t i = 0; task->n && i < TASKS_MOST; i++)
		if (is_held_by(task, &t->task[i], finishing))
			return true;
	return false;
}

static bool descends(const struct tasks *t, const struct tasks_task *task, uint64_t from)
{
	for (uint32_t depth = 0; task && depth < TASKS_MOST; depth++) {
		if (task->parent == from)
			return true;
		task = tasks_find(t, task->parent);
	}
	return false;
}

static bool has_something_to_run(const struct tasks *t, uint64_t waiting, uint64_t finishing)
{
	for (uint32_t i = 0; i < TASKS_MOST; i++) {
		const struct tasks_task *task = &t->task[i];

		if (task->state == TASKS_CREATED && descends(t, task, waiting) &&
		    !is_held(t, task, finishing))
			return true;
	}
	return false;
}

bool tasks_must_wait(const struct tasks *t, uint64_t waiting, uint64_t finishing)
{
	bool unfinished = false;

	for (uint32_t i = 0; i < TASKS_MOST; i++)
		unfinished |= is_unfinished(&t->task[i]) && t->task[i].parent == waiting &&
			      t->task[i].number != finishing;
	return unfinished && !has_something_to_run(t, waiting, finishing);
}

bool tasks_must_wait_for(const struct tasks *t, uint64_t wait)
{
	const struct tasks_task *task = tasks_find(t, wait);

	return task && is_held(t, task, 0) && !has_something_to_run(t, task->parent, 0);
}
