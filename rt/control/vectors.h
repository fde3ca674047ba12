/* rt/control/vectors.h - private to control/: obeying access vectors. */
#ifndef RT_CONTROL_VECTORS_H
#define RT_CONTROL_VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct control_op;
struct control_thread;
struct sched_task;

/* Read the request; sets control.vectors. */
void vectors_begin(void);
void vectors_thread_new(struct control_thread *t, const struct control_thread *parent);
/* May this thread do this now, by the vectors? */
bool vectors_allow(const struct control_thread *t, const struct control_op *op);
/* It has been done. */
void vectors_executed(const struct control_thread *t, const struct control_op *op);
/* Which of n waiters a signal should reach: whose turn at the condition variable comes first; n
 * when the vectors do not say. */
uint32_t vectors_choose(const struct control_thread *me, uint32_t n);
/* Keep those who may go on; tasks[late..n) wait for a timeout. Does not return when there is none:
 * the vectors cannot be obeyed. */
size_t vectors_filter(struct sched_task **tasks, size_t late, size_t n);

#endif
