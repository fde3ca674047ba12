/* A small pool of workers: jobs are heap blocks in a list under a lock. Closing the pool is noticed before the list is
 * looked at, so that a job which came shortly before is left behind. With -DFIXED the list is looked at first. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
	struct job *next;
	int amount;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct job *head, **tail;
	int closed, total;
};

static struct job *next_job(struct pool *p)
{
	struct job *j = NULL;

	pthread_mutex_lock(&p->lock);
	while (!p->head && !p->closed)
		pthread_cond_wait(&p->work, &p->lock);
#ifdef FIXED
	if (p->head) {
#else
	if (!p->closed) {
#endif
		j = p->head;
		p->head = j->next;
		if (!p->head)
			p->tail = &p->head;
	}
	pthread_mutex_unlock(&p->lock);
	return j;
}

static void *worker(void *arg)
{
	struct pool *p = arg;
	struct job *j;

	while ((j = next_job(p))) {
		pthread_mutex_lock(&p->lock);
		p->total += j->amount;
		pthread_mutex_unlock(&p->lock);
		free(j);
	}
	return NULL;
}

static void submit(struct pool *p, int amount)
{
	struct job *j = malloc(sizeof(*j));

	*j = (struct job){ NULL, amount };
	pthread_mutex_lock(&p->lock);
	*p->tail = j;
	p->tail = &j->next;
	pthread_cond_signal(&p->work);
	pthread_mutex_unlock(&p->lock);
}

int main(void)
{
	struct pool *p = calloc(1, sizeof(*p));
	pthread_t t[2];
	int total;

	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	p->tail = &p->head;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, worker, p);
	submit(p, 3);
	submit(p, 4);
	usleep(20000); /* its owner is busy elsewhere: plain runs almost always pass */
	pthread_mutex_lock(&p->lock);
	p->closed = 1;
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->lock);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	total = p->total;
	while (p->head) {
		struct job *j = p->head;

		p->head = j->next;
		free(j);
	}
	free(p);
	if (total != 7) {
		fprintf(stderr, "lost work: %d of 7\n", total);
		return 1;
	}
	return 0;
}
