/* A random lock program, and its own judge. THREADS threads take and release LOCKS mutexes at random; before each step a
 * thread writes down what it wants and what it has. After a while a last thread that takes no lock looks whether
 * the others still move; if a set of them waits for each other for ever, it says so on stdout ("cycle"), otherwise all are
 * told to stop and the program ends ("none").   usage: random SEED THREADS LOCKS */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 64 };
static pthread_mutex_t locks[MOST];
static _Atomic int owner[MOST];	 /* thread + 1 */
static _Atomic int wants[MOST];	 /* lock + 1 */
static _Atomic unsigned steps[MOST];
static _Atomic int stop, running;
static int nthreads, nlocks;
static unsigned long seed;

static void *work(void *p)
{
	int me = (int)(long)p, held[4], n = 0;
	unsigned long x = seed * 7919 + (unsigned long)me * 104729 + 1;

	while (!stop || n) {
		x = x * 6364136223846793005ul + 1442695040888963407ul;
		if (n == 4 || stop || (n && (x >> 60) < 6)) {
			int l = held[--n];
			owner[l] = 0;
			pthread_mutex_unlock(&locks[l]);
		} else {
			int l = (int)(x >> 33) % nlocks, have = 0;
			for (int i = 0; i < n; i++)
				have |= held[i] == l;
			if (have || ((x >> 50 & 63) != 0 && n && l < held[n - 1]))
				continue; /* mostly in order, so that some runs end well */
			wants[me] = l + 1;
			pthread_mutex_lock(&locks[l]);
			owner[l] = me + 1;
			wants[me] = 0;
			held[n++] = l;
		}
		steps[me]++;
		if ((x >> 40 & 7) == 0)
			usleep((unsigned)(x >> 45 & 127));
	}
	running--;
	return NULL;
}

/* A thread that waits for a lock whose owner can go on can go on, too. Those left over cannot. */
static int judge(void)
{
	int left[MOST], again = 1, n = nthreads;

	for (int t = 0; t < nthreads; t++)
		left[t] = 1;
	while (again) {
		again = 0;
		for (int t = 0; t < nthreads; t++) {
			int l = wants[t] - 1, o = l >= 0 ? owner[l] - 1 : -1;
			if (left[t] && (l < 0 || o < 0 || !left[o]))
				left[t] = 0, n--, again = 1;
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	pthread_t t;
	int n;

	seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	nthreads = argc > 2 ? atoi(argv[2]) : 4;
	nlocks = argc > 3 ? atoi(argv[3]) : 4;
	for (int i = 0; i < nlocks; i++)
		pthread_mutex_init(&locks[i], NULL);
	running = nthreads;
	for (long i = 0; i < nthreads; i++)
		pthread_create(&t, NULL, work, (void *)i);
	usleep(30000);
	stop = 1;
	for (int i = 0; i < 400 && running; i++) {
		unsigned before = 0, after = 0;
		for (int k = 0; k < nthreads; k++)
			before += steps[k];
		usleep(20000);
		for (int k = 0; k < nthreads; k++)
			after += steps[k];
		n = before == after && running ? judge() : 0;
		if (n > 0) {
			printf("cycle\n");
			fflush(stdout);
			for (;;)
				pause();
		}
	}
	printf("%s\n", running ? "unsure" : "none");
	return 0;
}
