/* radbench6 - a monitor built on a mutex and per-thread condition variables.
 *
 * wait(): check for pending notifications, put yourself into the queue, sleep. notify(): wake the
 * first in the queue, if any. Checking and queueing are two critical sections: a
 * notification in between finds an empty queue and is forgotten.
 * Cure: check and queue in one section.   usage: main */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct waiter {
	struct waiter *next;
	pthread_cond_t wake;
	int woken;
};

struct monitor {
	pthread_mutex_t lock;
	struct waiter *queue;
	int condition;
};

static struct monitor *mon;

static void monitor_wait(void)
{
	struct waiter *w = calloc(1, sizeof(*w));
	int must_wait;

	assert(w);
	pthread_cond_init(&w->wake, NULL);
	pthread_mutex_lock(&mon->lock);
	must_wait = !mon->condition; /* BUG:a */
#ifndef FIXED
	pthread_mutex_unlock(&mon->lock);
	pthread_mutex_lock(&mon->lock);
#endif
	if (must_wait) {
		w->next = mon->queue;
		mon->queue = w; /* BUG:c */
		while (!w->woken)
			pthread_cond_wait(&w->wake, &mon->lock);
	}
	pthread_mutex_unlock(&mon->lock);
	free(w);
}

static void monitor_notify(void)
{
	struct waiter *w;

	pthread_mutex_lock(&mon->lock);
	mon->condition = 1;
	w = mon->queue; /* BUG:b */
	if (w) {
		mon->queue = w->next;
		w->woken = 1;
		pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&mon->lock);
}

static void *waits(void *arg)
{
	(void)arg;
	monitor_wait();
	return NULL;
}

static void *notifies(void *arg)
{
	(void)arg;
	monitor_notify();
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	mon = calloc(1, sizeof(*mon));
	assert(mon);
	pthread_mutex_init(&mon->lock, NULL);
	pthread_create(&a, NULL, waits, NULL);
	pthread_create(&b, NULL, notifies, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	free(mon);
	return 0;
}
