/* Two threads take a and b in both orders, but only one at a time: `gate` is held around it. They wait for each other's
 * locks all the time and never for ever. Runs until it is killed; with an argument, that many rounds, and then both
 * threads stay alive, waiting. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;
static long rounds;

static void both(pthread_mutex_t *x, pthread_mutex_t *y)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_lock(x);
	pthread_mutex_lock(y);
	pthread_mutex_unlock(&gate);
	pthread_mutex_unlock(y);
	pthread_mutex_unlock(x);
}

static void *work(void *p)
{
	for (long i = 0; !rounds || i < rounds; i++)
		p ? both(&a, &b) : both(&b, &a);
	for (;;)
		pause();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t, u;
	rounds = argc > 1 ? atol(argv[1]) : 0;
	pthread_create(&t, NULL, work, &a);
	pthread_create(&u, NULL, work, NULL);
	pthread_join(t, NULL);
	return 0;
}
