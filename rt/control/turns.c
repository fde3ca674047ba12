/* rt/control/turns.c - see turns.h. */
#include "rt/control/turns.h"

static uint32_t next_choice;
static unsigned spins; /* times that somebody who seems to spin went on in a turn without end */
enum { SPINS_MAX = 200 };

static const struct plait_turn *turns(void)
{
	return (const struct plait_turn *)((const char *)control.area + PLAIT_CONTROL_TURNS);
}

/* The thread's first turn; the tool has linked the others. */
static uint32_t first_of(uint32_t thread)
{
	uint64_t i;

	for (i = 0; i < control.area->turns_len; i++)
		if (turns()[i].thread == thread)
			return (uint32_t)i;
	return PLAIT_ANY;
}

void turns_begin(void)
{
	next_choice = first_of(PLAIT_ANY);
	spins = 0;
}

void turns_thread_new(struct control_thread *t)
{
	t->turn = first_of(t->task.id);
}

void turns_rank(struct sched_task **tasks, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct control_thread *t = (struct control_thread *)tasks[i];

		while (t->turn != PLAIT_ANY && turns()[t->turn].upto <= t->events)
			t->turn = turns()[t->turn].next;
		t->task.rank = t->turn;
	}
}

bool turns_is_due(struct control_thread *t, struct sched_task *const *tasks, size_t n)
{
	struct sched_task *mine = &t->task;
	size_t i;

	turns_rank(&mine, 1);
	if (mine->rank == PLAIT_ANY)
		return false;
	for (i = 0; i < n; i++)
		if (tasks[i]->rank <= mine->rank)
			return false;
	return turns()[mine->rank].upto != UINT64_MAX || spins++ < SPINS_MAX;
}

uint32_t turns_choose(uint32_t n)
{
	const struct plait_turn *choice;

	if (!control.area->turns_len || next_choice == PLAIT_ANY)
		return n;
	choice = &turns()[next_choice];
	next_choice = choice->next;
	return choice->upto < n ? (uint32_t)choice->upto : 0;
}
