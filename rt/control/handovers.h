/* rt/control/handovers.h - private to control/: obeying the log of a run in mode sync. */
#ifndef RT_CONTROL_HANDOVERS_H
#define RT_CONTROL_HANDOVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct control_op;
struct control_thread;
struct sched_task;

/* Is there a log to obey in this run? Sets control.handovers. */
void handovers_begin(void);
void handovers_thread_new(struct control_thread *t, const struct control_thread *parent);
/* The next access of the running thread is one that the recorded run had in its order. */
void handovers_count_next(void);
/* This is it, if there is one. */
void handovers_mark_racing(struct control_op *op);
/* It has been done. */
void handovers_executed(struct control_thread *t, const struct control_op *op);
/* The run has gone another way: note where this thread was seen on the recorded one last. */
void handovers_left(const struct control_thread *t);
/* A handler that ran in the recorded run is to run now, in this thread. */
bool handovers_signal_due(const struct control_thread *t);
/* Run it. True: it did, and the thread goes on with what it was about to do. */
bool handovers_take_signal(struct control_thread *me);
/* It looks at the same memory again and again, as for a handler that sets a flag: the handler runs, as a decision of its
 * own. */
void handovers_end_spinning(struct control_thread *me);
/* It ends: those that came after its last operation. */
void handovers_take_rest(struct control_thread *me);
/* Which of n waiters a signal should reach: the one that woke first; n when the log does not say. */
uint32_t handovers_choose(const struct control_thread *me, uint32_t n);
/* Keep those who may go on; tasks[late..n) wait for a timeout. */
size_t handovers_filter(struct sched_task **tasks, size_t late, size_t n);
/* Nobody is ready. Is that because the log ends in the middle of somebody's call? */
bool handovers_ended(void);
/* Nobody may go on, but somebody who has more in the log waits for a child process, which works in real time: wait
 * until it ends. False: nobody does. */
bool handovers_await_child(void);
/* Nobody may go on: the log has ended, or cannot be obeyed. */
_Noreturn void handovers_stuck(void);
/* Nobody is ready. Somebody who waits for a condition woke here, without a signal that we know of:
 * who, or NULL. */
struct control_thread *handovers_wake(void);

#endif
