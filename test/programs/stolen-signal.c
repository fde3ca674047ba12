#include <pthread.h>
/* two kinds of waiters on one condition variable, woken one at a time */
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int turn;
static void *wait_for(void *arg)
{
	pthread_mutex_lock(&m);
	while (turn != (int)(long)arg)
		pthread_cond_wait(&c, &m);
	turn++;
	pthread_cond_signal(&c); /* BUG: the other one may still wait for an earlier turn */
	pthread_mutex_unlock(&m);
	return NULL;
}
int main(void)
{
	pthread_t t[3];
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, wait_for, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
