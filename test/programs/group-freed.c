/* A group of work: the last to finish wakes the one that waits, which then frees the group. The
 * count goes down outside the lock, so the group may be freed while the last is about to lock it.
 * With -DCURED the count goes down under the lock. */
#include <pthread.h>
#include <stdlib.h>

struct group {
	pthread_mutex_t lock;
	pthread_cond_t done;
	int left;
	char rest[64];
};

static void finish(struct group *g)
{
#ifdef CURED
	pthread_mutex_lock(&g->lock);
	if (--g->left == 0)
		pthread_cond_signal(&g->done);
	pthread_mutex_unlock(&g->lock);
#else
	if (__atomic_sub_fetch(&g->left, 1, __ATOMIC_SEQ_CST) == 0) {
		pthread_mutex_lock(&g->lock);
		pthread_cond_signal(&g->done);
		pthread_mutex_unlock(&g->lock);
	}
#endif
}

static void *work(void *arg)
{
	finish(arg);
	return NULL;
}

int main(void)
{
	struct group *g = calloc(1, sizeof(*g));
	pthread_t t;

	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->done, NULL);
	g->left = 1;
	pthread_create(&t, NULL, work, g);
	pthread_mutex_lock(&g->lock);
	while (__atomic_load_n(&g->left, __ATOMIC_SEQ_CST))
		pthread_cond_wait(&g->done, &g->lock);
	pthread_mutex_unlock(&g->lock);
	free(g);
	pthread_join(t, NULL);
	return 0;
}
