/* base/sweep.h - temporary folders that must not outlive the process.
 * Killed by Ctrl-C, SIGTERM or SIGHUP, the process removes them first. A command that
 * catches these signals itself cleans up on its normal way out instead. */
#ifndef BASE_SWEEP_H
#define BASE_SWEEP_H

/* At most a few dozen at a time; one more is simply not swept. */
void sweep_add(const char *path);
void sweep_forget(const char *path);

#endif
