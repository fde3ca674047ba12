/* A lazily set mark: who finds it unset takes some steps more. What is printed, and by whom, does not
 * depend on it: k-witness harmless. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int marked, steps[8];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void mark(void)
{
	if (!marked) {
		marked = 1;
		for (int i = 0; i < 8; i++)
			__atomic_store_n(&steps[i], 1, __ATOMIC_RELAXED);
	}
}
static void *worker(void *name)
{
	for (int i = 0; i < 3; i++) {
		mark();
		fputs(name, stdout);
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		fputc('0' + i, stdout);
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, worker, "a");
	pthread_create(&b, NULL, worker, "b");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	putchar('\n');
	return 0;
}
