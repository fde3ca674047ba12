/* What fills a flight recorder. For `record --last`.
 *
 *	last-storm threads N   N threads, one after the other, then abort
 *	last-storm locks N     two threads that lock and unlock N times, then abort
 *	last-storm forever     the same, and threads that come and go, until it is killed */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long rounds;

static void *once(void *arg)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	usleep(1000);
	return arg;
}

static void *many(void *arg)
{
	for (long i = 0; i < rounds || !rounds; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
	}
	return arg;
}

static void come_and_go(long n)
{
	for (long i = 0; i < n || !n; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, once, NULL) == 0)
			pthread_join(t, NULL);
	}
}

int main(int argc, char **argv)
{
	pthread_t t[2];

	if (argc > 2 && !strcmp(argv[1], "threads")) {
		come_and_go(atol(argv[2]));
		abort();
	}
	rounds = argc > 2 ? atol(argv[2]) : 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, many, NULL);
	if (!rounds)
		come_and_go(0);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	abort();
}
