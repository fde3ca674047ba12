/* boundedbuffer: one waiter is signalled where all must be.
 *
 * Producers and consumers of a bounded buffer wait for the same condition variable. A signal that means "there is room" can
 * wake a consumer, which finds the buffer empty and goes back to sleep; the producer it was meant for is not
 * woken again, and in the end everybody waits.
 *
 * usage: boundedbuffer [PRODUCERS [CONSUMERS [ITEMS [CAPACITY]]]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 32
#define MAX_CAPACITY 16

struct buffer {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int slot[MAX_CAPACITY];
	int capacity, head, tail, count;
	int put, taken; /* so far, over all threads */
	int put_sum, taken_sum;
};

static struct buffer buffer = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static int producers = 3, consumers = 3, items = 4;

static void notify(struct buffer *b)
{
#ifdef FIXED
	pthread_cond_broadcast(&b->changed);
#else
	pthread_cond_signal(&b->changed); /* BUG:b */
#endif
}

static void buffer_put(struct buffer *b, int item)
{
	pthread_mutex_lock(&b->lock);
	while (b->count == b->capacity)
		pthread_cond_wait(&b->changed, &b->lock); /* BUG:a */
	b->slot[b->tail] = item;
	b->tail = (b->tail + 1) % b->capacity;
	b->count++;
	b->put++;
	b->put_sum += item;
	notify(b);
	pthread_mutex_unlock(&b->lock);
}

static int buffer_take(struct buffer *b)
{
	int item;

	pthread_mutex_lock(&b->lock);
	while (b->count == 0)
		pthread_cond_wait(&b->changed, &b->lock); /* BUG:a */
	item = b->slot[b->head];
	b->head = (b->head + 1) % b->capacity;
	b->count--;
	b->taken++;
	b->taken_sum += item;
	notify(b);
	pthread_mutex_unlock(&b->lock);
	return item;
}

static void *producer(void *arg)
{
	int base = *(int *)arg * 100;

	for (int i = 0; i < items; i++)
		buffer_put(&buffer, base + i);
	return NULL;
}

static void *consumer(void *arg)
{
	/* The first consumers take one item more when the items cannot be shared out evenly. */
	int number = *(int *)arg - producers;
	int share = producers * items / consumers + (number < producers * items % consumers);
	int sum = 0;

	for (int i = 0; i < share; i++)
		sum += buffer_take(&buffer);
	return sum < 0 ? arg : NULL;
}

int main(int argc, char **argv)
{
	int number[MAX_THREADS];
	pthread_t thread[MAX_THREADS];

	producers = argc > 1 ? atoi(argv[1]) : producers;
	consumers = argc > 2 ? atoi(argv[2]) : consumers;
	items = argc > 3 ? atoi(argv[3]) : items;
	buffer.capacity = argc > 4 ? atoi(argv[4]) : 2;
	if (producers < 1 || consumers < 1 || producers + consumers > MAX_THREADS || buffer.capacity < 1 ||
	    buffer.capacity > MAX_CAPACITY) {
		fprintf(stderr, "usage: boundedbuffer [PRODUCERS [CONSUMERS [ITEMS [CAPACITY]]]]\n");
		return 2;
	}
	for (int i = 0; i < producers + consumers; i++) {
		number[i] = i;
		pthread_create(&thread[i], NULL, i < producers ? producer : consumer, &number[i]);
	}
	for (int i = 0; i < producers + consumers; i++)
		pthread_join(thread[i], NULL);
	assert(buffer.put == buffer.taken && buffer.put_sum == buffer.taken_sum);
	return 0;
}
