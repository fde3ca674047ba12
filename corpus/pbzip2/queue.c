/* queue.c - the bounded queue between the producer and the consumers. */
#include "pbzip2.h"

#include <assert.h>
#include <stdlib.h>

void queue_init(struct queue *q, int capacity)
{
	q->slot = calloc((size_t)capacity, sizeof(*q->slot));
	q->capacity = capacity;
	q->head = q->tail = q->length = 0;
	q->all_done = 0;
	q->mut = malloc(sizeof(*q->mut));
	q->not_full = malloc(sizeof(*q->not_full));
	q->not_empty = malloc(sizeof(*q->not_empty));
	assert(q->slot && q->mut && q->not_full && q->not_empty);
	pthread_mutex_init(q->mut, NULL);
	pthread_cond_init(q->not_full, NULL);
	pthread_cond_init(q->not_empty, NULL);
}

/* Nobody may be using the queue any more. */
void queue_delete(struct queue *q)
{
	pthread_mutex_t *mut = q->mut;

	q->mut = NULL; /* BUG:a */
	pthread_mutex_destroy(mut);
	free(mut);
	pthread_cond_destroy(q->not_full);
	free(q->not_full);
	q->not_full = NULL;
	pthread_cond_destroy(q->not_empty);
	free(q->not_empty);
	q->not_empty = NULL;
	free(q->slot);
	q->slot = NULL;
}

void queue_put(struct queue *q, struct block *b)
{
	pthread_mutex_lock(q->mut);
	while (q->length == q->capacity)
		pthread_cond_wait(q->not_full, q->mut);
	q->slot[q->tail] = b;
	q->tail = (q->tail + 1) % q->capacity;
	q->length++;
	pthread_cond_signal(q->not_empty);
	pthread_mutex_unlock(q->mut);
}

struct block *queue_get(struct queue *q)
{
	struct block *b = NULL;

	pthread_mutex_lock(q->mut); /* BUG:b */
	while (q->length == 0 && !q->all_done)
		pthread_cond_wait(q->not_empty, q->mut); /* BUG:b */
	if (q->length > 0) {
		b = q->slot[q->head];
		q->head = (q->head + 1) % q->capacity;
		q->length--;
		pthread_cond_signal(q->not_full);
	}
	pthread_mutex_unlock(q->mut); /* BUG:b */
	return b;
}

void queue_finish(struct queue *q)
{
	pthread_mutex_lock(q->mut);
	q->all_done = 1;
	pthread_cond_broadcast(q->not_empty);
	pthread_mutex_unlock(q->mut);
}
