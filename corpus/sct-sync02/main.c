/* sync02 - two consumers, one item at a time, and an `if` where a `while` belongs.
 *
 * A waiting consumer is signalled; before it gets the mutex back, another consumer that never
 * waited takes the item.
 * Cure: `while`.   usage: main */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void *producer(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock);
		items++;
		pthread_cond_signal(&filled); /* BUG:a */
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *consumer(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
#ifdef FIXED
	while (items == 0)
#else
	if (items == 0)
#endif
		pthread_cond_wait(&filled, &lock);
	assert(items > 0); /* BUG:b */
	items--; /* BUG:c */
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t p, c, d;

	pthread_create(&c, NULL, consumer, NULL);
	pthread_create(&p, NULL, producer, NULL);
	pthread_create(&d, NULL, consumer, NULL);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	pthread_join(d, NULL);
	return 0;
}
