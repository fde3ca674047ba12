/* test/programs/talk.c - two threads ask a server for a number, and lose updates.
 *
 *	talk PORT	the server is another process (talk-server.c)
 *	talk own	it is a thread of this one
 *	talk PORT stdio	answers are read by stdio
 *	talk PORT same	fails if both threads have the same descriptor, one after the other
 */
#include <arpa/inet.h>
#include <assert.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *port;
static int by_stdio, total, numbers[2];

static int dial(void)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *a;
	int fd, failed;

	assert(getaddrinfo("127.0.0.1", port, &hints, &a) == 0);
	fd = socket(a->ai_family, a->ai_socktype, 0);
	failed = connect(fd, a->ai_addr, a->ai_addrlen);
	freeaddrinfo(a);
	if (failed) {
		perror("connect");
		exit(9);
	}
	return fd;
}

/* One of the two threads waits by poll, the other by epoll. */
static void wait_for(int fd, int by_poll)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = &p };
	int epoll;

	if (by_poll) {
		assert(poll(&p, 1, -1) == 1 && p.revents & POLLIN);
		return;
	}
	epoll = epoll_create1(0);
	assert(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0);
	e.data.ptr = NULL;
	assert(epoll_wait(epoll, &e, 1, -1) == 1 && e.data.ptr == &p);
	close(epoll);
}

static int ask(int by_poll)
{
	char line[16] = "";
	int fd = numbers[by_poll] = dial();
	FILE *f = by_stdio ? fdopen(fd, "r") : NULL;

	assert(send(fd, "how many?\n", 10, 0) == 10);
	wait_for(fd, by_poll);
	if (f)
		assert(fgets(line, sizeof(line), f));
	else
		assert(recv(fd, line, sizeof(line), 0) == 2);
	if (f)
		fclose(f);
	else
		close(fd);
	return atoi(line);
}

static void *client(void *arg)
{
	for (int n = ask(arg != NULL); n > 0; n--) {
		int v = total;

		total = v + 1;
	}
	return NULL;
}

static void *serve(void *arg)
{
	int listener = *(int *)arg;
	char line[16];

	for (int i = 0; i < 2; i++) {
		int fd = accept(listener, NULL, NULL);

		assert(recv(fd, line, sizeof(line), 0) == 10);
		assert(send(fd, "3\n", 2, 0) == 2);
		close(fd);
	}
	return NULL;
}

static int begin_own_server(pthread_t *t)
{
	static int listener;
	static char text[8];
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);

	listener = socket(AF_INET, SOCK_STREAM, 0);
	assert(bind(listener, (struct sockaddr *)&a, n) == 0 && listen(listener, 4) == 0);
	getsockname(listener, (struct sockaddr *)&a, &n);
	snprintf(text, sizeof(text), "%d", ntohs(a.sin_port));
	port = text;
	return pthread_create(t, NULL, serve, &listener);
}

int main(int argc, char **argv)
{
	pthread_t a, b, own;
	int is_own = strcmp(argv[1], "own") == 0;

	port = argv[1];
	by_stdio = argc > 2 && strcmp(argv[2], "stdio") == 0;
	if (is_own)
		assert(begin_own_server(&own) == 0);
	pthread_create(&a, NULL, client, NULL);
	pthread_create(&b, NULL, client, &b);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	if (is_own)
		pthread_join(own, NULL);
	if (argc > 2 && strcmp(argv[2], "same") == 0)
		assert(numbers[0] != numbers[1]);
	else
		assert(total == 6);
	return 0;
}
