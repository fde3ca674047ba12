/* rt/control/turns.c - see turns.h. */
#include "rt/control/turns.h"

static uint32_t next_choice;

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

uint32_t turns_choose(uint32_t n)
{
	const struct plait_turn *choice;

	if (!control.area->turns_len || next_choice == PLAIT_ANY)
		return n;
	choice = &turns()[next_choice];
	next_choice = choice->next;
	return choice->upto < n ? (uint32_t)choice->upto : 0;
}
