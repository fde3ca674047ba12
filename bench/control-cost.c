/* control-cost MODE N - what the control engine's steps cost: see bench/03-control.
 *	access  N stores while another thread is alive
 *	hand    N times there and back between two threads, by semaphores: 2N switches */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

static volatile long cell[64];
static sem_t ping, pong, done;
static long n;

static void *other(void *arg)
{
	(void)arg;
	sem_wait(&done);
	return (void *)cell[0]; /* so that it is shared */
}

static void *echo(void *arg)
{
	(void)arg;
	for (long i = 0; i < n; i++) {
		sem_wait(&ping);
		sem_post(&pong);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc < 3)
		return 2;
	n = atol(argv[2]);
	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&t, NULL, strcmp(argv[1], "hand") ? other : echo, NULL);
	if (strcmp(argv[1], "hand") == 0) {
		for (long i = 0; i < n; i++) {
			sem_post(&ping);
			sem_wait(&pong);
		}
	} else {
		for (long i = 0; i < n; i++)
			cell[i % 64] = i;
	}
	sem_post(&done);
	pthread_join(t, NULL);
	return 0;
}
