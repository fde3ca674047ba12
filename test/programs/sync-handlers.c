/* Where a signal's handler may run, for `record --mode sync`. Two workers count under a lock until the handler of
 * SIGTERM has told them to stop. What main does meanwhile is the argument:
 *
 *	join     waits for the workers, which look at the handler's flag
 *	pause    waits for a signal
 *	sleep    sleeps, again and again
 *	pipe     reads from a pipe that the handler writes to
 *	spin     looks at the handler's flag, and does nothing else
 *	post     waits for a semaphore that the handler posts
 *	alarm    as pause, and SIGALRM comes every 20 ms
 *	raise    sends itself SIGALRM first, which must be handled at once; then as pause */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t told, alarms;
static int stop, by_flag, pipe_ends[2];
static sem_t posted;
static long rounds;

static void on_term(int number)
{
	int e = errno;

	told = number;
	sem_post(&posted);
	if (write(pipe_ends[1], "x", 1) < 0)
		told = -1;
	errno = e;
}

static void on_alarm(int number)
{
	alarms += number != 0;
}

static void *work(void *arg)
{
	for (;;) {
		int end;

		pthread_mutex_lock(&lock);
		rounds++;
		end = by_flag ? told : stop;
		pthread_mutex_unlock(&lock);
		if (end)
			return arg;
		usleep(1000);
	}
}

static void wait_for_it(const char *how)
{
	char c;

	if (!strcmp(how, "raise")) {
		raise(SIGALRM);
		if (alarms != 1)
			abort();
	}
	if (!strcmp(how, "raise") || !strcmp(how, "pause") || !strcmp(how, "alarm"))
		while (!told)
			pause();
	if (!strcmp(how, "sleep"))
		while (!told)
			usleep(3000);
	if (!strcmp(how, "spin"))
		while (!told)
			;
	if (!strcmp(how, "pipe"))
		while (read(pipe_ends[0], &c, 1) < 0)
			;
	if (!strcmp(how, "post"))
		while (sem_wait(&posted) < 0)
			;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "join";
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } };
	struct sigaction term = { .sa_handler = on_term }, tick = { .sa_handler = on_alarm };
	pthread_t t[2];
	sigset_t set;

	by_flag = !strcmp(how, "join");
	sem_init(&posted, 0, 0);
	if (pipe(pipe_ends))
		return 1;
	sigaction(SIGTERM, &term, NULL);
	sigaction(SIGALRM, &tick, NULL);
	sigemptyset(&set); /* main takes them all */
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	if (!strcmp(how, "alarm"))
		setitimer(ITIMER_REAL, &often, NULL);
	puts("ready");
	fflush(stdout);
	wait_for_it(how);
	pthread_mutex_lock(&lock);
	stop = 1;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d: %ld rounds, %d alarms\n", (int)told, rounds, (int)alarms);
	return 0;
}
