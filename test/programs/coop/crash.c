/* Always crashes, in an access that mode order records: `victim` goes through a pointer that main has taken away. */
#include <pthread.h>
#include <stddef.h>

struct box {
	int value;
} box, *shared = &box;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static int victim(void)
{
	return shared->value++;
}

static void *thread(void *arg)
{
	int n = 0;

	for (int i = 0; i < 1000000; i++) {
		pthread_mutex_lock(&mutex);
		n += victim();
		pthread_mutex_unlock(&mutex);
	}
	return n ? arg : NULL;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, thread, &t);
	pthread_mutex_lock(&mutex);
	shared = NULL;
	pthread_mutex_unlock(&mutex);
	pthread_join(t, NULL);
	return 0;
}
