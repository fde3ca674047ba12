/* sched/random.c - four strategies without memory: random walk, stay, follow, and fair turns. */
#include "sched/strategy.h"

static struct sched_task *random_pick(struct sched *s, const struct sched_view *v)
{
	return v->tasks[sched_below(s, v->ntasks)];
}

const struct strategy strategy_random = { .pick = random_pick };

/* The running thread as long as it can, then the oldest. */
static struct sched_task *stay_pick(struct sched *s, const struct sched_view *v)
{
	(void)s;
	return v->current_ready ? v->current : v->tasks[0];
}

const struct strategy strategy_stay = { .pick = stay_pick };

/* The thread that is due first in the given order; as stay when none of them is left. */
static struct sched_task *follow_pick(struct sched *s, const struct sched_view *v)
{
	struct sched_task *first = stay_pick(s, v);
	size_t i;

	for (i = 0; i < v->ntasks; i++)
		if (v->tasks[i]->rank < first->rank)
			first = v->tasks[i];
	return first;
}

const struct strategy strategy_follow = { .pick = follow_pick };

/* Turns of a few points, then the thread that has waited longest. Used to tell a hang from
 * starvation: what hangs under this strategy too really hangs. */
enum { FAIR_TURN = 50 };

static struct sched_task *fair_pick(struct sched *s, const struct sched_view *v)
{
	struct sched_task *next = NULL;
	size_t i;

	if (v->current_ready && s->turn < FAIR_TURN + sched_below(s, 10))
		return v->current;
	for (i = 0; i < v->ntasks; i++)
		if (!next || v->tasks[i]->turn < next->turn)
			next = v->tasks[i];
	return next;
}

const struct strategy strategy_fair = { .pick = fair_pick };
