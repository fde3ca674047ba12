/* What a thread does depends on how many milliseconds have passed: with virtual time, on how much
 * both have done. The lost update comes afterwards, so a replay must see the same time. */
#include <assert.h>
#include <pthread.h>
#include <time.h>

enum { WORK = 3000 };

static volatile int busy[2], extra;
static volatile int balance;

static long milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *work(void *arg)
{
	volatile int *mine = arg, *other = mine == &busy[0] ? &busy[1] : &busy[0];
	long begin = milliseconds();

	for (int i = 0; i < WORK; i++)
		*mine = *other + 1;
	for (long n = milliseconds() - begin; n > 0; n--)
		extra++;
	balance = balance + 1;
	return NULL;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, work, (void *)&busy[1]);
	work((void *)&busy[0]);
	pthread_join(t, NULL);
	assert(balance == 2);
	return 0;
}
