/* radbench2 - contexts of a script runtime: the first sets shared state up, the last takes it down.
 *
 * Making a context looks whether there are others; if so the shared atoms must be there. It enters
 * the list a step later. When the other one was the last and is destroyed in between, it takes
 * the atoms with it.
 * Cure: looking and entering the list are one step.
 * usage: main */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct runtime {
	pthread_mutex_t lock;
	int contexts;
	int atoms_ready;
	int scripts_run;
};

static struct runtime *rt;

static void gap(void)
{
#ifndef FIXED
	pthread_mutex_unlock(&rt->lock);
	pthread_mutex_lock(&rt->lock);
#endif
}

static void context_new(void)
{
	int first;

	pthread_mutex_lock(&rt->lock);
	first = rt->contexts == 0; /* BUG:a */
	gap();
	rt->contexts++;
	if (first)
		rt->atoms_ready = 1;
	pthread_mutex_unlock(&rt->lock);
}

static void context_destroy(void)
{
	int last;

	pthread_mutex_lock(&rt->lock);
	last = --rt->contexts == 0;
	if (last)
		rt->atoms_ready = 0; /* BUG:b */
	pthread_mutex_unlock(&rt->lock);
}

static void context_run(void)
{
	pthread_mutex_lock(&rt->lock);
	assert(rt->atoms_ready); /* BUG:c */
	rt->scripts_run++;
	pthread_mutex_unlock(&rt->lock);
}

static void *late(void *arg)
{
	(void)arg;
	context_new();
	context_run();
	context_destroy();
	return NULL;
}

static void *early(void *arg)
{
	(void)arg;
	context_run();
	context_destroy();
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	rt = calloc(1, sizeof(*rt));
	assert(rt);
	pthread_mutex_init(&rt->lock, NULL);
	context_new();
	pthread_create(&a, NULL, early, NULL);
	pthread_create(&b, NULL, late, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	free(rt);
	return 0;
}
