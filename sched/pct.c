/* sched/pct.c - probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010).
 *
 * Each thread gets a random priority; the runnable thread with the highest runs. At d-1 random
 * points the running thread's priority drops below everybody's. A bug that needs d ordering
 * constraints among n threads and k points is hit with probability at least 1/(n k^(d-1)).
 *
 * Where we deviate: a thread that yields or has held the processor for TURN points drops to the
 * lowest priority, because a thread that polls for another's progress would otherwise never let go.
 */
#include "sched/strategy.h"

enum { TURN = 2000 };
#define HIGH (1ull << 62) /* initial priorities are above, dropped ones below */

static void pct_begin(struct sched *s)
{
	uint32_t i, d = s->params.depth ? s->params.depth : 3;
	uint64_t k = s->params.length ? s->params.length : 100;

	s->nchange = d - 1 < SCHED_MAX_DEPTH ? d - 1 : SCHED_MAX_DEPTH;
	for (i = 0; i < s->nchange; i++)
		s->change[i] = 1 + sched_below(s, k);
	s->low = HIGH - 1;
}

static void pct_task_new(struct sched *s, struct sched_task *task)
{
	task->priority = HIGH + (sched_random(s) >> 2);
}

static struct sched_task *highest(const struct sched_view *v)
{
	struct sched_task *best = v->tasks[0];
	size_t i;

	for (i = 1; i < v->ntasks; i++)
		if (v->tasks[i]->priority > best->priority)
			best = v->tasks[i];
	return best;
}

static void drop(struct sched *s, struct sched_task *task)
{
	task->priority = s->low--;
}

static struct sched_task *pct_pick(struct sched *s, const struct sched_view *v)
{
	struct sched_task *best;
	uint32_t i;

	if (v->current_ready && s->turn > TURN) {
		drop(s, v->current);
		s->turn = 0;
	}
	best = highest(v);
	for (i = 0; i < s->nchange; i++) {
		if (s->change[i] != v->point)
			continue;
		drop(s, best);
		best = highest(v);
	}
	return best;
}

const struct strategy strategy_pct = {
	.begin = pct_begin, .task_new = pct_task_new, .pick = pct_pick, .yielded = drop
};
