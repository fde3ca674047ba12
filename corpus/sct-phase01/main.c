/* phase01 - two phases, each with its own lock order, and nothing that keeps the phases apart.
 *
 * In phase one both locks are taken x-y, in phase two y-x. That would be fine if everybody
 * were in the same phase; a thread that is ahead meets one that is behind.
 * Cure: x-y in both.   usage: main */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t x = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t y = PTHREAD_MUTEX_INITIALIZER;
static int work;

static void phase_one(void)
{
	pthread_mutex_lock(&x); /* BUG:a */
	pthread_mutex_lock(&y); /* BUG:b */
	work++;
	pthread_mutex_unlock(&y);
	pthread_mutex_unlock(&x);
}

static void phase_two(void)
{
#ifdef FIXED
	pthread_mutex_lock(&x);
	pthread_mutex_lock(&y);
#else
	pthread_mutex_lock(&y); /* BUG:a */
	pthread_mutex_lock(&x); /* BUG:b */
#endif
	work--;
	pthread_mutex_unlock(&x);
	pthread_mutex_unlock(&y);
}

static void *worker(void *arg)
{
	(void)arg;
	phase_one();
	phase_two();
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
