/* sym/machine/threads.h - private: what threads.c, schedule.c and sync.c share. */
#ifndef SYM_MACHINE_THREADS_H
#define SYM_MACHINE_THREADS_H

#include "sym/machine/machine.h"

/* The current thread waits until thread_wake of the address; it then makes its call again. */
enum stop thread_block(struct machine *m, enum wait_kind kind, uint64_t address);
/* Those that wait for an address may run again; waiters for a signal may not. */
void thread_wake(struct machine *m, uint64_t address);

/* Of the seed of the configuration. */
uint64_t schedule_random(struct machine *m);
/* With a random schedule: does another thread run before this call? */
bool schedule_preempts(struct machine *m);
/* Exploring schedules: let every other thread run before this call, in forks. */
enum stop schedule_explores(struct machine *m);

enum stop call_sync_builtin(struct machine *m, enum builtin id, const struct val *a,
			    struct val *ret);

#endif
