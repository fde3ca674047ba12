/* Its locks depend on the processor's clock, which no recording has, and its threads race: the search of its replay fails
 * and sees the race. */
#include <pthread.h>
#include <x86intrin.h>

enum { LOCKS = 64, ROUNDS = 6 };

static pthread_mutex_t locks[LOCKS];
static int counter;

static void *run(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_t *m = &locks[(__rdtsc() * 0x9e3779b97f4a7c15ull >> 32) % LOCKS];

		counter++; /* racing */
		pthread_mutex_lock(m);
		pthread_mutex_unlock(m);
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&locks[i], NULL);
	pthread_create(&t, NULL, run, NULL);
	run(NULL);
	pthread_join(t, NULL);
	return 0;
}
