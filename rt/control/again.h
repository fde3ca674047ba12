/* rt/control/again.h - the next run in the same process: see again.c. */
#ifndef RT_CONTROL_AGAIN_H
#define RT_CONTROL_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

/* ---- the fork server ---- */

/* Before a fork: should memory be kept (again)? Then again_here() marks the place to come back to,
 * where it returns a second time, and again_keep() keeps it. */
bool again_outdated(void);
struct again_context;
struct again_context *again_context(void);
__attribute__((returns_twice)) int again_here(struct again_context *c);
void again_keep(int socket);
/* Its threads have changed: what was kept is of no use. */
void again_forget(void);
/* Around a child's life. `begin`: it is about to be forked. `ended`: how it has left things. */
enum again_state {
	AGAIN_RUNNING, /* in the middle of a run */
	AGAIN_IDLE,    /* between two runs: the request for the next one is not answered yet */
	AGAIN_UNFIT,   /* asked for a run that needs a process of its own */
};
void again_begin(void);
enum again_state again_ended(bool grown);

/* ---- its child ---- */

/* Get ready to be wound back. False: this process is for one run. */
bool again_arm(void);
/* From here on the target runs. */
void again_watch(void);
/* The run is over. Returns when the process must end with it. */
void again_end(int wait_status);
/* Something was done that cannot be undone. */
void again_give_up(void);

#endif
