/* The parts of pthread and time that need no machine: attributes, once, keys, clocks. */
#include "model.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

char __libc_single_threaded; /* no: what asks for it may save an atomic operation */

int pthread_mutexattr_init(pthread_mutexattr_t *a)
{
	memset(a, 0, sizeof(*a));
	return 0;
}
int pthread_mutexattr_destroy(pthread_mutexattr_t *a)
{
	(void)a;
	return 0;
}
int pthread_mutexattr_settype(pthread_mutexattr_t *a, int kind)
{
	*(int *)a = kind;
	return 0;
}
int pthread_mutexattr_gettype(const pthread_mutexattr_t *a, int *kind)
{
	*kind = *(const int *)a;
	return 0;
}
int pthread_mutexattr_setpshared(pthread_mutexattr_t *a, int s)
{
	(void)a;
	(void)s;
	return 0;
}
int pthread_mutexattr_setprotocol(pthread_mutexattr_t *a, int s)
{
	(void)a;
	(void)s;
	return 0;
}
int pthread_mutexattr_setrobust(pthread_mutexattr_t *a, int s)
{
	(void)a;
	(void)s;
	return 0;
}
int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
	memset(m, 0, sizeof(*m));
	return sym_mutex_init(m, a ? *(const int *)a : 0);
}
int pthread_condattr_init(pthread_condattr_t *a)
{
	memset(a, 0, sizeof(*a));
	return 0;
}
int pthread_condattr_destroy(pthread_condattr_t *a)
{
	(void)a;
	return 0;
}
int pthread_condattr_setclock(pthread_condattr_t *a, clockid_t c)
{
	(void)a;
	(void)c;
	return 0;
}
int pthread_condattr_setpshared(pthread_condattr_t *a, int s)
{
	(void)a;
	(void)s;
	return 0;
}
int pthread_rwlockattr_init(pthread_rwlockattr_t *a)
{
	memset(a, 0, sizeof(*a));
	return 0;
}
int pthread_rwlockattr_destroy(pthread_rwlockattr_t *a)
{
	(void)a;
	return 0;
}
int pthread_barrierattr_init(pthread_barrierattr_t *a)
{
	memset(a, 0, sizeof(*a));
	return 0;
}
int pthread_attr_init(pthread_attr_t *a)
{
	memset(a, 0, sizeof(*a));
	return 0;
}
int pthread_attr_destroy(pthread_attr_t *a)
{
	(void)a;
	return 0;
}
int pthread_attr_setstacksize(pthread_attr_t *a, size_t n)
{
	(void)a;
	(void)n;
	return 0;
}
int pthread_attr_getstacksize(const pthread_attr_t *a, size_t *n)
{
	(void)a;
	*n = 8 << 20;
	return 0;
}
int pthread_attr_setscope(pthread_attr_t *a, int s)
{
	(void)a;
	(void)s;
	return 0;
}
int pthread_attr_setguardsize(pthread_attr_t *a, size_t n)
{
	(void)a;
	(void)n;
	return 0;
}
int pthread_attr_setdetachstate(pthread_attr_t *a, int s)
{
	(void)a;
	(void)s;
	return 0;
}
int pthread_equal(pthread_t a, pthread_t b)
{
	return a == b;
}
int pthread_setname_np(pthread_t t, const char *n)
{
	(void)t;
	(void)n;
	return 0;
}
int pthread_setaffinity_np(pthread_t t, size_t n, const cpu_set_t *s)
{
	(void)t;
	(void)n;
	(void)s;
	return 0;
}
int sched_setaffinity(pid_t p, size_t n, const cpu_set_t *s)
{
	(void)p;
	(void)n;
	(void)s;
	return 0;
}
int pthread_setcancelstate(int s, int *old)
{
	(void)s;
	if (old)
		*old = 0;
	return 0;
}
int pthread_setcanceltype(int s, int *old)
{
	(void)s;
	if (old)
		*old = 0;
	return 0;
}
void pthread_testcancel(void)
{
}
int pthread_cancel(pthread_t t)
{
	(void)t;
	sym_refuse("pthread_cancel");
}
int pthread_sigmask(int how, const sigset_t *s, sigset_t *old)
{
	(void)how;
	(void)s;
	if (old)
		memset(old, 0, sizeof(*old));
	return 0;
}
int sigprocmask(int how, const sigset_t *s, sigset_t *old)
{
	return pthread_sigmask(how, s, old);
}
int sigemptyset(sigset_t *s)
{
	memset(s, 0, sizeof(*s));
	return 0;
}
int sigfillset(sigset_t *s)
{
	memset(s, 255, sizeof(*s));
	return 0;
}
int sigaddset(sigset_t *s, int n)
{
	(void)s;
	(void)n;
	return 0;
}
/* Signals reach the program only when it sends them to itself: the handler runs at once. */
static __sighandler_t handlers[65];

