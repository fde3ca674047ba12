/* Main waits in a loop, thousands of rounds, for a flag that the worker sets after a nap. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

static atomic_int state;

static void *worker(void *arg)
{
	struct timespec nap = { 0, 30000000 };

	(void)arg;
	nanosleep(&nap, NULL);
	atomic_store(&state, 1);
	return NULL;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, worker, NULL);
	while (!atomic_load(&state))
		sched_yield();
	pthread_join(t, NULL);
	return 0;
}
