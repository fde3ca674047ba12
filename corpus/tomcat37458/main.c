/* tomcat37458: two requests define the same class (see loader.c).
 *
 * The driver is a small servlet container: request threads take requests from a queue, load the servlet's class, run
 * it and write a line into the access log; a background thread looks for changed resources and expires sessions.
 *
 * usage: tomcat37458 [WORKERS [REQUESTS]] */
#include "loader.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORKERS 16
#define MAX_REQUESTS 256
#define SESSIONS 4

struct request {
	const char *servlet;
	int session;
};

static struct loader loader;

/* The queue of requests, filled before the workers start. */
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static struct request request[MAX_REQUESTS];
static int requests = 4, next_request;

static pthread_mutex_t session_lock = PTHREAD_MUTEX_INITIALIZER;
static int session_hits[SESSIONS];
static int sessions_expired;

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int log_lines;
static unsigned log_checksum;

static void accept_requests(void)
{
	static const char *const servlet[] = {"org.shop.Cart", "org.shop.Cart", "org.shop.Pay", "org.help.Index"};

	for (int i = 0; i < requests; i++) {
		request[i].servlet = servlet[i % 4];
		request[i].session = i % SESSIONS;
	}
}

static struct request *take_request(void)
{
	struct request *r = NULL;

	pthread_mutex_lock(&queue_lock);
	if (next_request < requests)
		r = &request[next_request++];
	pthread_mutex_unlock(&queue_lock);
	return r;
}

static void touch_session(int id)
{
	pthread_mutex_lock(&session_lock);
	session_hits[id]++;
	pthread_mutex_unlock(&session_lock);
}

static void write_log(const struct request *r, unsigned result)
{
	pthread_mutex_lock(&log_lock);
	log_lines++;
	log_checksum ^= result + (unsigned)strlen(r->servlet);
	pthread_mutex_unlock(&log_lock);
}

static void *worker(void *arg)
{
	struct request *r;

	while ((r = take_request())) {
		struct class *servlet = loader_load_class(&loader, r->servlet);

		assert(servlet && strcmp(servlet->name, r->servlet) == 0);
		touch_session(r->session);
		write_log(r, servlet->checksum);
	}
	return arg;
}

static void *background(void *arg)
{
	int reload = loader_is_modified(&loader);

	pthread_mutex_lock(&session_lock);
	for (int i = 0; i < SESSIONS; i++)
		sessions_expired += session_hits[i] == 0;
	pthread_mutex_unlock(&session_lock);
	return reload ? &loader : arg;
}

int main(int argc, char **argv)
{
	int workers = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t thread[MAX_WORKERS], expirer;

	requests = argc > 2 ? atoi(argv[2]) : requests;
	if (workers < 1 || workers > MAX_WORKERS || requests < 1 || requests > MAX_REQUESTS) {
		fprintf(stderr, "usage: tomcat37458 [WORKERS(1-%d) [REQUESTS(1-%d)]]\n", MAX_WORKERS, MAX_REQUESTS);
		return 2;
	}
	loader_init(&loader);
	accept_requests();
	for (int i = 0; i < workers; i++)
		pthread_create(&thread[i], NULL, worker, NULL);
	pthread_create(&expirer, NULL, background, NULL);
	for (int i = 0; i < workers; i++)
		pthread_join(thread[i], NULL);
	pthread_join(expirer, NULL);

	assert(log_lines == requests);
	printf("%d requests, %d classes in %d packages, %d lookups\n", log_lines, loader.defined, loader.packages,
	       loader.lookups);
	loader_deinit(&loader);
	return 0;
}
