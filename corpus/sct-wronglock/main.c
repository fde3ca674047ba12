/* wronglock - the right idea, the wrong lock.
 *
 * One thread guards `value` with lock A, N others with lock B. Each increments the value
 * and checks that nobody else touched it meanwhile.
 * Cure: everybody takes lock A.   usage: main [lockers-of-B=7] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock_b = PTHREAD_MUTEX_INITIALIZER;
static volatile int value;

static void *with_a(void *arg)
{
	int before;

	(void)arg;
	pthread_mutex_lock(&lock_a);
	before = value; /* BUG:a */
	value = before + 1; /* BUG:b */
	assert(value == before + 1); /* BUG:c */
	pthread_mutex_unlock(&lock_a);
	return NULL;
}

static void *with_b(void *arg)
{
	int before;
#ifdef FIXED
	pthread_mutex_t *lock = &lock_a;
	(void)lock_b;
#else
	pthread_mutex_t *lock = &lock_b;
#endif
	(void)arg;
	pthread_mutex_lock(lock);
	before = value; /* BUG:a */
	value = before + 1; /* BUG:b */
	assert(value == before + 1); /* BUG:c */
	pthread_mutex_unlock(lock);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = (argc > 1 ? atoi(argv[1]) : 7) + 1;
	pthread_t *t;

	if (n < 2 || n > 1000)
		return 2;
	t = calloc(n, sizeof(*t));
	assert(t);
	for (i = 0; i < n; i++)
		pthread_create(&t[i], NULL, i == 0 ? with_a : with_b, NULL);
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
	return 0;
}
