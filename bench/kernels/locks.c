/* locks [ROUNDS] - worst case for synchronisation: nothing but locking, mostly without contention. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	pthread_mutex_t m;
	long count;
	char padding[64];
} slots[2] = { { .m = PTHREAD_MUTEX_INITIALIZER }, { .m = PTHREAD_MUTEX_INITIALIZER } };

static int rounds = 3000000;

static void *work(void *arg)
{
	long me = (long)arg;
	int n = rounds;

	for (int i = 0; i < n; i++) {
		int which = i % 64 == 0 ? 1 - me : me;

		pthread_mutex_lock(&slots[which].m);
		slots[which].count++;
		pthread_mutex_unlock(&slots[which].m);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[2];

	if (argc > 1)
		rounds = atoi(argv[1]);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", slots[0].count + slots[1].count);
}
