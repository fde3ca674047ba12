/* The mark is set by whoever comes first, and makes no difference; the counter loses updates. */
#include <pthread.h>
#include <stdio.h>
static int marked, steps[8], counter;
static void mark(void)
{
	if (!marked) {
		marked = 1;
		for (int i = 0; i < 8; i++)
			__atomic_store_n(&steps[i], 1, __ATOMIC_RELAXED);
	}
}
static void *worker(void *arg)
{
	mark();
	for (int i = 0; i < 4; i++)
		counter++;
	return arg;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", counter);
	return 0;
}
