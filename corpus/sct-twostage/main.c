/* twostage - two critical sections where one is needed.
 *
 * A writer stores data1 under one lock and, later, data2 = data1 + 1 under another. A reader that
 * comes between the stages sees data1 set and data2 still old. N threads: N-1 writers, 1 reader.
 * Cure: the outer lock spans both stages, on both sides.   usage: main [threads=2] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock1 = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock2 = PTHREAD_MUTEX_INITIALIZER;
static int data1, data2;

static void *write_thread(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock1);
	data1 = 1; /* BUG:a */
#ifndef FIXED
	pthread_mutex_unlock(&lock1);
#endif
	pthread_mutex_lock(&lock2);
	data2 = 2;
	pthread_mutex_unlock(&lock2);
#ifdef FIXED
	pthread_mutex_unlock(&lock1);
#endif
	return NULL;
}

static void *read_thread(void *arg)
{
	int first, second;

	(void)arg;
	pthread_mutex_lock(&lock1);
	first = data1; /* BUG:b */
#ifndef FIXED
	pthread_mutex_unlock(&lock1);
#endif
	pthread_mutex_lock(&lock2);
	second = data2; /* BUG:c */
	pthread_mutex_unlock(&lock2);
#ifdef FIXED
	pthread_mutex_unlock(&lock1);
#endif
	assert(first == 0 || second == first + 1);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t *t;

	if (n < 2 || n > 1000)
		return 2;
	t = calloc(n, sizeof(*t));
	assert(t);
	for (i = 0; i < n; i++)
		pthread_create(&t[i], NULL, i < n - 1 ? write_thread : read_thread, NULL);
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
	return 0;
}
