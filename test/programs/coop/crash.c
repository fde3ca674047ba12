/* Always crashes, in an access that mode order records: `victim` goes through a pointer that main has taken away.
 * Main does that after as many rounds on a busy machine as on an idle one. */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

struct box {
	int value;
} box, *shared = &box;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
sem_t used, taken;

__attribute__((noinline)) static int victim(void)
{
	return shared->value++;
}

static void *thread(void *arg)
{
	int n = 0;

	for (int i = 0; i < 1000; i++) {
		if (i == 100) {
			sem_post(&used);
			sem_wait(&taken);
		}
		pthread_mutex_lock(&mutex);
		n += victim();
		pthread_mutex_unlock(&mutex);
	}
	return n ? arg : NULL;
}

int main(void)
{
	pthread_t t;

	sem_init(&used, 0, 0);
	sem_init(&taken, 0, 0);
	pthread_create(&t, NULL, thread, &t);
	sem_wait(&used);
	pthread_mutex_lock(&mutex);
	shared = NULL;
	pthread_mutex_unlock(&mutex);
	sem_post(&taken);
	pthread_join(t, NULL);
	return 0;
}
