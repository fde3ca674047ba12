/* Small programs whose plain runs mostly pass; -DWHAT=... picks one, -DFIXED cures it.
 * FREED: a reader keeps a pointer that the owner gives back; nothing crashes.
 * JOIN: main waits for a thread's end with the lock in hand that the thread needs.
 * CHAIN: the same, but the one that needs the lock is waited for by the one that main waits for.
 * SEMAPHORES: two semaphores as locks, taken in both orders.
 * DESTROYED: a lock is destroyed while a thread may still be about to take it.
 * RACE: data is read without a lock, behind a lock that orders most runs; no failure. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

#define FREED 1
#define JOIN 2
#define CHAIN 3
#define SEMAPHORES 4
#define DESTROYED 5
#define RACE 6

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n;

#if WHAT == FREED
static int *item;

static void *worker(void *arg)
{
	int *p;

	(void)arg;
	pthread_mutex_lock(&lock);
	p = item;
#ifdef FIXED
	n = p ? *p : 0;
	pthread_mutex_unlock(&lock);
#else
	pthread_mutex_unlock(&lock);
	n = p ? *p : 0;
#endif
	return NULL;
}

int main(void)
{
	pthread_t t;
	int *p;

	item = malloc(sizeof(*item));
	*item = 3;
	pthread_create(&t, NULL, worker, NULL);
	pthread_mutex_lock(&lock);
	p = item;
	item = NULL;
	pthread_mutex_unlock(&lock);
	free(p);
	pthread_join(t, NULL);
	return 0;
}

#elif WHAT == JOIN || WHAT == CHAIN

static void *worker(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	n++;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *starter(void *arg)
{
	pthread_t t;

	pthread_create(&t, NULL, worker, arg);
	pthread_join(t, NULL);
	return NULL;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, WHAT == CHAIN ? starter : worker, NULL);
#ifdef FIXED
	pthread_join(t, NULL);
#else
	usleep(20000); /* most runs pass */
#endif
	pthread_mutex_lock(&lock);
	n++;
#ifndef FIXED
	pthread_join(t, NULL);
#endif
	pthread_mutex_unlock(&lock);
	return 0;
}

#elif WHAT == SEMAPHORES
static sem_t a, b;

static void *worker(void *arg)
{
	(void)arg;
#ifdef FIXED
	sem_wait(&a);
	sem_wait(&b);
#else
	sem_wait(&b);
	sem_wait(&a);
#endif
	n++;
	sem_post(&a);
	sem_post(&b);
	return NULL;
}

int main(void)
{
	pthread_t t;

	sem_init(&a, 0, 1);
	sem_init(&b, 0, 1);
	pthread_create(&t, NULL, worker, NULL);
	sem_wait(&a);
	sem_wait(&b);
	n++;
	sem_post(&b);
	sem_post(&a);
	pthread_join(t, NULL);
	return 0;
}

#elif WHAT == DESTROYED
static pthread_mutex_t own;

static void *worker(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&own);
	n++;
	pthread_mutex_unlock(&own);
	return NULL;
}

int main(void)
{
	pthread_t t;

	pthread_mutex_init(&own, NULL);
	pthread_create(&t, NULL, worker, NULL);
#ifdef FIXED
	pthread_join(t, NULL);
	pthread_mutex_destroy(&own);
#else
	pthread_mutex_lock(&own);
	n++;
	pthread_mutex_unlock(&own);
	pthread_mutex_destroy(&own);
	pthread_join(t, NULL);
#endif
	return 0;
}

#else
static int ready, seen;

static void *worker(void *arg)
{
	(void)arg;
	n = 5;
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t t;
	int is;

	pthread_create(&t, NULL, worker, NULL);
	pthread_mutex_lock(&lock);
	is = ready;
	pthread_mutex_unlock(&lock);
#ifdef FIXED
	seen = is ? n : 0;
#else
	seen = is + n;
#endif
	pthread_join(t, NULL);
	return 0;
}
#endif
