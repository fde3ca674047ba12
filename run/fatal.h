/* run/fatal.h - does a signal that a traced thread is about to get end the process? */
#ifndef RUN_FATAL_H
#define RUN_FATAL_H

#include <stdbool.h>
#include <sys/types.h>

/* It does, unless the program catches or ignores it. at_fault: a fault counts although the program handles it. */
bool signal_is_fatal(pid_t pid, pid_t tid, int signal, bool at_fault);

#endif
