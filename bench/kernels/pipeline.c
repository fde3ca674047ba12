/* pipeline - like dedup: chunks travel through queues from a splitter to hashers to a writer; stages
 * share chunks and queues, under locks. usage: pipeline [megabytes=4] */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096, SLOTS = 64, HASHERS = 2, BUCKETS = 4096 };

struct chunk {
	uint64_t hash;
	uint32_t len;
	unsigned char data[CHUNK];
};

struct queue {
	struct chunk *slots[SLOTS];
	unsigned head, tail, producers;
	pthread_mutex_t lock;
	pthread_cond_t change;
};

static struct queue raw = { .producers = 1, .lock = PTHREAD_MUTEX_INITIALIZER,
			    .change = PTHREAD_COND_INITIALIZER };
static struct queue hashed = { .producers = HASHERS, .lock = PTHREAD_MUTEX_INITIALIZER,
			       .change = PTHREAD_COND_INITIALIZER };
static uint64_t table[BUCKETS], unique_bytes;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static size_t total;

static void put(struct queue *q, struct chunk *c)
{
	pthread_mutex_lock(&q->lock);
	while (q->tail - q->head == SLOTS)
		pthread_cond_wait(&q->change, &q->lock);
	q->slots[q->tail++ % SLOTS] = c;
	pthread_cond_broadcast(&q->change);
	pthread_mutex_unlock(&q->lock);
}

static struct chunk *get(struct queue *q)
{
	struct chunk *c = NULL;

	pthread_mutex_lock(&q->lock);
	while (q->tail == q->head && q->producers)
		pthread_cond_wait(&q->change, &q->lock);
	if (q->tail != q->head)
		c = q->slots[q->head++ % SLOTS];
	pthread_cond_broadcast(&q->change);
	pthread_mutex_unlock(&q->lock);
	return c;
}

static void done(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->producers--;
	pthread_cond_broadcast(&q->change);
	pthread_mutex_unlock(&q->lock);
}

static void *splitter(void *arg)
{
	uint32_t r = 1;

	for (size_t at = 0; at < total; at += CHUNK) {
		struct chunk *c = malloc(sizeof(*c));

		c->len = CHUNK;
		for (int i = 0; i < CHUNK; i++) {
			r = r * 1103515245 + 12345;
			c->data[i] = (unsigned char)(r >> 28);
		}
		put(&raw, c);
	}
	done(&raw);
	return arg;
}

static void *hasher(void *arg)
{
	struct chunk *c;

	while ((c = get(&raw))) {
		uint64_t h = 14695981039346656037u;

		for (uint32_t round = 0; round < 4; round++)
			for (uint32_t i = 0; i < c->len; i++)
				h = (h ^ c->data[i]) * 1099511628211u;
		c->hash = h;
		pthread_mutex_lock(&table_lock);
		if (table[h % BUCKETS] != h)
			unique_bytes += c->len;
		table[h % BUCKETS] = h;
		pthread_mutex_unlock(&table_lock);
		put(&hashed, c);
	}
	done(&hashed);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[1 + HASHERS];
	struct chunk *c;
	uint64_t sum = 0;

	total = (size_t)(argc > 1 ? atoi(argv[1]) : 4) << 20;
	pthread_create(&t[0], NULL, splitter, NULL);
	for (int i = 0; i < HASHERS; i++)
		pthread_create(&t[1 + i], NULL, hasher, NULL);
	while ((c = get(&hashed))) {
		sum += c->hash;
		free(c);
	}
	for (int i = 0; i <= HASHERS; i++)
		pthread_join(t[i], NULL);
	printf("%llx %llu\n", (unsigned long long)sum, (unsigned long long)unique_bytes);
	return 0;
}
