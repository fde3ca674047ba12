/* rt/control/turns.h - the order of turns that FOLLOW keeps to. */
#ifndef RT_CONTROL_TURNS_H
#define RT_CONTROL_TURNS_H

#include "rt/control/engine.h"

void turns_begin(void);
void turns_thread_new(struct control_thread *t);
/* Fill in sched_task.rank: the turn that each task's next event belongs to. */
void turns_rank(struct sched_task **tasks, size_t n);
/* The next recorded alternative below n; n when there is none. */
uint32_t turns_choose(uint32_t n);

#endif
