/* worksteal - a work-stealing queue: the owner pushes and pops at the tail, a thief steals at
 * the head.
 *
 * The owner's pop must first announce the new tail and then look at the head; here it looks
 * first. A thief that takes the last element in between is not seen and the element is taken twice.
 * Cure: announce, then look.   usage: main [items=4] */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SIZE = 64 };

struct queue {
	atomic_long head, tail;
	atomic_int item[SIZE];
	pthread_mutex_t lock; /* thieves, and the owner in doubt */
};

static struct queue *q;
static atomic_int taken[SIZE];
static int items;

static void push(int v)
{
	long t = atomic_load(&q->tail);

	atomic_store(&q->item[t % SIZE], v);
	atomic_store(&q->tail, t + 1);
}

static int pop(void)
{
	long t = atomic_load(&q->tail) - 1, h;
	int v = -1;

#ifdef FIXED
	atomic_store(&q->tail, t);
	h = atomic_load(&q->head);
#else
	h = atomic_load(&q->head); /* BUG:a */
	atomic_store(&q->tail, t); /* BUG:c */
#endif
	if (h < t)
		return atomic_load(&q->item[t % SIZE]);
	/* Perhaps the last one: settle it with the thieves. */
	pthread_mutex_lock(&q->lock);
	if (atomic_load(&q->head) <= t)
		v = atomic_load(&q->item[t % SIZE]);
	else
		atomic_store(&q->tail, t + 1);
	pthread_mutex_unlock(&q->lock);
	return v;
}

static int steal(void)
{
	int v = -1;
	long h;

	pthread_mutex_lock(&q->lock);
	h = atomic_load(&q->head);
	atomic_store(&q->head, h + 1); /* BUG:b */
	if (h + 1 <= atomic_load(&q->tail))
		v = atomic_load(&q->item[h % SIZE]);
	else
		atomic_store(&q->head, h);
	pthread_mutex_unlock(&q->lock);
	return v;
}

static void take(int v)
{
	if (v >= 0)
		assert(atomic_fetch_add(&taken[v], 1) == 0);
}

static void *thief(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < items; i++)
		take(steal());
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	int i;

	items = argc > 1 ? atoi(argv[1]) : 4;
	if (items < 1 || items > SIZE)
		return 2;
	q = calloc(1, sizeof(*q));
	assert(q);
	pthread_mutex_init(&q->lock, NULL);
	pthread_create(&t, NULL, thief, NULL);
	for (i = 0; i < items; i++) {
		push(i);
		if (i % 2)
			take(pop());
	}
	for (i = 0; i < items / 2; i++)
		take(pop());
	pthread_join(t, NULL);
	free(q);
	return 0;
}
