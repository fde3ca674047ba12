/* sched/pos.c - partial order sampling (Yuan, Yang, Gu, CAV 2018).
 *
 * Each pending operation has a random priority; the highest runs. When it has run, the
 * priorities of operations that conflict with it are drawn again, so that the order of
 * racing operations is sampled evenly whatever the other threads do.
 *
 * Where we deviate: after TURN points of one thread everybody's priority is drawn again and
 * that thread sits out once; otherwise a low draw starves a thread and looks like a hang. So does
 * one while several others wait busily in turn: every AGAIN points all are drawn again. */
#include "sched/strategy.h"

enum { TURN = 500, AGAIN = 2000 };

static struct sched_task *highest(struct sched *s, const struct sched_view *v,
				  const struct sched_task *except)
{
	struct sched_task *best = NULL;
	size_t i;

	for (i = 0; i < v->ntasks; i++) {
		struct sched_task *t = v->tasks[i];

		if (!t->priority)
			t->priority = sched_random(s) | 1;
		if (t != except && (!best || t->priority > best->priority))
			best = t;
	}
	return best;
}

static struct sched_task *pos_pick(struct sched *s, const struct sched_view *v)
{
	struct sched_task *best;
	size_t i;

	if (s->clock % AGAIN == AGAIN - 1)
		for (i = 0; i < v->nall; i++)
			v->all[i]->priority = 0;
	if (s->turn > TURN && v->current_ready && v->ntasks > 1) {
		for (i = 0; i < v->ntasks; i++)
			v->tasks[i]->priority = 0;
		best = highest(s, v, v->current);
	} else {
		best = highest(s, v, NULL);
	}
	for (i = 0; i < v->nall; i++)
		if (v->all[i] != best && sched_conflict(&v->all[i]->op, &best->op))
			v->all[i]->priority = 0;
	best->priority = 0;
	return best;
}

const struct strategy strategy_pos = { .pick = pos_pick };
