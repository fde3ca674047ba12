/* airline: seats are sold after the sale has been stopped.
 *
 * Every agent looks whether sales go on and sells a seat if so; whoever sells the last seat stops the sale. Looking
 * and selling are two steps: an agent that looked before the last seat went sells one seat too many.
 *
 * usage: airline [AGENTS [SEATS]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_AGENTS 64

static int seats = 6;
static int seats_sold;
static int sales_stopped;
#ifdef FIXED
static pthread_mutex_t sale = PTHREAD_MUTEX_INITIALIZER;
#endif

static __attribute__((noinline)) int may_sell(void)
{
	return !sales_stopped; /* BUG:a */
}

static __attribute__((noinline)) void sell_seat(void)
{
	seats_sold++;
	if (seats_sold >= seats)
		sales_stopped = 1; /* BUG:b */
}

static void *agent(void *arg)
{
	(void)arg;
#ifdef FIXED
	pthread_mutex_lock(&sale);
#endif
	if (may_sell())
		sell_seat();
#ifdef FIXED
	pthread_mutex_unlock(&sale);
#endif
	return NULL;
}

int main(int argc, char **argv)
{
	int agents = argc > 1 ? atoi(argv[1]) : 7;
	pthread_t thread[MAX_AGENTS];

	seats = argc > 2 ? atoi(argv[2]) : seats;
	if (agents < 1 || agents > MAX_AGENTS || seats < 1) {
		fprintf(stderr, "usage: airline [AGENTS(1-%d) [SEATS]]\n", MAX_AGENTS);
		return 2;
	}
	for (int i = 0; i < agents; i++)
		pthread_create(&thread[i], NULL, agent, NULL);
	for (int i = 0; i < agents; i++)
		pthread_join(thread[i], NULL);
	assert(seats_sold <= seats);
	return 0;
}
