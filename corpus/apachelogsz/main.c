/* apachelogsz - a web server whose access log is buffered without a lock.
 *
 * A listener hands connections to worker threads through a queue; a worker parses the request,
 * looks the page up, counts the answer on the scoreboard and writes a line to the access log. The
 * log writer copies the line behind the last one and then moves the end of the buffer:
 * two workers that do so at once overwrite each other's lines or lose an end. When the server
 * stops, every line of the log is checked.
 * Cure: a lock around copy and move (log.c).
 *
 * request.c parsing and pages   queue.c connections   log.c the buffered log   main.c the server
 * usage: main [workers=4] [requests=16] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "httpd.h"

enum { MAX = 32 };

static struct server *srv;

static void serve(int worker, const char *connection)
{
	struct request r;
	char line[LINE];
	int n;

	request_parse(connection, &r);
	request_answer(&r);

	pthread_mutex_lock(&srv->board.lock);
	srv->board.served[worker]++;
	srv->board.bytes += r.length;
	if (r.status >= 400)
		srv->board.errors++;
	pthread_mutex_unlock(&srv->board.lock);

	n = snprintf(line, sizeof(line), "%s %s %d %d;\n", r.method, r.path, r.status, r.length);
	log_write(&srv->log, line, n);
}

static void *worker(void *arg)
{
	int id = *(int *)arg;
	const char *connection;

	while ((connection = queue_get(&srv->queue)))
		serve(id, connection);
	return NULL;
}

/* mod_status: reads the scoreboard properly. */
static void *status(void *arg)
{
	int i, k;

	(void)arg;
	for (i = 0; i < 3; i++) {
		long sum = 0;

		pthread_mutex_lock(&srv->board.lock);
		for (k = 0; k < WORKERS; k++)
			sum += srv->board.served[k];
		assert(srv->board.errors <= sum);
		pthread_mutex_unlock(&srv->board.lock);
	}
	return NULL;
}

/* Each line must be whole and there must be one per request. */
static void check_log(const char *log, int requests)
{
	char method[16], path[64], end;
	int status_code, length, lines = 0, used;
	const char *at = log;

	for (; *at; lines++, at += used) {
		int n = sscanf(at, "%15s %63s %d %d%c%n", method, path, &status_code, &length, &end, &used);

		assert(n == 5 && end == ';');
		assert(!strcmp(method, "GET") || !strcmp(method, "HEAD"));
		assert(at[used] == '\n');
		used++;
	}
	assert(lines == requests);
}

int main(int argc, char **argv)
{
	static const char *const clients[] = {
		"GET / HTTP/1.0", "GET /index.html HTTP/1.1", "HEAD /logo.png HTTP/1.0",
		"GET /missing HTTP/1.1", "GET /doc/a.html HTTP/1.0",
	};
	int i, workers = argc > 1 ? atoi(argv[1]) : 4, requests = argc > 2 ? atoi(argv[2]) : 16;
	pthread_t t[MAX], stat;
	int id[MAX];

	if (workers < 1 || workers > WORKERS || requests < 1 || requests > 10000)
		return 2;
	srv = calloc(1, sizeof(*srv));
	assert(srv);
	pthread_mutex_init(&srv->board.lock, NULL);
	queue_init(&srv->queue);
	log_init(&srv->log, (requests + 1) * LINE);
	for (i = 0; i < workers; i++) {
		id[i] = i;
		pthread_create(&t[i], NULL, worker, &id[i]);
	}
	pthread_create(&stat, NULL, status, NULL);
	for (i = 0; i < requests; i++)
		queue_put(&srv->queue, clients[i % 5]);
	queue_close(&srv->queue);
	for (i = 0; i < workers; i++)
		pthread_join(t[i], NULL);
	pthread_join(stat, NULL);
	log_flush(&srv->log);
	check_log(srv->log.file, requests);
	log_deinit(&srv->log);
	free(srv);
	return 0;
}
