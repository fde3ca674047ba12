/* deadlock: two threads take two locks in opposite orders.
 *
 * usage: deadlock [ROUNDS] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static int left_uses, right_uses;
static int rounds = 1;

static void *left_first(void *arg)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&left); /* BUG:a */
		left_uses++;
		pthread_mutex_lock(&right); /* BUG:c */
		right_uses++;
		pthread_mutex_unlock(&right);
		pthread_mutex_unlock(&left);
	}
	return arg;
}

static void *right_first(void *arg)
{
	for (int i = 0; i < rounds; i++) {
#ifdef FIXED
		pthread_mutex_lock(&left);
		pthread_mutex_lock(&right);
		right_uses++;
		left_uses++;
		pthread_mutex_unlock(&right);
		pthread_mutex_unlock(&left);
#else
		pthread_mutex_lock(&right); /* BUG:b */
		right_uses++;
		pthread_mutex_lock(&left); /* BUG:d */
		left_uses++;
		pthread_mutex_unlock(&left);
		pthread_mutex_unlock(&right);
#endif
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t1, t2;

	rounds = argc > 1 ? atoi(argv[1]) : rounds;
	pthread_create(&t1, NULL, left_first, NULL);
	pthread_create(&t2, NULL, right_first, NULL);
	pthread_join(t1, NULL);
	pthread_join(t2, NULL);
	assert(left_uses == 2 * rounds && right_uses == 2 * rounds);
	return 0;
}
