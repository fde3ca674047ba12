/* A server with a pool of three threads and four clients of ten requests each; prints how many were answered. */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int port, answered;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static enum MHD_Result answer(void *cls, struct MHD_Connection *c, const char *url, const char *method,
			      const char *version, const char *data, size_t *len, void **state)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(5, "hello", MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result = MHD_queue_response(c, MHD_HTTP_OK, r);

	(void)cls, (void)url, (void)method, (void)version, (void)data, (void)len, (void)state;
	MHD_destroy_response(r);
	return result;
}

static void ask(void)
{
	static const char request[] = "GET / HTTP/1.0\r\n\r\n";
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char text[2000];
	size_t n = 0;
	ssize_t k;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		exit(1);
	if (write(fd, request, sizeof(request) - 1) < 0)
		exit(1);
	while (n < sizeof(text) - 1 && (k = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)k;
	text[n] = '\0';
	close(fd);
	pthread_mutex_lock(&mutex);
	answered += strstr(text, "hello") != NULL;
	pthread_mutex_unlock(&mutex);
}

static void *client(void *arg)
{
	for (int i = 0; i < 10; i++)
		ask();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[4];
	struct MHD_Daemon *d;

	port = argc > 1 ? atoi(argv[1]) : 8080;
	d = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, (uint16_t)port, NULL, NULL, answer, NULL,
			     MHD_OPTION_THREAD_POOL_SIZE, 3u, MHD_OPTION_END);
	if (!d)
		return 1;
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, client, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	MHD_stop_daemon(d);
	printf("%d answers\n", answered);
	return 0;
}
