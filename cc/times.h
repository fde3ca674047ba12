/* cc/times.h - UNPLAIT_TIMES=1: what a link spends its processor time on, on stderr. */
#ifndef CC_TIMES_H
#define CC_TIMES_H

#define TIMES_ALL (-1) /* no variant's */

/* A new process: its clock begins at zero. */
void times_begin(void);

/* The step called `what` has ended, for the variant or for all of them. */
void times_note(const char *what, int variant);

#endif
