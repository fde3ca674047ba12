/* test/programs/talk-server.c - a server for talk.c, outside of what is hunted: answers every line with "3".
 * Its port is in the file `port`. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char line[64];

	while (read(fd, line, sizeof(line)) > 0)
		if (write(fd, "3\n", 2) != 2)
			break;
	close(fd);
	return NULL;
}

int main(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	pthread_t t;
	FILE *f;

	if (bind(listener, (struct sockaddr *)&a, n) || listen(listener, 64) ||
	    getsockname(listener, (struct sockaddr *)&a, &n))
		return 3;
	f = fopen("port.new", "w");
	fprintf(f, "%d\n", ntohs(a.sin_port));
	fclose(f);
	rename("port.new", "port");
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd >= 0 && pthread_create(&t, NULL, serve, (void *)(intptr_t)fd) == 0)
			pthread_detach(t);
	}
}
