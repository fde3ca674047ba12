/* A timer of processor time ticks while two threads work and lock: its handler runs mostly inside of critical
 * sections, where the next operation is an unlock. Prints how often each thread was interrupted. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread volatile int ticks;
static unsigned long order;
static int ticks_of[2];

static void on_tick(int number)
{
	ticks += number != 0;
}

static void *work(void *arg)
{
	long me = (long)arg;

	for (int i = 0; i < 30; i++) {
		pthread_mutex_lock(&lock);
		order = order * 31 + (unsigned long)me;
		for (volatile int k = 0; k < 2000000; k++)
			;
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock); /* a tick after the last unlock has come by here */
	ticks_of[me] = ticks;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	struct itimerval every = { { 0, 4000 }, { 0, 4000 } };
	pthread_t t[2];
	sigset_t tick;

	sigemptyset(&tick);
	sigaddset(&tick, SIGPROF);
	signal(SIGPROF, on_tick);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	pthread_sigmask(SIG_BLOCK, &tick, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("saw %lx, ticks %d %d\n", order, ticks_of[0], ticks_of[1]);
}
