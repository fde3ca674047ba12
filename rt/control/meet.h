/* rt/control/meet.h - PLAIT_CONSTRAINT_MEET: two threads at the two sides of a race, at once. */
#ifndef RT_CONTROL_MEET_H
#define RT_CONTROL_MEET_H

#include <stdbool.h>
#include <stddef.h>

struct control_thread;
struct sched_task;

/* constraints.c found a MEET in the request, or none. */
void meet_begin(void);
/* Somebody is held back, or two threads are about to meet: the filter must be asked. */
bool meet_is_on(void);
/* Of those who could run, who may. 0: everybody here is held back. */
size_t meet_filter(struct sched_task **tasks, size_t n);
/* Nobody but these can go on, and they only repeat themselves. Who of them has not shown yet that it
 * repeats itself exactly; 0: nobody. */
size_t meet_spinners(struct control_thread **spinners, size_t n, struct sched_task **ret);
/* Nobody at all can go on: the meeting is off. */
void meet_give_way(void);
/* Nobody is ready: whose deadlines may pass. Those who repeat themselves exactly are left out.
 * Returns how many remain. */
size_t meet_sleepers(struct control_thread **sleepers, size_t n);
/* me's published operation has been executed. */
void meet_executed(struct control_thread *me);
/* me waits busily at this site. */
void meet_spins(struct control_thread *me, unsigned site);

#endif
