/* deadlock01 - the smallest deadlock: two threads take two locks in opposite orders.
 * Cure: one order.   usage: main */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *forward(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&first); /* BUG:a */
	pthread_mutex_lock(&second); /* BUG:b */
	counter++;
	pthread_mutex_unlock(&second);
	pthread_mutex_unlock(&first);
	return NULL;
}

static void *backward(void *arg)
{
	(void)arg;
#ifdef FIXED
	pthread_mutex_lock(&first);
	pthread_mutex_lock(&second);
#else
	pthread_mutex_lock(&second); /* BUG:a */
	pthread_mutex_lock(&first); /* BUG:b */
#endif
	counter--;
	pthread_mutex_unlock(&first);
	pthread_mutex_unlock(&second);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, forward, NULL);
	pthread_create(&b, NULL, backward, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
