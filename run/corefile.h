/* run/corefile.h - write a core dump of a process that we trace, as the kernel would.
 * The kernel writes its own only where the machine's settings let it (a limit, a pattern, a pipe to a
 * service). debug/dump.h reads both. */
#ifndef RUN_COREFILE_H
#define RUN_COREFILE_H

#include <stddef.h>
#include <sys/types.h>

struct err;

/* All threads are stopped; tids[0] is the one that got the signal. signal 0: none came. */
struct err *corefile_write(pid_t pid, const pid_t *tids, size_t n, int signal, const char *path);

#endif
