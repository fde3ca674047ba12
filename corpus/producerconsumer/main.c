/* producerconsumer: the buffer is locked, the books are not.
 *
 * Producers pass items through a bounded buffer to consumers. What goes through the buffer is protected; the sum of what was
 * produced is added up outside the lock, and an update of it can be lost.
 *
 * usage: producerconsumer [PRODUCERS [CONSUMERS [ITEMS]]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 32
#define CAPACITY 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int slot[CAPACITY];
static int head, count, taken;
static int produced_sum, consumed_sum;
static int producers = 2, consumers = 2, items = 10;

static void put(int item)
{
	pthread_mutex_lock(&lock);
	while (count == CAPACITY)
		pthread_cond_wait(&not_full, &lock);
	slot[(head + count) % CAPACITY] = item;
	count++;
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&lock);
}

/* False when all items there will ever be have been taken. */
static int take(void)
{
	int total = producers * items;

	pthread_mutex_lock(&lock);
	while (count == 0 && taken < total)
		pthread_cond_wait(&not_empty, &lock);
	if (count == 0) {
		pthread_mutex_unlock(&lock);
		return 0;
	}
	consumed_sum += slot[head];
	head = (head + 1) % CAPACITY;
	count--;
	taken++;
	pthread_cond_signal(&not_full);
	if (taken == total)
		pthread_cond_broadcast(&not_empty);
	pthread_mutex_unlock(&lock);
	return 1;
}

static void book(int item)
{
	int sum;

#ifdef FIXED
	pthread_mutex_lock(&lock);
#endif
	sum = produced_sum;        /* BUG:a */
	produced_sum = sum + item; /* BUG:b */
#ifdef FIXED
	pthread_mutex_unlock(&lock);
#endif
}

static void *producer(void *arg)
{
	int base = *(int *)arg * 100;

	for (int i = 1; i <= items; i++) {
		put(base + i);
		book(base + i);
	}
	return NULL;
}

static void *consumer(void *arg)
{
	(void)arg;
	while (take())
		;
	return NULL;
}

int main(int argc, char **argv)
{
	int number[MAX_THREADS];
	pthread_t thread[MAX_THREADS];

	producers = argc > 1 ? atoi(argv[1]) : producers;
	consumers = argc > 2 ? atoi(argv[2]) : consumers;
	items = argc > 3 ? atoi(argv[3]) : items;
	if (producers < 1 || consumers < 1 || producers + consumers > MAX_THREADS) {
		fprintf(stderr, "usage: producerconsumer [PRODUCERS [CONSUMERS [ITEMS]]]\n");
		return 2;
	}
	for (int i = 0; i < producers + consumers; i++) {
		number[i] = i;
		pthread_create(&thread[i], NULL, i < producers ? producer : consumer, &number[i]);
	}
	for (int i = 0; i < producers + consumers; i++)
		pthread_join(thread[i], NULL);
	assert(taken == producers * items);
	assert(produced_sum == consumed_sum);
	return 0;
}
