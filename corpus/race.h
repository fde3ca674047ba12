/* race.h - what the race-* programs share: two threads, and a lock that only the cured twin takes. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FIXED
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
#define GUARD() pthread_mutex_lock(&guard)
#define UNGUARD() pthread_mutex_unlock(&guard)
#define USE_GUARD() ((void)guard)
#else
#define GUARD() ((void)0)
#define UNGUARD() ((void)0)
#define USE_GUARD() ((void)0)
#endif

/* Run both to their end. Returns the exit status. */
static int run(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t a, b;

	USE_GUARD();
	if (pthread_create(&a, NULL, first, NULL) || pthread_create(&b, NULL, second, NULL))
		return 3;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
