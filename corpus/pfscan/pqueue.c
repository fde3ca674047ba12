/* pqueue.c - the queue of files to scan.
 *
 * The published bug is in pqueue_get(): it looks whether there is an item, gives the lock back, takes it
 * again and removes an item, although another worker may have removed the last one by then.
 *
 * The cure keeps the lock. */
#include "pfscan.h"

#include <assert.h>
#include <string.h>

void pqueue_init(struct pqueue *q)
{
	memset(q, 0, sizeof(*q));
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->more, NULL);
}

void pqueue_deinit(struct pqueue *q)
{
	pthread_cond_destroy(&q->more);
	pthread_mutex_destroy(&q->lock);
}

void pqueue_put(struct pqueue *q, int item)
{
	pthread_mutex_lock(&q->lock);
	assert(q->filled < PQUEUE_MAX);
	q->item[q->in] = item;
	q->in = (q->in + 1) % PQUEUE_MAX;
	q->filled++;
	if (q->filled > q->high_water)
		q->high_water = q->filled;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
}

void pqueue_close(struct pqueue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = 1;
	pthread_cond_broadcast(&q->more);
	pthread_mutex_unlock(&q->lock);
}

void pqueue_wait(struct pqueue *q)
{
	pthread_mutex_lock(&q->lock);
	while (q->filled == 0 && !q->closed)
		pthread_cond_wait(&q->more, &q->lock);
	pthread_mutex_unlock(&q->lock);
}

/* The caller holds the lock. */
static int remove_item(struct pqueue *q)
{
	int item;

	assert(q->filled > 0); /* BUG:c */
	q->filled--;           /* BUG:b */
	item = q->item[q->out];
	q->out = (q->out + 1) % PQUEUE_MAX;
	return item;
}

int pqueue_get(struct pqueue *q, int *ret)
{
	int closed;

	pthread_mutex_lock(&q->lock);
	if (q->filled == 0) { /* BUG:a */
		closed = q->closed;
		pthread_mutex_unlock(&q->lock);
		return closed ? -1 : 0;
	}
#ifndef FIXED
	pthread_mutex_unlock(&q->lock);
	pthread_mutex_lock(&q->lock);
#endif
	*ret = remove_item(q);
	pthread_mutex_unlock(&q->lock);
	return 1;
}
