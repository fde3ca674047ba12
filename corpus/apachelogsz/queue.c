/* queue.c - connections waiting for a worker. */
#include "httpd.h"

void queue_init(struct queue *q)
{
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->not_empty, NULL);
	pthread_cond_init(&q->not_full, NULL);
}

void queue_put(struct queue *q, const char *connection)
{
	pthread_mutex_lock(&q->lock);
	while (q->count == DEPTH)
		pthread_cond_wait(&q->not_full, &q->lock);
	q->slot[(q->head + q->count++) % DEPTH] = connection;
	pthread_cond_signal(&q->not_empty);
	pthread_mutex_unlock(&q->lock);
}

const char *queue_get(struct queue *q)
{
	const char *connection = NULL;

	pthread_mutex_lock(&q->lock);
	while (q->count == 0 && !q->closed)
		pthread_cond_wait(&q->not_empty, &q->lock);
	if (q->count > 0) {
		connection = q->slot[q->head];
		q->head = (q->head + 1) % DEPTH;
		q->count--;
		pthread_cond_signal(&q->not_full);
	}
	pthread_mutex_unlock(&q->lock);
	return connection;
}

void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = 1;
	pthread_cond_broadcast(&q->not_empty);
	pthread_mutex_unlock(&q->lock);
}
