/* A thread that goes on as long as it can has main's section first, and the lock orders the accesses.
 * The other way round both can be next at once: a prediction that keeps sections in their order does
 * not have it. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x, seen;

static void *reader(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	seen = x;
	return arg;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, reader, NULL);
	pthread_mutex_lock(&lock);
	x = 1;
	pthread_mutex_unlock(&lock);
	pthread_join(t, NULL);
	printf("%d\n", seen);
	return 0;
}
