/* bbuf: consumers take from a buffer that another one has just emptied.
 *
 * Producers put items into a ring, consumers take some out when there are any. A consumer looks at the two ends of the
 * ring before it takes the lock, and not again after.
 *
 * usage: bbuf [PRODUCERS [CONSUMERS [ITEMS]]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 32
#define RING 64

struct bbuf {
	pthread_mutex_t lock;
	pthread_cond_t room;
	int slot[RING];
	int head, rear; /* next to take, next to fill: equal when empty */
	int puts, gets;
	int put_sum, get_sum;
	int draining; /* the consumers have gone: nobody makes room any more */
};

static struct bbuf *bbuf;
static int items = 3;

static struct bbuf *bbuf_new(void)
{
	struct bbuf *b = calloc(1, sizeof(*b));

	assert(b);
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->room, NULL);
	return b;
}

static void bbuf_free(struct bbuf *b)
{
	pthread_cond_destroy(&b->room);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

/* False when the ring is full and will stay so. */
static int bbuf_put(struct bbuf *b, int item)
{
	int stored = 0;

	pthread_mutex_lock(&b->lock);
	while ((b->rear + 1) % RING == b->head && !b->draining)
		pthread_cond_wait(&b->room, &b->lock);
	if (!b->draining) {
		b->slot[b->rear] = item;
		b->rear = (b->rear + 1) % RING;
		b->puts++;
		b->put_sum += item;
		stored = 1;
	}
	pthread_mutex_unlock(&b->lock);
	return stored;
}

static __attribute__((noinline)) int bbuf_has_items(const struct bbuf *b)
{
	return b->head != b->rear; /* BUG:a */
}

/* Take one item; there must be one. */
static int bbuf_get(struct bbuf *b)
{
	int item;

	assert(b->head != b->rear); /* BUG:c */
	item = b->slot[b->head];
	b->head = (b->head + 1) % RING; /* BUG:b */
	b->gets++;
	b->get_sum += item;
	pthread_cond_signal(&b->room);
	return item;
}

static void *producer(void *arg)
{
	int base = *(int *)arg * 100;

	for (int i = 1; i <= items; i++)
		if (!bbuf_put(bbuf, base + i))
			break;
	return NULL;
}

static void *consumer(void *arg)
{
	int sum = 0;

	(void)arg;
	for (int i = 0; i < items; i++) {
#ifdef FIXED
		pthread_mutex_lock(&bbuf->lock);
		if (bbuf_has_items(bbuf))
			sum += bbuf_get(bbuf);
		pthread_mutex_unlock(&bbuf->lock);
#else
		if (bbuf_has_items(bbuf)) {
			pthread_mutex_lock(&bbuf->lock);
			sum += bbuf_get(bbuf);
			pthread_mutex_unlock(&bbuf->lock);
		}
#endif
	}
	return sum < 0 ? arg : NULL;
}

int main(int argc, char **argv)
{
	int producers = argc > 1 ? atoi(argv[1]) : 2;
	int consumers = argc > 2 ? atoi(argv[2]) : 2;
	int number[MAX_THREADS], left = 0;
	pthread_t thread[MAX_THREADS];

	items = argc > 3 ? atoi(argv[3]) : items;
	if (producers < 0 || consumers < 0 || producers + consumers > MAX_THREADS) {
		fprintf(stderr, "usage: bbuf [PRODUCERS [CONSUMERS [ITEMS]]], at most %d threads\n", MAX_THREADS);
		return 2;
	}
	bbuf = bbuf_new();
	for (int i = 0; i < producers + consumers; i++) {
		number[i] = i + 1;
		pthread_create(&thread[i], NULL, i < producers ? producer : consumer, &number[i]);
	}
	for (int i = producers; i < producers + consumers; i++)
		pthread_join(thread[i], NULL);

	pthread_mutex_lock(&bbuf->lock);
	bbuf->draining = 1;
	pthread_cond_broadcast(&bbuf->room);
	pthread_mutex_unlock(&bbuf->lock);
	for (int i = 0; i < producers; i++)
		pthread_join(thread[i], NULL);

	while (bbuf_has_items(bbuf)) {
		bbuf_get(bbuf);
		left++;
	}
	assert(bbuf->puts == bbuf->gets && bbuf->put_sum == bbuf->get_sum);
	printf("%d items, %d of them left over\n", bbuf->puts, left);
	bbuf_free(bbuf);
	return 0;
}
