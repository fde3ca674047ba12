/* Preloaded into plain programs to shake their schedules: now and then a thread dozes after it got a
 * lock, before it asks for one, or when it starts. NUDGE_SEED varies it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static _Atomic unsigned long counter;

static void doze(unsigned one_in)
{
	static unsigned long seed;
	unsigned long x;

	if (!seed)
		seed = getenv("NUDGE_SEED") ? strtoul(getenv("NUDGE_SEED"), NULL, 10) + 1 : 1;
	x = (seed * 1000003 + counter++) * 0x9e3779b97f4a7c15ul;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ul;
	x ^= x >> 32;
	if (x % one_in == 0) {
		struct timespec ts = { 0, (long)(x >> 8 & 0x3fffff) };
		nanosleep(&ts, NULL);
	}
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	static int (*real)(pthread_mutex_t *);
	int r;

	if (!real)
		real = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
	doze(8);
	r = real(m);
	doze(3);
	return r;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
	static int (*real)(pthread_mutex_t *);
	int r;

	if (!real)
		real = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
	r = real(m);
	doze(4);
	return r;
}

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *p)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (!real)
		real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
	doze(3);
	return real(t, a, f, p);
}

int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	static int (*real)(pthread_cond_t *, pthread_mutex_t *);

	if (!real)
		real = (int (*)(pthread_cond_t *, pthread_mutex_t *))dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2");
	doze(3);
	return real(c, m);
}
