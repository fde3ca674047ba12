/* race-relock - a home-made turnstile. A thread that reads `closed` before it is opened goes to sleep, but
 * the opener has already looked for sleepers.   usage: main */
#include "../race.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static volatile int closed = 1;

static void *visitor(void *arg)
{
	(void)arg;
#ifdef FIXED
	pthread_mutex_lock(&lock);
	while (closed)
		pthread_cond_wait(&opened, &lock);
	pthread_mutex_unlock(&lock);
#else
	if (closed) { /* BUG:a */
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&opened, &lock);
		pthread_mutex_unlock(&lock);
	}
#endif
	return NULL;
}

static void *keeper(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	closed = 0; /* BUG:a */
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	return run(visitor, keeper);
}
