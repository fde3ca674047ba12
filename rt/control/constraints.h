/* rt/control/constraints.h - "a before b", "from a to b nobody else": narrowing the candidates. */
#ifndef RT_CONTROL_CONSTRAINTS_H
#define RT_CONTROL_CONSTRAINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct control_thread;
struct plait_pattern;
struct sched_task;

/* Remove whom a constraint forbids to go on now; if that leaves nobody, the constraints give way
 * and the run is marked. Returns how many remain. */
size_t constraints_filter(struct sched_task **tasks, size_t n);
/* me's published operation has been executed. */
void constraints_executed(struct control_thread *me);
void constraints_begin(void);
/* Does the operation that t has published match, as t's index-th event? Not asked: nth. */
bool constraints_match(const struct plait_pattern *p, const struct control_thread *t,
		       uint64_t index);

#endif
