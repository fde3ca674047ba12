/* bench/watch/load.c - what the watch library costs a memcached, as a ratio within one run.
 *
 * One server, in which a byte of a shared file sends mutex calls through the library (B) or straight to libc (A), see
 * toggle.c. Blocks of requests go to it (A B B A) over loopback, over several connections, fifteen gets to one set.
 * A block's cost is the CPU time of the server process, so the client and the rest of the machine do not count; wall
 * time is shown beside it.
 * usage: load PORT PID FLAG_FILE SECONDS REQUESTS_PER_PACKET
 * prints: CPU per cent over plain, 95 % interval, wall per cent, interval, pairs, requests per second (watched),
 *         microseconds of CPU per request (plain) */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 8, MAX_PIPELINE = 64, KEYS = 1000 };
static int pipeline, rounds;

struct server {
	int fd[CONNECTIONS];
	clockid_t clock;
};

static double now(clockid_t c)
{
	struct timespec ts;
	clock_gettime(c, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void die(const char *what)
{
	perror(what);
	exit(3);
}

static void server_connect(struct server *s, int port, int pid)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int one = 1;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < CONNECTIONS; i++) {
		s->fd[i] = socket(AF_INET, SOCK_STREAM, 0);
		for (int tries = 0; connect(s->fd[i], (struct sockaddr *)&a, sizeof(a)) != 0; tries++) {
			if (tries == 100)
				die("connect");
			usleep(50000);
		}
		setsockopt(s->fd[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	}
	if (clock_getcpuclockid(pid, &s->clock) != 0)
		die("clock of the server");
}

static uint64_t seed = 1;

/* One pipeline of requests; how many answers end with which line is known beforehand. */
static size_t fill(char *buf)
{
	size_t n = 0;

	for (int i = 0; i < pipeline; i++) {
		unsigned key;
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		key = (unsigned)(seed >> 33) % KEYS;
		if (seed >> 40 & 15) {
			n += (size_t)snprintf(buf + n, 128, "get k%u\r\n", key);
		} else {
			n += (size_t)snprintf(buf + n, 128, "set k%u 0 0 32\r\n%032u\r\n", key, key);
		}
	}
	return n;
}

static void drain(int fd, int lines)
{
	static char buf[65536];

	/* every answer ends in END or STORED */
	while (lines > 0) {
		ssize_t got = read(fd, buf, sizeof(buf));
		if (got <= 0)
			die("read");
		for (ssize_t i = 0; i < got; i++)
			lines -= buf[i] == 'E' && (i == 0 || buf[i - 1] != 'R'); /* END, but not the E of STORED */
		for (ssize_t i = 0; i < got; i++)
			lines -= buf[i] == 'S'; /* STORED */
	}
}

static void round_trip(struct server *s)
{
	static char buf[CONNECTIONS][MAX_PIPELINE * 128];

	for (int i = 0; i < CONNECTIONS; i++) {
		size_t n = fill(buf[i]);
		if (write(s->fd[i], buf[i], n) != (ssize_t)n)
			die("write");
	}
	for (int i = 0; i < CONNECTIONS; i++)
		drain(s->fd[i], pipeline);
}

struct cost {
	double cpu, wall;
};

static struct cost block(struct server *s)
{
	double cpu = now(s->clock), wall = now(CLOCK_MONOTONIC);

	for (int i = 0; i < rounds; i++)
		round_trip(s);
	return (struct cost){ now(s->clock) - cpu, now(CLOCK_MONOTONIC) - wall };
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static void print_median(double *v, size_t n)
{
	size_t half = (size_t)(0.98 * sqrt((double)n));

	qsort(v, n, sizeof(*v), compare);
	printf("%.3f %.3f %.3f ", (v[n / 2] - 1) * 100, (v[n / 2 > half ? n / 2 - half : 0] - 1) * 100,
	       (v[n / 2 + half < n ? n / 2 + half : n - 1] - 1) * 100);
}

int main(int argc, char **argv)
{
	struct server s;
	static double cpu[100000], wall[100000];
	double start, watched = 0, plain_cpu = 0;
	volatile unsigned char *flag;
	size_t n = 0;
	int fd;

	if (argc < 6)
		return 2;
	pipeline = atoi(argv[5]);
	if (pipeline < 1 || pipeline > MAX_PIPELINE)
		return 2;
	rounds = 1 + 60 / pipeline;
	fd = open(argv[3], O_RDWR);
	flag = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || flag == MAP_FAILED)
		die(argv[3]);
	server_connect(&s, atoi(argv[1]), atoi(argv[2]));
	for (int k = 0; k < 8; k++) {
		*flag = k & 1;
		block(&s);
	}
	start = now(CLOCK_MONOTONIC);
	while (now(CLOCK_MONOTONIC) - start < atof(argv[4]) && n < 100000) {
		struct cost c[2];

		for (unsigned k = 0; k < 2; k++) {
			unsigned char which = (k ^ n) & 1;

			*flag = getenv("SAME") ? 0 : which;
			c[which] = block(&s);
		}
		cpu[n] = c[1].cpu / c[0].cpu;
		wall[n] = c[1].wall / c[0].wall;
		watched += c[1].wall;
		plain_cpu += c[0].cpu;
		n++;
	}
	if (n < 8)
		return 4;
	print_median(cpu, n);
	print_median(wall, n);
	printf("%zu %.0f %.2f\n", n, (double)n * rounds * CONNECTIONS * pipeline / watched,
	       plain_cpu * 1e6 / ((double)n * rounds * CONNECTIONS * pipeline));
	return 0;
}
