/* bench/planted/visit.c - is this place one of the planted bug's? Built without instrumentation, so that the
 * places of all other bugs cost the search nothing.
 *
 * PLANT="NUMBER KIND VISIT EXACT A B" plants one bug: at places A and B, from a thread's VISIT-th visit on, or (EXACT 1)
 * at that one alone.
 *
 * PLANT_WITNESS=FILE finds out where bugs are possible at all: a plain run in which threads now and then sleep at a
 * place. PLANT_SEED varies it. The file says which threads were at places at the same time:
 *	together A N B M	one thread was at A for the N-th time while another was at B for the M-th
 *	three A N		three threads were at A, each for the N-th time or later
 *	first A			the places in the order in which they were visited first, by any thread */
#include "plant.h"
#include "race.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PLACES = 8192, THREADS = 64, LAST = 3, SOME = 400 };

static int number, kind, visit, exact, at[2] = { -1, -1 }, live;
static _Thread_local int seen[2];

/* ---- witnesses ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *witness;
static unsigned seed;
static struct {
	int place, visit;
} now[THREADS]; /* place: + 1; 0: elsewhere */
static int threads, first[PLACES];
static _Thread_local int self, visits[PLACES];

/* Under the lock. */
static void look_around(int place, int n)
{
	int same = 1;

	if (!first[place]++)
		fprintf(witness, "first %d\n", place);
	for (int t = 0; t < THREADS; t++) {
		if (t + 1 == self || !now[t].place)
			continue;
		fprintf(witness, "together %d %d %d %d\n", place, n, now[t].place - 1, now[t].visit);
		fprintf(witness, "together %d %d %d %d\n", now[t].place - 1, now[t].visit, place, n);
		same += now[t].place - 1 == place && now[t].visit >= n;
	}
	if (same >= 3)
		fprintf(witness, "three %d %d\n", place, n);
}

static void bear_witness(int place)
{
	int n = ++visits[place] > LAST ? LAST + 1 : visits[place];
	unsigned rest;

	if (visits[place] > SOME)
		return;
	pthread_mutex_lock(&lock);
	if (!self && threads < THREADS)
		self = ++threads;
	seed = seed * 1103515245 + 12345;
	rest = seed >> 16;
	if (self) {
		look_around(place, n);
		now[self - 1].place = place + 1;
		now[self - 1].visit = n;
	}
	pthread_mutex_unlock(&lock);
	if (rest % 4 == 0)
		usleep(rest / 4 % 256);
	pthread_mutex_lock(&lock);
	if (self)
		now[self - 1].place = 0;
	pthread_mutex_unlock(&lock);
}

/* ---- a visit ---- */

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("PLANT");

	live = text && sscanf(text, "%d %d %d %d %d %d", &number, &kind, &visit, &exact, &at[0],
			      &at[1]) == 6;
	text = getenv("PLANT_WITNESS");
	if (text)
		witness = fopen(text, "w");
	text = getenv("PLANT_SEED");
	seed = text ? (unsigned)atoi(text) : 1;
}

void plant(int place)
{
	if (witness && place < PLACES)
		bear_witness(place);
	for (int side = 0; live && side < 2; side++)
		if (place == at[side]) {
			seen[side]++;
			if (exact ? seen[side] == visit : seen[side] >= visit)
				race(number, kind, side);
		}
}
