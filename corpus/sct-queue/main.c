/* queue - a bounded queue with two consumers that look first and take later.
 *
 * `queue_size` and `queue_get` are each atomic, the two together are not: with one element left,
 * both consumers see it and one of them takes from an empty queue.
 * Cure: look and take under one lock.   usage: main [elements=20] */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SIZE = 64 };

struct queue {
	pthread_mutex_t lock;
	int element[SIZE], head, tail, amount;
};

static struct queue *q;
static int wanted;

static int queue_size(void)
{
	int n;

	pthread_mutex_lock(&q->lock);
	n = q->amount; /* BUG:a */
	pthread_mutex_unlock(&q->lock);
	return n;
}

static void take(void)
{
	assert(q->amount > 0); /* BUG:c */
	q->amount--; /* BUG:b */
	assert(q->element[q->head] != 0);
	q->element[q->head] = 0;
	q->head = (q->head + 1) % SIZE;
}

static bool queue_try_take(void)
{
	bool ok = true;

#ifdef FIXED
	pthread_mutex_lock(&q->lock);
	if (q->amount > 0)
		take();
	else
		ok = false;
	pthread_mutex_unlock(&q->lock);
#else
	if (queue_size() == 0)
		return false;
	pthread_mutex_lock(&q->lock);
	take();
	pthread_mutex_unlock(&q->lock);
#endif
	return ok;
}

static void *consumer(void *arg)
{
	(void)arg;
	while (queue_try_take())
		;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t a, b;
	int i;

	wanted = argc > 1 ? atoi(argv[1]) : 20;
	if (wanted < 1 || wanted > SIZE)
		return 2;
	q = calloc(1, sizeof(*q));
	assert(q);
	pthread_mutex_init(&q->lock, NULL);
	for (i = 0; i < wanted; i++) {
		q->element[q->tail] = i + 1;
		q->tail = (q->tail + 1) % SIZE;
		q->amount++;
	}
	pthread_create(&a, NULL, consumer, NULL);
	pthread_create(&b, NULL, consumer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(queue_size() == 0);
	free(q);
	return 0;
}
