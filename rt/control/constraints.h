/* rt/control/constraints.h - "a before b", "from a to b nobody else": narrowing the candidates. */
#ifndef RT_CONTROL_CONSTRAINTS_H
#define RT_CONTROL_CONSTRAINTS_H

#include <stddef.h>

struct control_thread;
struct sched_task;

/* Remove whom a constraint forbids to go on now; if that leaves nobody, the constraints give way
 * and the run is marked. Returns how many remain. */
size_t constraints_filter(struct sched_task **tasks, size_t n);
/* me's published operation has been executed. */
void constraints_executed(struct control_thread *me);
void constraints_begin(void);

#endif
