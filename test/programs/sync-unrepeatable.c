/* Which lock it takes depends on the processor's clock, which no recording has: its replay must say where it goes
 * another way. */
#include <pthread.h>
#include <stdio.h>
#include <x86intrin.h>

enum { LOCKS = 64, ROUNDS = 6 };

static pthread_mutex_t before = PTHREAD_MUTEX_INITIALIZER, locks[LOCKS];

int main(void)
{
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&locks[i], NULL);
	pthread_mutex_lock(&before);
	pthread_mutex_unlock(&before);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_t *m = &locks[(__rdtsc() * 0x9e3779b97f4a7c15ull >> 32) % LOCKS];

		pthread_mutex_lock(m);
		pthread_mutex_unlock(m);
	}
	return 0;
}
