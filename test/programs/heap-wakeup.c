/* A pool on the heap is shut down without the lock under which its thread looks whether it is. */
#include <pthread.h>
#include <stdlib.h>

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t work;
	int shutdown;
};

static void *work(void *opaque)
{
	struct pool *p = opaque;

	pthread_mutex_lock(&p->lock);
	while (!p->shutdown)
		pthread_cond_wait(&p->work, &p->lock);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

int main(void)
{
	struct pool *p = calloc(1, sizeof(*p));
	pthread_t t;

	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	pthread_create(&t, NULL, work, p);
	p->shutdown = 1; /* the change */
	pthread_cond_broadcast(&p->work);
	pthread_join(t, NULL);
	free(p);
	return 0;
}
