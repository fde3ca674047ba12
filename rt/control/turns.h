/* rt/control/turns.h - the order of turns that FOLLOW keeps to. */
#ifndef RT_CONTROL_TURNS_H
#define RT_CONTROL_TURNS_H

#include "rt/control/engine.h"

void turns_begin(void);
void turns_thread_new(struct control_thread *t);
/* Fill in sched_task.rank: the turn that each task's next event belongs to. */
void turns_rank(struct sched_task **tasks, size_t n);
/* Does t's next event belong to an earlier turn than those of the tasks, which are ranked? For somebody
 * who seems to spin: how long a turn lasts is known, and a loop that only reads may be a loop over
 * something. Of the last turn, which has no end, only a limited number of times in a run. */
bool turns_is_due(struct control_thread *t, struct sched_task *const *tasks, size_t n);
/* The next recorded alternative below n; n when there is none. */
uint32_t turns_choose(uint32_t n);

#endif
