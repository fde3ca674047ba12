/* A server that counts hits without a lock. Which of its races matter? */
#include <pthread.h>
#include <stdio.h>

static int hits, last_seen, ready, config;

static void *serve(void *who)
{
	hits++;
	last_seen = 1;
	return who;
}

static void *setup(void *unused)
{
	config = 42;
	__atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
	return unused;
}

int main(void)
{
	pthread_t a, b, c;

	pthread_create(&c, NULL, setup, NULL);
	pthread_create(&a, NULL, serve, NULL);
	pthread_create(&b, NULL, serve, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
		config++;
	pthread_join(c, NULL);
	printf("%d hits\n", hits);
	return 0;
}
