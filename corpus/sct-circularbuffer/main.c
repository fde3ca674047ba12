/* circular_buffer - a ring whose producer announces a slot before it has filled it.
 *
 * The producer sends 1..N: it advances `in` in one critical section and fills the slot in the
 * next. A consumer that sees the advanced index reads a stale slot.
 * Cure: fill and announce together.   usage: main [N=7] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { SIZE = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ring[SIZE];
static unsigned in, out;

static void ring_send(int value)
{
	unsigned slot;

	pthread_mutex_lock(&lock);
	while (in - out == SIZE)
		pthread_cond_wait(&changed, &lock);
	slot = in++ % SIZE; /* BUG:a */
	pthread_cond_broadcast(&changed);
#ifndef FIXED
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
#endif
	ring[slot] = value;
	pthread_mutex_unlock(&lock);
}

static int ring_receive(void)
{
	int value;

	pthread_mutex_lock(&lock);
	while (in == out)
		pthread_cond_wait(&changed, &lock);
	value = ring[out++ % SIZE]; /* BUG:b */
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return value;
}

static void *producer(void *arg)
{
	int i, n = *(int *)arg;

	for (i = 1; i <= n; i++)
		ring_send(i);
	return NULL;
}

static void *consumer(void *arg)
{
	int i, n = *(int *)arg;

	for (i = 1; i <= n; i++)
		assert(ring_receive() == i);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 7;
	pthread_t p, c;

	if (n < 1 || n > 100000)
		return 2;
	pthread_create(&p, NULL, producer, &n);
	pthread_create(&c, NULL, consumer, &n);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	return 0;
}
