/* sched/tasks.h - OpenMP's explicit tasks: can a wait for them go on?
 *
 * OpenMP's runtime waits for tasks by spinning in code that we do not see: it looks for a task to run,
 * and if there is none it looks again. Where one thread runs at a time such a wait would never end.
 * So a thread is told here whether its wait has something to do, before it begins to spin.
 *
 * Tasks have numbers, never 0; a parent may also be an implicit task, which is not in the table. The
 * table remembers the latest TASKS_MOST; one that is forgotten counts as done. No memory allocation. */
#ifndef SCHED_TASKS_H
#define SCHED_TASKS_H

#include <stdbool.h>
#include <stdint.h>

enum { TASKS_MOST = 512, TASKS_DEPENDENCES = 6 };

/* As OpenMP numbers them (ompt_dependence_type_t). */
enum tasks_dependence {
	TASKS_IN = 1,
	TASKS_OUT = 2,
	TASKS_INOUT = 3,
	TASKS_MUTEX = 4,     /* one at a time, in any order */
	TASKS_INOUT_SET = 7, /* any number at a time */
};

struct tasks_on {
	uint64_t variable;
	uint32_t type; /* enum tasks_dependence */
};

enum tasks_state {
	TASKS_DONE, /* or never heard of */
	TASKS_CREATED,
	TASKS_STARTED,
	TASKS_AWAITED, /* no task: a place where its parent waits for dependences */
};

struct tasks {
	struct tasks_task {
		uint64_t number, parent;
		enum tasks_state state;
		uint32_t n;
		struct tasks_on on[TASKS_DEPENDENCES];
	} task[TASKS_MOST];
};

/* A task begins its life; NULL afterwards when it is forgotten. */
void tasks_create(struct tasks *t, uint64_t number, uint64_t parent, enum tasks_state state);
void tasks_depend(struct tasks *t, uint64_t number, uint64_t variable, uint32_t type);
void tasks_set(struct tasks *t, uint64_t number, enum tasks_state state);
const struct tasks_task *tasks_find(const struct tasks *t, uint64_t number);

/* Whether `waiting` has unfinished children, none of which could be started by it now: others must
 * go on first. `finishing` counts as done already. */
bool tasks_must_wait(const struct tasks *t, uint64_t waiting, uint64_t finishing);
/* The same for a wait for dependences: until all earlier tasks that they name are done. */
bool tasks_must_wait_for(const struct tasks *t, uint64_t wait);

#endif
