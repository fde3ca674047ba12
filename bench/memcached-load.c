/* bench/memcached-load PORT REQUESTS CONNECTIONS - a client that keeps a memcached on this machine busy: each connection
 * alternates between storing and fetching values of 100 bytes, one request at a time. Waits for the server to come up. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
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
	int one = 1;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int tries = 0; tries < 100; tries++, usleep(100000)) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
			return fd;
		close(fd);
	}
	return -1;
}

/* Send, and read until the answer ends as it should. */
static int ask(int fd, const char *text, const char *end)
{
	char answer[512];
	size_t len = 0, want = strlen(end);
	ssize_t n;

	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return -1;
	while ((n = read(fd, answer + len, sizeof(answer) - len)) > 0) {
		len += (size_t)n;
		if (len >= want && memcmp(answer + len - want, end, want) == 0)
			return 0;
	}
	return -1;
}

static void *drive(void *arg)
{
	char value[101], text[256];
	int fd = connect_patiently();

	memset(value, 'v', 100);
	value[100] = 0;
	for (long i = 0; fd >= 0 && i < requests; i += 2) {
		long key = i * 7919 % 10007;

		snprintf(text, sizeof(text), "set %s%ld 0 0 100\r\n%s\r\n", (char *)arg, key, value);
		if (ask(fd, text, "STORED\r\n"))
			return "";
		snprintf(text, sizeof(text), "get %s%ld\r\n", (char *)arg, key);
		if (ask(fd, text, "END\r\n"))
			return "";
	}
	return fd < 0 ? "" : NULL;
}

int main(int argc, char **argv)
{
	static char *prefixes[] = { "a", "b", "c", "d" };
	int n = argc == 4 ? atoi(argv[3]) : 0, bad = 0;
	pthread_t t[4];
	void *result;

	if (n < 1 || n > 4)
		return 2;
	port = atoi(argv[1]);
	requests = atol(argv[2]) / n;
	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, drive, prefixes[i]);
	for (int i = 0; i < n; i++) {
		pthread_join(t[i], &result);
		bad |= result != NULL;
	}
	return bad;
}
