/* ticketorder: two agents sell the same seat.
 *
 * An agent looks for a free seat and then sells it. The sale is booked under the lock of the books; whether the seat
 * is free was looked up without it.
 *
 * The cure looks and sells in one critical section.
 *
 * usage: ticketorder [AGENTS [ORDERS]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_AGENTS 16
#define MAX_SEATS 1024

struct agent {
	pthread_t thread;
	int number; /* from 1 */
	int sold;
};

static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;
static int owner[MAX_SEATS]; /* the agent that sold the seat, 0: free */
static int sold, refused;
static int seats, orders = 7;
static struct agent agent[MAX_AGENTS];

static __attribute__((noinline)) int is_free(int seat)
{
	return owner[seat] == 0; /* BUG:a */
}

/* The caller holds the lock of the books. */
static void sell(struct agent *a, int seat)
{
	owner[seat] = a->number; /* BUG:b */
	sold++;
	a->sold++;
}

/* A free seat, as near to the wanted one as there is; -1 when sold out. */
static int find_seat(int wanted)
{
	for (int i = 0; i < seats; i++) {
		int seat = (wanted + i) % seats;

		if (is_free(seat))
			return seat;
	}
	return -1;
}

static void order(struct agent *a, int wanted)
{
	int seat;

#ifdef FIXED
	pthread_mutex_lock(&books);
	seat = find_seat(wanted);
#else
	seat = find_seat(wanted);
	pthread_mutex_lock(&books);
#endif
	if (seat < 0)
		refused++;
	else
		sell(a, seat);
	pthread_mutex_unlock(&books);
}

static void *agent_main(void *arg)
{
	struct agent *a = arg;

	/* Everybody likes the seats at the front. */
	for (int i = 0; i < orders; i++)
		order(a, i);
	return NULL;
}

int main(int argc, char **argv)
{
	int agents = argc > 1 ? atoi(argv[1]) : 3;
	int occupied = 0;

	orders = argc > 2 ? atoi(argv[2]) : orders;
	if (agents < 1 || agents > MAX_AGENTS || orders < 1 || agents * orders > MAX_SEATS) {
		fprintf(stderr, "usage: ticketorder [AGENTS(1-%d) [ORDERS]], %d orders in all\n", MAX_AGENTS, MAX_SEATS);
		return 2;
	}
	seats = agents * orders - 1; /* the last order comes too late */
	for (int i = 0; i < agents; i++) {
		agent[i].number = i + 1;
		pthread_create(&agent[i].thread, NULL, agent_main, &agent[i]);
	}
	for (int i = 0; i < agents; i++)
		pthread_join(agent[i].thread, NULL);

	for (int i = 0; i < seats; i++)
		occupied += owner[i] != 0;
	assert(sold + refused == agents * orders);
	assert(sold == occupied);
	return 0;
}
