/* twostage: a value that is computed in two stages is seen after the first one.
 *
 * A writer stores a number in `first` and then the number plus one in `second`. Each variable has its own
 * lock and is never touched without it, so there is no data race. But a reader that looks between the two stages sees a new
 * `first` beside an old `second`.
 *
 * The cure holds the first lock over both stages, in writers and readers.
 *
 * usage: twostage [WRITERS [READERS [ROUNDS]]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 64

struct data {
	pthread_mutex_t lock;
	int value;
};

static struct data first = {PTHREAD_MUTEX_INITIALIZER, 0};
static struct data second = {PTHREAD_MUTEX_INITIALIZER, 1};
static int rounds = 2;

static void write_both(void)
{
	int n;

	pthread_mutex_lock(&first.lock);
	n = ++first.value; /* BUG:a */
#ifndef FIXED
	pthread_mutex_unlock(&first.lock);
#endif
	pthread_mutex_lock(&second.lock);
	second.value = n + 1;
	pthread_mutex_unlock(&second.lock);
#ifdef FIXED
	pthread_mutex_unlock(&first.lock);
#endif
}

static void read_both(int *one, int *two)
{
	pthread_mutex_lock(&first.lock);
	*one = first.value;
#ifndef FIXED
	pthread_mutex_unlock(&first.lock);
#endif
	pthread_mutex_lock(&second.lock);
	*two = second.value; /* BUG:b */
	pthread_mutex_unlock(&second.lock);
#ifdef FIXED
	pthread_mutex_unlock(&first.lock);
#endif
}

static void *writer(void *arg)
{
	(void)arg;
	for (int i = 0; i < rounds; i++)
		write_both();
	return NULL;
}

static void *reader(void *arg)
{
	(void)arg;
	for (int i = 0; i < rounds; i++) {
		int one, two;

		read_both(&one, &two);
		/* A writer may have finished since we read `first`, so `second` may be ahead, never behind. */
		assert(two >= one + 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int writers = argc > 1 ? atoi(argv[1]) : 1;
	int readers = argc > 2 ? atoi(argv[2]) : 2;
	pthread_t thread[MAX_THREADS];

	rounds = argc > 3 ? atoi(argv[3]) : rounds;
	if (writers < 0 || readers < 0 || writers + readers > MAX_THREADS) {
		fprintf(stderr, "usage: twostage [WRITERS [READERS [ROUNDS]]], at most %d threads\n", MAX_THREADS);
		return 2;
	}
	for (int i = 0; i < writers + readers; i++)
		pthread_create(&thread[i], NULL, i < writers ? writer : reader, NULL);
	for (int i = 0; i < writers + readers; i++)
		pthread_join(thread[i], NULL);
	assert(first.value == writers * rounds);
	return 0;
}
