/* run/patience.h - private to run/: how long has a run really had?
 *
 * On a busy machine a run may wait for a processor most of the time. Such waiting is nobody's fault
 * and must not look like a hang: while the process could run, only the processor time that it got
 * counts; while it sleeps, real time does. */
#ifndef RUN_PATIENCE_H
#define RUN_PATIENCE_H

#include <stdbool.h>
#include <sys/types.h>

struct patience {
	double own;		    /* seconds that count */
	double wall;		    /* seconds of real time */
	double last_wall, last_cpu; /* at the last look */
};

void patience_begin(struct patience *p);
/* Look at the process; 0: not known, real time counts. */
void patience_look(struct patience *p, pid_t pid);
/* Has it had so many seconds? However busy the machine, ten times as much real time is enough. */
bool patience_is_over(const struct patience *p, double seconds);

#endif
