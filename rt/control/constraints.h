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
/* Does a constraint hold back all of them? Then a sleeper should wake first, if there is one: it may
 * be the one they wait for. Said a limited number of times in a run, as a program that polls never
 * runs out of sleepers. */
bool constraints_want_time(struct sched_task *const *tasks, size_t n);
/* Does a constraint hold back all of them? Then those who spin go first: a loop that only reads looks
 * like one that waits. Said a limited number of times in a run, as one that waits never ends. */
bool constraints_want_spinners(struct sched_task *const *tasks, size_t n);
/* me's published operation has been executed. */
void constraints_executed(struct control_thread *me);
/* me is about to free the block p. frame: of the caller, to walk the stack from. */
void constraints_freeing(const struct control_thread *me, const void *p, const void *frame);
void constraints_begin(void);
/* Does the operation that t has published match, as t's index-th event? Not asked: nth. */
bool constraints_match(const struct plait_pattern *p, const struct control_thread *t,
		       uint64_t index);

#endif
