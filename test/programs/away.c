/* A lock that spins in code which unplait does not see (away-lock.c, built by gcc). */
#include <assert.h>
#include <pthread.h>
#include <sched.h>

void away_lock(void), away_unlock(void), away_forever(void);
static int count;

static void *work(void *arg)
{
	int seen;

	away_lock();
	seen = count;
#ifndef FIXED
	away_unlock();
	sched_yield();
	away_lock();
#endif
	count = seen + 1;
	away_unlock();
#ifdef FOREVER
	away_forever();
#endif
	return arg;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(count == 2);
	return 0;
}
