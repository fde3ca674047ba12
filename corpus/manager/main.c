/* manager: a request is handed out after the last one is gone.
 *
 * Workers ask the manager whether requests remain and then take one. Asking takes no lock, taking does; two workers that
 * both hear "one is left" take two.
 *
 * usage: manager [WORKERS [REQUESTS]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_WORKERS 32
#define MAX_REQUESTS 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int remaining = 48;
static int served[MAX_REQUESTS]; /* how often */
static int overdrawn;            /* requests taken that were not there */

static __attribute__((noinline)) int has_requests(void)
{
	return remaining > 0; /* BUG:a */
}

/* The caller holds the lock. */
static int take_request(void)
{
	remaining--; /* BUG:b */
	return remaining;
}

static void serve(int request)
{
	if (request < 0)
		overdrawn++;
	else
		served[request]++;
}

static void *worker(void *arg)
{
#ifdef FIXED
	pthread_mutex_lock(&lock);
	while (has_requests()) {
		serve(take_request());
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
#else
	while (has_requests()) {
		pthread_mutex_lock(&lock);
		serve(take_request());
		pthread_mutex_unlock(&lock);
	}
#endif
	return arg;
}

int main(int argc, char **argv)
{
	int workers = argc > 1 ? atoi(argv[1]) : 4;
	int requests = argc > 2 ? atoi(argv[2]) : remaining;
	pthread_t thread[MAX_WORKERS];

	if (workers < 1 || workers > MAX_WORKERS || requests < 1 || requests > MAX_REQUESTS) {
		fprintf(stderr, "usage: manager [WORKERS(1-%d) [REQUESTS(1-%d)]]\n", MAX_WORKERS, MAX_REQUESTS);
		return 2;
	}
	remaining = requests;
	for (int i = 0; i < workers; i++)
		pthread_create(&thread[i], NULL, worker, NULL);
	for (int i = 0; i < workers; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < requests; i++)
		assert(served[i] == 1);
	assert(overdrawn == 0);
	return 0;
}
