/* piper: a thread that was woken does not look again whether it may go on.
 *
 * Passengers queue up for a small plane; some threads board them, others let them out. Whoever finds the plane full or
 * empty waits. The condition is tested with `if`, not `while`: by the time the woken thread has the lock back, another one
 * has taken what it was woken for.
 *
 * usage: piper [FILLERS [EMPTIERS [PASSENGERS]]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 32
#define SEATS 6

#ifdef FIXED
#define WHEN while
#else
#define WHEN if
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int seat[SEATS];
static int first, aboard; /* the passengers are in seat[first], ... , aboard of them */
static int boarded, left;
static int fillers = 2, emptiers = 2, passengers = 6;

static void board(int passenger)
{
	pthread_mutex_lock(&lock);
	WHEN (aboard == SEATS)
		pthread_cond_wait(&changed, &lock); /* BUG:a */
	assert(aboard < SEATS);                     /* BUG:c */
	seat[(first + aboard) % SEATS] = passenger;
	aboard++; /* BUG:b */
	boarded++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static int let_out(void)
{
	int passenger;

	pthread_mutex_lock(&lock);
	WHEN (aboard == 0)
		pthread_cond_wait(&changed, &lock); /* BUG:a */
	assert(aboard > 0);                         /* BUG:c */
	passenger = seat[first];
	first = (first + 1) % SEATS;
	aboard--; /* BUG:b */
	left++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return passenger;
}

static void *filler(void *arg)
{
	int base = *(int *)arg * 100;

	for (int i = 0; i < passengers; i++)
		board(base + i);
	return NULL;
}

static void *emptier(void *arg)
{
	int number = *(int *)arg - fillers;
	int share = fillers * passengers / emptiers + (number < fillers * passengers % emptiers);
	int sum = 0;

	for (int i = 0; i < share; i++)
		sum += let_out();
	return sum < 0 ? arg : NULL;
}

int main(int argc, char **argv)
{
	int number[MAX_THREADS];
	pthread_t thread[MAX_THREADS];

	fillers = argc > 1 ? atoi(argv[1]) : fillers;
	emptiers = argc > 2 ? atoi(argv[2]) : emptiers;
	passengers = argc > 3 ? atoi(argv[3]) : passengers;
	if (fillers < 1 || emptiers < 1 || fillers + emptiers > MAX_THREADS) {
		fprintf(stderr, "usage: piper [FILLERS [EMPTIERS [PASSENGERS]]], at most %d threads\n", MAX_THREADS);
		return 2;
	}
	for (int i = 0; i < fillers + emptiers; i++) {
		number[i] = i;
		pthread_create(&thread[i], NULL, i < fillers ? filler : emptier, &number[i]);
	}
	for (int i = 0; i < fillers + emptiers; i++)
		pthread_join(thread[i], NULL);
	assert(boarded == left && aboard == 0);
	return 0;
}
