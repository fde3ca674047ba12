/* sync01 - a hand-over with a gap between the look and the wait.
 *
 * The consumer finds nothing, releases the mutex, takes it again and waits without looking
 * a second time. The producer's only signal may fall into the gap.
 * Cure: look in a loop around the wait.   usage: main */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void *producer(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	items++;
	pthread_cond_signal(&filled); /* BUG:c */
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *consumer(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
#ifdef FIXED
	while (items == 0)
		pthread_cond_wait(&filled, &lock);
#else
	if (items == 0) { /* BUG:a */
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&filled, &lock); /* BUG:b */
	}
#endif
	assert(items > 0);
	items--;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t p, c;

	pthread_create(&c, NULL, consumer, NULL);
	pthread_create(&p, NULL, producer, NULL);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	return 0;
}
