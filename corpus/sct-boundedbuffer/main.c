/* boundedbuffer - one condition variable for two conditions.
 *
 * Producers and consumers wait on the same variable and wake with signal. A producer's signal
 * can wake another producer, which finds the buffer full and sleeps again: the wake-up is spent.
 * Cure: broadcast.   usage: main [items=2] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { SIZE = 1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int buffer[SIZE], used, items;
static long put_sum, got_sum;

static void wake(void)
{
#ifdef FIXED
	pthread_cond_broadcast(&changed);
#else
	pthread_cond_signal(&changed); /* BUG:a */
#endif
}

static void *producer(void *arg)
{
	int i, id = *(int *)arg;

	for (i = 0; i < items; i++) {
		pthread_mutex_lock(&lock);
		while (used == SIZE)
			pthread_cond_wait(&changed, &lock);
		buffer[used++] = id * 100 + i;
		put_sum += id * 100 + i;
		wake();
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *consumer(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < items; i++) {
		pthread_mutex_lock(&lock);
		while (used == 0)
			pthread_cond_wait(&changed, &lock);
		got_sum += buffer[--used];
		wake();
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int i, id[4] = { 0, 1, 2, 3 };
	pthread_t t[4];

	items = argc > 1 ? atoi(argv[1]) : 2;
	if (items < 1 || items > 1000)
		return 2;
	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, i % 2 ? producer : consumer, &id[i]);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	assert(put_sum == got_sum);
	return 0;
}
