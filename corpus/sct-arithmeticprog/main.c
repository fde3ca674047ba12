/* arithmetic_prog - the sum 1 + 2 + ... + N, computed by a producer and a consumer.
 *
 * The producer offers 1..N through a one-place slot (0 = empty). The consumer takes the number
 * in one critical section and empties the slot in the next; it wakes the producer too early, so a
 * number offered in between is wiped out. The consumer then stops one number short and the
 * final sum is wrong.
 * Cure: take and empty in one critical section.   usage: main [N=3] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int slot, wanted, done;
static long total;

static void *produce(void *arg)
{
	int i, n = *(int *)arg;

	for (i = 1; i <= n; i++) {
		pthread_mutex_lock(&lock);
		while (!wanted)
			pthread_cond_wait(&changed, &lock);
		wanted = 0;
		slot = i; /* BUG:c */
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock);
	done = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *consume(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	for (;;) {
		while (slot == 0 && !done)
			pthread_cond_wait(&changed, &lock);
		if (slot == 0)
			break;
		total += slot;
#ifndef FIXED
		wanted = 1; /* BUG:a */
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
#endif
		slot = 0; /* BUG:b */
		wanted = 1;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3;
	pthread_t p, c;

	if (n < 1 || n > 100000)
		return 2;
	wanted = 1;
	pthread_create(&p, NULL, produce, &n);
	pthread_create(&c, NULL, consume, NULL);
	pthread_join(p, NULL);
	pthread_join(c, NULL);
	assert(total == (long)n * (n + 1) / 2);
	return 0;
}
