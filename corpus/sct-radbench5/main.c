/* radbench5 - posting a task to another thread's message loop.
 *
 * The poster asks the registry for the loop and posts to it in a second step. The loop's thread
 * leaves and takes its queue down in between.
 * Cure: posting holds the registry's lock.   usage: main [tasks=3] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { DEPTH = 64 };

struct queue {
	int task[DEPTH], count;
};

struct loop {
	struct queue *queue;
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct loop *current;
static int tasks, ran;

static void enqueue(struct loop *l, int task)
{
	struct queue *q = l->queue; /* BUG:c */

	assert(q->count < DEPTH);
	q->task[q->count++] = task;
}

static void post(int task)
{
	struct loop *l;

	pthread_mutex_lock(&registry_lock);
	l = current; /* BUG:a */
#ifndef FIXED
	pthread_mutex_unlock(&registry_lock);
	pthread_mutex_lock(&registry_lock);
#endif
	if (l)
		enqueue(l, task);
	pthread_mutex_unlock(&registry_lock);
}

static void *poster(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < tasks; i++)
		post(i);
	return NULL;
}

static void *loop_thread(void *arg)
{
	struct loop *l = arg;
	struct queue *q;

	pthread_mutex_lock(&registry_lock);
	ran += l->queue->count;
	current = NULL;
	q = l->queue;
	l->queue = NULL; /* BUG:b */
	pthread_mutex_unlock(&registry_lock);
	free(q);
	return NULL;
}

int main(int argc, char **argv)
{
	struct loop *l = calloc(1, sizeof(*l));
	pthread_t a, b;

	tasks = argc > 1 ? atoi(argv[1]) : 3;
	if (!l || tasks < 1 || tasks > DEPTH)
		return 2;
	l->queue = calloc(1, sizeof(*l->queue));
	assert(l->queue);
	current = l;
	pthread_create(&a, NULL, poster, NULL);
	pthread_create(&b, NULL, loop_thread, l);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	free(l);
	return 0;
}
