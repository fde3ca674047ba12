/* bench/http-load PORT REQUESTS CONNECTIONS - a client that keeps a web server on this machine busy: each connection fetches
 * / again and again, one request at a time, and opens anew when the server closes. Waits for the server to come up. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int port;
static long requests;

static int connect_patiently(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((unsigned short)port) };

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < 500; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
			return fd;
		close(fd);
		usleep(20000);
	}
	exit(3);
}

/* One answer: its head, then as many bytes as the head says. False: the server has closed. */
static int fetch(int fd)
{
	static const char ask[] = "GET / HTTP/1.1\r\nHost: here\r\n\r\n";
	char answer[65536];
	size_t have = 0, want = sizeof(answer) - 1;

	if (write(fd, ask, sizeof(ask) - 1) < 0)
		return 0;
	while (have < want) {
		ssize_t n = read(fd, answer + have, want - have);
		char *body, *length;

		if (n <= 0)
			return 0;
		have += (size_t)n;
		answer[have] = 0;
		body = strstr(answer, "\r\n\r\n");
		length = strstr(answer, "Content-Length: ");
		if (body && length)
			want = (size_t)(body + 4 - answer) + strtoul(length + 16, NULL, 10);
	}
	return 1;
}

static void *client(void *arg)
{
	int fd = connect_patiently();

	(void)arg;
	for (long i = 0; i < requests; i++)
		if (!fetch(fd)) {
			close(fd);
			fd = connect_patiently();
		}
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 3 ? atoi(argv[3]) : 0;
	pthread_t t[64];

	if (n < 1 || n > 64)
		return 2;
	port = atoi(argv[1]);
	requests = atol(argv[2]) / n;
	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, client, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}
