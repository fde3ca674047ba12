/* A server with two workers that runs until somebody asks for the wrong thing. For `record --last`.
 *
 *	last-server serve        answers on the socket ./socket
 *	last-server ask WORD N   asks N times, one after the other
 *
 * Words: work (takes and gives back a lock many times), crash, stuck (one worker waits for a lock that the
 * other has, and the other way round). SIGTERM ends it in order. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ROUNDS = 20000, PAUSE_US = 5000, QUEUE = 64 };

static pthread_mutex_t early = PTHREAD_MUTEX_INITIALIZER, stats = PTHREAD_MUTEX_INITIALIZER,
		       left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER,
		       jobs = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_jobs = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static int queue[QUEUE];
static unsigned njobs;
static unsigned long served;
static volatile int *session; /* nobody has made one */

static struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };

static void work(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&stats);
		served++;
		pthread_mutex_unlock(&stats);
	}
	usleep(PAUSE_US);
}

static void crash(void)
{
	pthread_mutex_lock(&stats);
	*session = 1;
	pthread_mutex_unlock(&stats);
}

static void stuck(int worker, int fd)
{
	pthread_mutex_lock(worker ? &left : &right);
	pthread_barrier_wait(&both);
	if (write(fd, "done", 4) != 4) /* the client knows that it will not last long */
		perror("write");
	pthread_mutex_lock(worker ? &right : &left);
}

static int next_job(void)
{
	int fd;

	pthread_mutex_lock(&jobs);
	while (!njobs)
		pthread_cond_wait(&has_jobs, &jobs);
	fd = queue[--njobs];
	pthread_mutex_unlock(&jobs);
	return fd;
}

static void *serve(void *which)
{
	pthread_mutex_lock(&early);
	pthread_mutex_unlock(&early);
	for (;;) {
		char word[16] = "";
		int fd = next_job();

		if (read(fd, word, sizeof(word) - 1) <= 0)
			word[0] = 0;
		if (!strcmp(word, "work"))
			work();
		else if (!strcmp(word, "crash"))
			crash();
		else if (!strcmp(word, "stuck"))
			stuck(which != NULL, fd);
		if (write(fd, "done", 4) != 4)
			perror("write");
		close(fd);
	}
	return NULL;
}

static void *end_in_order(void *set)
{
	int number;

	sigwait(set, &number);
	printf("stopped in order by signal %d\n", number);
	exit(0);
}

static int run_server(void)
{
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd;
	static sigset_t set;
	pthread_t t;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&t, NULL, end_in_order, &set);
	pthread_create(&t, NULL, serve, NULL);
	pthread_create(&t, NULL, serve, &set);
	unlink(address.sun_path);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, QUEUE))
		return 1;
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		pthread_mutex_lock(&jobs);
		queue[njobs++] = fd;
		pthread_cond_signal(&has_jobs);
		pthread_mutex_unlock(&jobs);
	}
	return 1;
}

static int connected(void)
{
	for (int i = 0; i < 600; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
			return fd;
		close(fd);
		usleep(50000); /* it may be about to begin */
	}
	exit(2);
}

static int ask(const char *word, int n)
{
	int stuck[2], how_many = !strcmp(word, "stuck") ? 2 : 1;
	char answer[8];

	for (; n > 0; n--) {
		for (int i = 0; i < how_many; i++) {
			stuck[i] = connected();
			if (write(stuck[i], word, strlen(word)) < 0)
				return 1;
		}
		for (int i = 0; i < how_many; i++) {
			if (read(stuck[i], answer, sizeof(answer)) <= 0)
				return 1;
			close(stuck[i]);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[1], "ask"))
		return ask(argv[2], atoi(argv[3]));
	return run_server();
}
