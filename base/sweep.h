/* base/sweep.h - temporary folders that must not outlive the process.
 *
 * When Ctrl-C, SIGTERM or SIGHUP ends the process, it removes them first. A command that catches
 * these signals itself cleans up on its normal way out instead. What a process left that was killed
 * with SIGKILL, the next one removes: beside each folder lies a file of the same name with ".lock",
 * which its owner keeps locked. A lock that is free has lost its owner. */
#ifndef BASE_SWEEP_H
#define BASE_SWEEP_H

/* At most a few dozen at a time; one more is simply not swept. */
void sweep_add(const char *path);
/* The folder is gone. */
void sweep_forget(const char *path);
/* Make a folder with mkdtemp() and add it; no signal can come in between. Returns -1 and errno when
 * it cannot be made. `path` is changed as by mkdtemp(). */
int sweep_make(char *path);

/* Remove what is left in `base` of processes of ours that were killed: folders whose names begin
 * with `prefix`. */
void sweep_stale(const char *base, const char *prefix);

#endif
