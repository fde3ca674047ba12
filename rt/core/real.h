/* rt/core/real.h - libc's own functions, below our hooks.
 *
 * Inside libplait, call `real.NAME` wherever the plain name would run our own hook. Every function
 * that libplait takes over has an entry (libc.def); interpose_init() resolves them all before any
 * hook runs. */
#ifndef RT_CORE_REAL_H
#define RT_CORE_REAL_H

#include <aio.h>
#include <dirent.h>
#include <grp.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

struct real_functions {
#define INTERPOSE(ret, name, params) ret(*name) params;
#include "unplait/libc.def"
#undef INTERPOSE
};

extern struct real_functions real;
/* The same where a hook is about to talk to somebody outside: libc's own, or those of rt/log/heard.c. */
extern struct real_functions outside;

#endif
