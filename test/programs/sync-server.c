/* sync-server [SECONDS] - a small server in the manner of memcached: main accepts and hands connections to two
 * workers, each with an event loop; they keep counters under a lock. Writes its port to the file `port`.
 *   inc NAME -> the new value; crash -> it dies; quit */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 2, QUEUE = 64, NAMES = 64 };

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;
	int queue[QUEUE], first, last;
	int wake, epoll;
} workers[WORKERS];

static struct counter {
	char name[16];
	long value;
	time_t changed;
} counters[NAMES];
static pthread_mutex_t counters_lock = PTHREAD_MUTEX_INITIALIZER;
static struct counter *last_used;

static long increment(const char *name)
{
	struct counter *c = counters;
	long v;

	pthread_mutex_lock(&counters_lock);
	while (c->name[0] && strcmp(c->name, name) != 0 && c < &counters[NAMES - 1])
		c++;
	snprintf(c->name, sizeof(c->name), "%s", name);
	v = ++c->value;
	c->changed = time(NULL);
	last_used = c;
	pthread_mutex_unlock(&counters_lock);
	return v;
}

static void answer(int fd, char *line)
{
	char text[64], name[16] = "";

	if (sscanf(line, "inc %15s", name) == 1) {
		int n = snprintf(text, sizeof(text), "%ld\n", increment(name));

		if (send(fd, text, (size_t)n, 0) != n)
			exit(3);
	} else if (!strncmp(line, "crash", 5)) {
		last_used = (struct counter *)8;
		last_used->value++;
	} else {
		close(fd);
	}
}

static void *serve(void *arg)
{
	struct worker *w = arg;
	struct epoll_event e;
	char line[256];

	while (epoll_wait(w->epoll, &e, 1, -1) == 1) {
		if (e.data.ptr == w) {
			uint64_t n;
			int fd;

			if (read(w->wake, &n, sizeof(n)) < 0)
				exit(3);
			for (;;) {
				pthread_mutex_lock(&w->lock);
				fd = w->first == w->last ? -1 : w->queue[w->first++ % QUEUE];
				pthread_mutex_unlock(&w->lock);
				if (fd < 0)
					break;
				e = (struct epoll_event){ .events = EPOLLIN, .data.fd = fd };
				epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &e);
			}
		} else {
			ssize_t n = recv(e.data.fd, line, sizeof(line) - 1, 0);

			line[n > 0 ? n : 0] = 0;
			answer(e.data.fd, line);
		}
	}
	return NULL;
}

int main(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM, 0), fd;
	FILE *f;

	for (struct worker *w = workers; w < workers + WORKERS; w++) {
		struct epoll_event e = { .events = EPOLLIN, .data.ptr = w };

		pthread_mutex_init(&w->lock, NULL);
		w->wake = eventfd(0, 0);
		w->epoll = epoll_create1(0);
		epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->wake, &e);
		pthread_create(&w->thread, NULL, serve, w);
	}
	if (bind(s, (struct sockaddr *)&a, n) || listen(s, 16) || getsockname(s, (struct sockaddr *)&a, &n))
		exit(3);
	f = fopen("port.new", "w");
	fprintf(f, "%d\n", ntohs(a.sin_port));
	fclose(f);
	rename("port.new", "port");
	for (unsigned i = 0; (fd = accept(s, NULL, NULL)) >= 0; i++) {
		struct worker *w = &workers[i % WORKERS];
		uint64_t one = 1;

		pthread_mutex_lock(&w->lock);
		w->queue[w->last++ % QUEUE] = fd;
		pthread_mutex_unlock(&w->lock);
		if (write(w->wake, &one, sizeof(one)) != sizeof(one))
			exit(3);
	}
	return 0;
}
