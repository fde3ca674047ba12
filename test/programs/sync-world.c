/* Asks the world for all kinds of things: time, chance, identity, a pipe between threads, a file, a device,
 * sockets. Prints what it got. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char message[100];

static void *reader(void *unused)
{
	char b[10];
	ssize_t n;

	(void)unused;
	while ((n = read(ends[0], b, 3)) > 0) {
		pthread_mutex_lock(&lock);
		strncat(message, b, (size_t)n);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void through_a_pipe(void)
{
	pthread_t t[2];

	if (pipe(ends))
		exit(3);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, reader, NULL);
	for (int i = 0; i < 20; i++) {
		char b = (char)('a' + i);

		if (write(ends[1], &b, 1) != 1)
			exit(3);
		if (i % 4 == 0)
			usleep(100);
	}
	close(ends[1]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("message %s\n", message);
}

/* A client in the same process; what epoll says comes as a pointer. */
static void through_a_socket(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0), e, got;
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &lock };
	char word[16] = "";

	if (bind(s, (struct sockaddr *)&a, n) || listen(s, 5) || getsockname(s, (struct sockaddr *)&a, &n))
		exit(3);
	if (connect(c, (struct sockaddr *)&a, n))
		exit(3);
	e = epoll_create1(0);
	epoll_ctl(e, EPOLL_CTL_ADD, s, &event);
	got = epoll_wait(e, &event, 1, -1);
	printf("port %d, %d event, its pointer is %s\n", ntohs(a.sin_port), got,
	       event.data.ptr == &lock ? "right" : "wrong");
	got = accept(s, NULL, NULL);
	if (send(c, "hello", 5, 0) != 5 || recv(got, word, sizeof(word), 0) != 5)
		exit(3);
	printf("%d said %s\n", got, word);
}

int main(void)
{
	struct timespec ts;
	unsigned chance, more;
	char text[100];
	int f;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (getrandom(&chance, sizeof(chance), 0) < 0)
		exit(3);
	printf("%ld.%09ld %u %d\n", (long)ts.tv_sec, ts.tv_nsec, chance, (int)getpid());
	through_a_pipe();
	f = open("data.txt", O_RDONLY);
	text[read(f, text, sizeof(text) - 1)] = 0;
	close(f);
	f = open("/dev/urandom", O_RDONLY);
	if (read(f, &more, sizeof(more)) < 0)
		exit(3);
	printf("%s%u\n", text, more);
	through_a_socket();
	return 0;
}
