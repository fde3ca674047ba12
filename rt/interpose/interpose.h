/* rt/interpose/interpose.h - taking over libc's functions.
 *
 * For each line of interpose.def, libplait exports the function's own name as one instruction,
 * `jmp *fn`, where fn is `hook_NAME` at first. Where the mode needs no hook (off: none; path: none
 * but threads and ways out) rt_init points fn at libc's function itself, which costs one
 * predictable jump and nothing else.
 * `real.NAME` is libc's function (dlsym/dlvsym(RTLD_NEXT), default symbol version), resolved by
 * interpose_init before anything can be called through it. */
#ifndef RT_INTERPOSE_INTERPOSE_H
#define RT_INTERPOSE_INTERPOSE_H

#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

struct interpose_real {
#define INTERPOSE(ret, name, params) ret(*name) params;
#include "rt/interpose/interpose.def"
#undef INTERPOSE
};

extern struct interpose_real real;

/* Resolve `real`, and get out of the way where our hooks are not wanted. */
enum interpose_wish {
	INTERPOSE_NONE,	     /* mode off */
	INTERPOSE_LIFE_ONLY, /* mode path: what INTERPOSE_LIFE lists */
	INTERPOSE_ALL,
};
void interpose_init(enum interpose_wish wish);

/* signal.c: the handler that the target has installed, false = none; and call it. What came from
 * outside may be anywhere: nothing in its handler is a scheduling point. */
bool signal_handler(int number, struct sigaction *ret);
bool signal_ignored(int number);
void signal_run(int number, siginfo_t *info, void *context, bool from_outside);
void signals_jumped(const struct __jmp_buf_tag *env); /* signals.c: a longjmp is about to happen */

/* First line of every hook: libc's functions are known. */
void interpose_early(void);
#define HOOK_ENTER                                                                                 \
	do {                                                                                       \
		if (__builtin_expect(!real.pthread_create, 0))                                     \
			interpose_early();                                                         \
	} while (0)

int __pthread_key_create(pthread_key_t *, void (*)(void *)); /* no header has it */

#define INTERPOSE(ret, name, params) ret hook_##name params;
#include "rt/interpose/interpose.def"
#undef INTERPOSE

#endif
