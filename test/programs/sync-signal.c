/* A server that ends when it is told to by SIGTERM: `handler` sets a flag, `wait` takes the signal in a thread of its
 * own. Prints how often its two workers have had the lock in turn. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t told;
static int stop;
static long rounds, turns, last;

static void on_term(int number)
{
	told = number;
}

static void *work(void *arg)
{
	long me = (long)arg;

	for (;;) {
		int end;

		pthread_mutex_lock(&lock);
		rounds++;
		turns += last != me;
		last = me;
		end = stop;
		pthread_mutex_unlock(&lock);
		if (end)
			return NULL;
		usleep(1000);
	}
}

int main(int argc, char **argv)
{
	int waits = argc > 1 && strcmp(argv[1], "wait") == 0, number = 0;
	pthread_t t[2];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	if (waits)
		pthread_sigmask(SIG_BLOCK, &set, NULL);
	else
		signal(SIGTERM, on_term);
	for (long i = 1; i <= 2; i++)
		pthread_create(&t[i - 1], NULL, work, (void *)i);
	puts("ready");
	fflush(stdout);
	if (waits)
		sigwait(&set, &number);
	else
		while (!told)
			poll(NULL, 0, 10);
	pthread_mutex_lock(&lock);
	stop = 1;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d: %ld rounds, %ld turns\n", waits ? number : (int)told, rounds, turns);
	return 0;
}
