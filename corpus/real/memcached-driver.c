/* corpus/real/memcached-driver.c - memcached with its clients in the same process.
 *
 *	memcached-driven CLIENTS REQUESTS
 *
 * A server that waits for somebody outside cannot be under control: when the request comes is not ours to decide. Here each client is
 * a thread, over a socket in the file system; the server is memcached as it is, its main under another name. Every client
 * stores and fetches in turn, and looks at the answers. The last one ends the server the way an administrator does. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int memcached_main(int argc, char **argv);

static char path[64];
static int clients, requests;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int finished;

static int connect_patiently(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	for (;; usleep(1000)) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
			return fd;
		close(fd);
	}
}

static void ask(int fd, const char *text, const char *wanted)
{
	char answer[512];
	size_t len = 0, want = strlen(wanted);
	ssize_t n;

	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	while (len < want && (n = read(fd, answer + len, sizeof(answer) - len)) > 0)
		len += (size_t)n;
	if (len != want || memcmp(answer, wanted, want)) {
		fprintf(stderr, "wanted %s, got %.*s\n", wanted, (int)len, answer);
		abort();
	}
}

static void *client(void *name)
{
	char text[256], answer[256];
	int fd = connect_patiently();

	for (int i = 0; i < requests; i++) {
		int key = i / 2 * 7919 % 10007;

		if (i % 2 == 0) {
			snprintf(text, sizeof(text), "set %s%d 0 0 9\r\n%s%08d\r\n", (char *)name, key, (char *)name, key);
			ask(fd, text, "STORED\r\n");
		} else {
			snprintf(text, sizeof(text), "get %s%d\r\n", (char *)name, key);
			snprintf(answer, sizeof(answer), "VALUE %s%d 0 9\r\n%s%08d\r\nEND\r\n", (char *)name, key, (char *)name, key);
			ask(fd, text, answer);
		}
	}
	close(fd);
	pthread_mutex_lock(&mutex);
	if (++finished == clients)
		kill(getpid(), SIGINT);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(int argc, char **argv)
{
	static char *names[] = { "a", "b", "c", "d" };
	char *args[] = { argv[0], "-u", "root", "-t", "4", "-s", path, NULL };
	pthread_t t;

	clients = argc == 3 ? atoi(argv[1]) : 0;
	requests = argc == 3 ? atoi(argv[2]) : 0;
	if (clients < 1 || clients > 4 || requests < 1) {
		fprintf(stderr, "usage: %s CLIENTS REQUESTS (1 to 4 clients)\n", argv[0]);
		return 2;
	}
	snprintf(path, sizeof(path), "/tmp/memcached-driven.%d", (int)getpid());
	for (int i = 0; i < clients; i++)
		if (pthread_create(&t, NULL, client, names[i]) || pthread_detach(t))
			return 3;
	return memcached_main(7, args);
}
