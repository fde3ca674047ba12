/* The thread uses what main sets only after a sleep: who keeps to the clock sees the use alone. With an
 * argument main fails in any case. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int *volatile number; /* else the optimiser knows its only value */

static void *user(void *arg)
{
	(void)arg;
	return (void *)(long)*number;
}

int main(int argc, char **argv)
{
	static int one = 1;
	pthread_t t;

	(void)argv;
	pthread_create(&t, NULL, user, NULL);
	if (argc > 1)
		abort();
	sleep(1);
	number = &one;
	pthread_join(t, NULL);
	return 0;
}
