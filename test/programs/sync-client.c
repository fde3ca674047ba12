/* sync-client PORT REQUESTS [WORD] - keeps sync-server busy with two connections; then says WORD. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int connect_to(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((unsigned short)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 ? fd : -1;
}

int main(int argc, char **argv)
{
	int fd[2] = { connect_to(atoi(argv[1])), connect_to(atoi(argv[1])) };
	char text[64];

	if (fd[0] < 0 || fd[1] < 0)
		return 1;
	for (int i = 0; i < atoi(argv[2]); i++) {
		for (int k = 0; k < 2; k++) {
			int n = snprintf(text, sizeof(text), "inc key%d\n", (i + k) % 7);

			if (send(fd[k], text, (size_t)n, MSG_NOSIGNAL) != n)
				return 1;
		}
		for (int k = 0; k < 2; k++)
			if (recv(fd[k], text, sizeof(text), 0) <= 0)
				return 1;
	}
	if (argc > 3 && send(fd[0], argv[3], strlen(argv[3]), MSG_NOSIGNAL) > 0)
		recv(fd[0], text, sizeof(text), 0);
	return 0;
}
