/* bluetooth_driver - a driver's start/stop protocol by reference count.
 *
 * A request first looks at `stopping`, then takes a reference; the stop routine sets
 * `stopping`, drops the initial reference and waits for the count to reach zero. Between the look
 * and the reference the driver can stop completely.
 * Cure: look and reference are one step.   usage: main [requesters=1] */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct device {
	pthread_mutex_t lock;
	pthread_cond_t idle;
	int pending_io;
	bool stopping, stopped;
};

static void io_drop(struct device *dev)
{
	pthread_mutex_lock(&dev->lock);
	if (--dev->pending_io == 0)
		pthread_cond_broadcast(&dev->idle);
	pthread_mutex_unlock(&dev->lock);
}

static bool io_take(struct device *dev)
{
	bool refused;

	pthread_mutex_lock(&dev->lock);
	refused = dev->stopping; /* BUG:a */
#ifndef FIXED
	pthread_mutex_unlock(&dev->lock);
	if (refused)
		return false;
	pthread_mutex_lock(&dev->lock);
#endif
	if (!refused)
		dev->pending_io++; /* BUG:c */
	pthread_mutex_unlock(&dev->lock);
	return !refused;
}

static void *request(void *arg)
{
	struct device *dev = arg;

	if (!io_take(dev))
		return NULL;
	pthread_mutex_lock(&dev->lock);
	assert(!dev->stopped); /* BUG:d */
	pthread_mutex_unlock(&dev->lock);
	io_drop(dev);
	return NULL;
}

static void *stop(void *arg)
{
	struct device *dev = arg;

	pthread_mutex_lock(&dev->lock);
	dev->stopping = true;
	pthread_mutex_unlock(&dev->lock);
	io_drop(dev);
	pthread_mutex_lock(&dev->lock);
	while (dev->pending_io > 0)
		pthread_cond_wait(&dev->idle, &dev->lock);
	dev->stopped = true; /* BUG:b */
	pthread_mutex_unlock(&dev->lock);
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 1;
	struct device *dev = calloc(1, sizeof(*dev));
	pthread_t *t;

	if (n < 1 || n > 1000 || !dev)
		return 2;
	t = calloc(n + 1, sizeof(*t));
	assert(t);
	pthread_mutex_init(&dev->lock, NULL);
	pthread_cond_init(&dev->idle, NULL);
	dev->pending_io = 1;
	pthread_create(&t[n], NULL, stop, dev);
	for (i = 0; i < n; i++)
		pthread_create(&t[i], NULL, request, dev);
	for (i = 0; i <= n; i++)
		pthread_join(t[i], NULL);
	free(t);
	free(dev);
	return 0;
}
