#!/usr/bin/env bash
# A thread of the shipped binary waits in a loop for a plain variable. In an order of ours nobody interrupts it: such runs are
# given up early, and there is time for the order that leads to the dump.
# level: check
. "$(dirname "$0")/lib.sh"
. "$top/test/e2e/dumps.sh"

cat >pool.c <<'C'
#include <pthread.h>
#include <semaphore.h>
enum { WORKERS = 2 };
static struct pool {
	pthread_mutex_t queue, count;
	sem_t jobs;
	volatile int alive, working, queued, done;
} pool = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static void *worker(void *arg)
{
	struct pool *p = arg;

	pthread_mutex_lock(&p->count);
	p->alive++;
	pthread_mutex_unlock(&p->count);
	sem_wait(&p->jobs);
	pthread_mutex_lock(&p->queue);
	if (p->queued) {
		pthread_mutex_lock(&p->count);
		p->working++;
		pthread_mutex_unlock(&p->count);
		p->queued--;
	}
	pthread_mutex_unlock(&p->queue);
	pthread_mutex_lock(&p->count);
	p->done++;
	pthread_mutex_unlock(&p->count);
	return NULL;
}
static int queue_length(struct pool *p)
{
	int n;

	pthread_mutex_lock(&p->queue);
	n = p->queued;
	pthread_mutex_unlock(&p->queue);
	return n;
}
static void add(struct pool *p)
{
	pthread_mutex_lock(&p->queue);
	p->queued++;
	sem_post(&p->jobs);
	pthread_mutex_unlock(&p->queue);
}
static int idle(struct pool *p)
{
	int left;

	pthread_mutex_lock(&p->count);
	left = queue_length(p) + p->working;
	pthread_mutex_unlock(&p->count);
	return left;
}
int main(void)
{
	pthread_t t[WORKERS];

	sem_init(&pool.jobs, 0, 0);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&t[i], NULL, worker, &pool);
	while (pool.alive != WORKERS)
		;
	for (int i = 0; i < WORKERS; i++)
		add(&pool);
	idle(&pool);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(t[i], NULL);
	return pool.done != WORKERS;
}
C
slow_locks
gcc -O2 -g -pthread -o shipped pool.c
stuck_dump_of pool.core ./shipped </dev/null
run 0 unplait cc -O0 -g -pthread -o pool pool.c
run 1 unplait synth -o pool.plait pool.core ./pool
has out "confirmed in the unplait build and in the shipped binary"
finish
