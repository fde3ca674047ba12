/* worksteal-state - a work-stealing pool whose elements carry a state: ready, running, done.
 *
 * Owner and thieves walk over the elements and claim the ready ones. The walk is from both
 * ends; when they meet, a claim that tests the state in one critical section and sets it in
 * another lets an element run twice.
 * Cure: test and set together.   usage: main [items=6] [thieves=2] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum state { READY, RUNNING, DONE };
enum { MAX = 64 };

struct element {
	pthread_mutex_t lock;
	enum state state;
	int runs;
};

static struct element *element;
static int items;

static int claim(struct element *e)
{
	int ready;

	pthread_mutex_lock(&e->lock);
	ready = e->state == READY; /* BUG:a */
#ifndef FIXED
	pthread_mutex_unlock(&e->lock);
	if (!ready)
		return 0;
	pthread_mutex_lock(&e->lock);
#endif
	if (ready)
		e->state = RUNNING; /* BUG:b */
	pthread_mutex_unlock(&e->lock);
	return ready;
}

static void run(struct element *e)
{
	pthread_mutex_lock(&e->lock);
	e->runs++;
	assert(e->runs == 1);
	e->state = DONE;
	pthread_mutex_unlock(&e->lock);
}

static void *owner(void *arg)
{
	int i;

	(void)arg;
	for (i = items - 1; i >= 0; i--)
		if (claim(&element[i]))
			run(&element[i]);
	return NULL;
}

static void *thief(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < items; i++)
		if (claim(&element[i]))
			run(&element[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, thieves = argc > 2 ? atoi(argv[2]) : 2;
	pthread_t t[MAX], o;

	items = argc > 1 ? atoi(argv[1]) : 6;
	if (items < 1 || thieves < 1 || thieves > MAX)
		return 2;
	element = calloc(items, sizeof(*element));
	assert(element);
	for (i = 0; i < items; i++)
		pthread_mutex_init(&element[i].lock, NULL);
	pthread_create(&o, NULL, owner, NULL);
	for (i = 0; i < thieves; i++)
		pthread_create(&t[i], NULL, thief, NULL);
	pthread_join(o, NULL);
	for (i = 0; i < thieves; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < items; i++)
		assert(element[i].runs == 1);
	free(element);
	return 0;
}
