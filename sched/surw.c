/* sched/surw.c - selectively uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS
 * 2025).
 *
 * A random walk chooses threads evenly, and so favours orders in which a short thread ends
 * early. Here the interesting operations (op.focus) are ordered evenly: if every thread has as
 * many of them as its weight says, and nothing blocks, each order of interesting operations is
 * equally likely.
 *
 * A thread is intended, drawn by the number of interesting operations it has left; those that
 * its children will perform count as its own until they are born. Until the intended thread has
 * performed one, all others stop before theirs. Operations that are not interesting are chosen
 * at random, because nothing is known about them.
 *
 * task->priority is what a thread has left. The numbers come from earlier runs, so they may be
 * wrong: a thread before an interesting operation has at least one left. If only threads that
 * are not intended can run, one of them is intended instead.
 *
 * Where we deviate: a thread that has held the processor for TURN points sits out once, because
 * it may wait busily for somebody else. */
#include "sched/strategy.h"

enum { TURN = 500 };

static uint64_t left(const struct sched_task *t)
{
	return t->priority ? t->priority : t->op.focus;
}

static void surw_task_new(struct sched *s, struct sched_task *task)
{
	const struct sched_params *p = &s->params;
	struct sched_task *parent = task->parent;
	uint64_t total;

	task->priority = task->id < p->nweights ? p->weights[task->id] : 0;
	if (!parent)
		return;
	total = parent->priority;
	parent->priority -= task->priority < total ? task->priority : total;
	if (s->intended == parent->id + 1 && total && sched_below(s, total) < task->priority)
		s->intended = task->id + 1;
}

static uint32_t intend(struct sched *s, struct sched_task *const *tasks, size_t n)
{
	uint64_t total = 0, at;
	size_t i;

	for (i = 0; i < n; i++)
		total += left(tasks[i]);
	if (!total)
		return 0;
	at = sched_below(s, total);
	for (i = 0; at >= left(tasks[i]); i++)
		at -= left(tasks[i]);
	return tasks[i]->id + 1;
}

static bool is_alive(const struct sched_view *v, uint32_t number)
{
	size_t i;

	for (i = 0; i < v->nall; i++)
		if (v->all[i]->id + 1 == number)
			return true;
	return false;
}

static bool may_run(const struct sched *s, const struct sched_view *v, const struct sched_task *t)
{
	if (s->turn > TURN && t == v->current && v->ntasks > 1)
		return false;
	return !t->op.focus || t->id + 1 == s->intended;
}

/* One of those that may run, evenly; NULL when nobody may. */
static struct sched_task *choose(struct sched *s, const struct sched_view *v)
{
	struct sched_task *chosen = NULL;
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < v->ntasks; i++)
		n += may_run(s, v, v->tasks[i]);
	n = n ? 1 + sched_below(s, n) : 0;
	for (i = 0; n > 0; i++) {
		chosen = v->tasks[i];
		n -= may_run(s, v, chosen);
	}
	return chosen;
}

static struct sched_task *surw_pick(struct sched *s, const struct sched_view *v)
{
	struct sched_task *chosen;

	if (!s->intended || !is_alive(v, s->intended))
		s->intended = intend(s, v->all, v->nall);
	chosen = choose(s, v);
	if (!chosen) {
		s->intended = intend(s, v->tasks, v->ntasks);
		chosen = choose(s, v);
	}
	if (!chosen) /* the intended thread sits out */
		chosen = v->tasks[sched_below(s, v->ntasks)];
	if (chosen->op.focus) {
		chosen->priority -= chosen->priority > 0;
		s->intended = 0;
	}
	return chosen;
}

const struct strategy strategy_surw = { .task_new = surw_task_new, .pick = surw_pick };