int sigaction(int n, const struct sigaction *a, struct sigaction *old)
{
	if (n < 1 || n > 64) {
		errno = EINVAL;
		return -1;
	}
	if (old) {
		memset(old, 0, sizeof(*old));
		old->sa_handler = handlers[n];
	}
	if (a)
		handlers[n] = a->sa_handler;
	sym_note("signals from outside never arrive");
	return 0;
}
__sighandler_t signal(int n, __sighandler_t h)
{
	__sighandler_t old;

	if (n < 1 || n > 64)
		return SIG_ERR;
	old = handlers[n];
	handlers[n] = h;
	sym_note("signals from outside never arrive");
	return old;
}
int raise(int n)
{
	if (n < 1 || n > 64)
		return -1;
	if (handlers[n] == SIG_IGN)
		return 0;
	if (handlers[n] != SIG_DFL) {
		handlers[n](n);
		return 0;
	}
	if (n == SIGCHLD || n == SIGURG || n == SIGWINCH || n == SIGCONT)
		return 0;
	abort();
}
int pthread_kill(pthread_t t, int n)
{
	if (pthread_equal(t, pthread_self()))
		return raise(n);
	sym_refuse("pthread_kill of another thread");
}
int kill(pid_t p, int n)
{
	(void)p;
	return raise(n);
}
unsigned alarm(unsigned s)
{
	(void)s;
	sym_note("alarm never rings");
	return 0;
}

int pthread_once(pthread_once_t *c, void (*fn)(void))
{
	if (sym_once_begin(c)) {
		fn();
		sym_once_end(c);
	}
	return 0;
}

#define MAX_KEYS 64
static unsigned keys_used;
static _Thread_local void *key_values[MAX_KEYS];
int pthread_key_create(pthread_key_t *k, void (*destructor)(void *))
{
	if (destructor)
		sym_note("destructors of thread-specific data do not run");
	if (keys_used == MAX_KEYS)
		return EAGAIN;
	*k = keys_used++;
	return 0;
}
int pthread_key_delete(pthread_key_t k)
{
	(void)k;
	return 0;
}
void *pthread_getspecific(pthread_key_t k)
{
	return k < MAX_KEYS ? key_values[k] : NULL;
}
int pthread_setspecific(pthread_key_t k, const void *v)
{
	if (k >= MAX_KEYS)
		return EINVAL;
	key_values[k] = (void *)v;
	return 0;
}

/* C11 threads */
int thrd_yield(void)
{
	return sched_yield();
}

/* --- time is virtual: it passes when somebody looks or sleeps --- */
int clock_gettime(clockid_t c, struct timespec *t)
{
	uint64_t ns = sym_clock();

	(void)c;
	t->tv_sec = (time_t)(ns / 1000000000);
	t->tv_nsec = (long)(ns % 1000000000);
	return 0;
}
int clock_getres(clockid_t c, struct timespec *t)
{
	(void)c;
	if (t) {
		t->tv_sec = 0;
		t->tv_nsec = 1;
	}
	return 0;
}
int gettimeofday(struct timeval *t, void *z)
{
	uint64_t ns = sym_clock();

	(void)z;
	t->tv_sec = (time_t)(ns / 1000000000);
	t->tv_usec = (suseconds_t)(ns / 1000 % 1000000);
	return 0;
}
time_t time(time_t *t)
{
	time_t now = (time_t)(sym_clock() / 1000000000);

	if (t)
		*t = now;
	return now;
}
clock_t clock(void)
{
	return (clock_t)(sym_clock() / 1000);
}
double difftime(time_t a, time_t b)
{
	return (double)(a - b);
}
int usleep(useconds_t us)
{
	sym_sleep((uint64_t)us * 1000);
	return 0;
}
unsigned sleep(unsigned s)
{
	sym_sleep((uint64_t)s * 1000000000);
	return 0;
}
int nanosleep(const struct timespec *t, struct timespec *left)
{
	sym_sleep((uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec);
	if (left)
		left->tv_sec = left->tv_nsec = 0;
	return 0;
}
int clock_nanosleep(clockid_t c, int flags, const struct timespec *t, struct timespec *left)
{
	uint64_t ns = (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec, now;

	(void)c;
	if (flags) { /* until, not for */
		now = sym_clock();
		ns = ns > now ? ns - now : 0;
	}
	sym_sleep(ns);
	if (left)
		left->tv_sec = left->tv_nsec = 0;
	return 0;
}

/* Names of threads and the like; what it would tell is not known. */
int prctl(int what, ...)
{
	if (what != PR_SET_NAME && what != PR_SET_PDEATHSIG && what != PR_SET_DUMPABLE)
		sym_refuse("prctl has a model for names of threads only");
	return 0;
}
