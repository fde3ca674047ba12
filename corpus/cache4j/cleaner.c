/* cleaner.c - the thread that removes expired objects, and how others interrupt its nap.
 *
 * The published bug is here. A cleaner about to nap says so (`sleeping`), works out how long, and enters its try block.
 * Whoever changes the interval interrupts a cleaner that sleeps. If that happens between the two steps, the interrupt hits
 * the cleaner outside the try block, where nothing catches it: in Java an uncaught exception, here an assertion.
 *
 * The cure makes the two steps one, under the cleaner's lock. */
#include "cache.h"

#include <assert.h>
#include <sched.h>
#include <string.h>

static int nap_length(struct cleaner *cl)
{
	int ticks;

	pthread_mutex_lock(&cl->config_lock);
	ticks = cl->interval;
	pthread_mutex_unlock(&cl->config_lock);
	return ticks;
}

static int was_interrupted(struct cleaner *cl)
{
	int yes;

	pthread_mutex_lock(&cl->lock);
	yes = cl->interrupted;
	pthread_mutex_unlock(&cl->lock);
	return yes;
}

static void nap(struct cleaner *cl)
{
	int ticks;

#ifdef FIXED
	pthread_mutex_lock(&cl->lock);
#endif
	cl->sleeping = 1; /* BUG:a */
	ticks = nap_length(cl);
	cl->in_try = 1; /* BUG:c */
#ifdef FIXED
	pthread_mutex_unlock(&cl->lock);
#endif
	while (ticks-- > 0 && !was_interrupted(cl))
		sched_yield();

	pthread_mutex_lock(&cl->lock);
	cl->in_try = 0;
	cl->sleeping = 0;
	cl->interrupted = 0;
	pthread_mutex_unlock(&cl->lock);
}

static void *cleaner_main(void *arg)
{
	struct cleaner *cl = arg;

	for (int i = 0; i < cl->rounds; i++) {
		nap(cl);
		cache_clean(cl->cache);
		cl->cleanings++;
	}
	return NULL;
}

void cleaner_start(struct cleaner *cl, struct cache *c, int interval, int rounds)
{
	memset(cl, 0, sizeof(*cl));
	cl->cache = c;
	cl->interval = interval;
	cl->rounds = rounds;
	pthread_mutex_init(&cl->config_lock, NULL);
	pthread_mutex_init(&cl->lock, NULL);
	pthread_create(&cl->thread, NULL, cleaner_main, cl);
}

void cleaner_join(struct cleaner *cl)
{
	pthread_join(cl->thread, NULL);
	pthread_mutex_destroy(&cl->lock);
	pthread_mutex_destroy(&cl->config_lock);
}

void cleaner_set_interval(struct cleaner *cl, int interval)
{
	pthread_mutex_lock(&cl->config_lock);
	cl->interval = interval;
	pthread_mutex_unlock(&cl->config_lock);

	pthread_mutex_lock(&cl->lock);
	if (cl->sleeping) {
		assert(cl->in_try); /* BUG:b */
		cl->interrupted = 1;
	}
	pthread_mutex_unlock(&cl->lock);
}
