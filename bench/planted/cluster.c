/* bench/planted/cluster.c - a stream clusterer: points come in chunks, k centres follow them.
 *
 * For every chunk the threads assign their share of the points to the nearest centre, meet at a
 * barrier, one of them moves the centres, and they meet again; a few rounds, then the next chunk. Sums are
 * kept per thread and added under a lock.
 * usage: cluster [points=24] [chunks=2] [threads=3] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CENTRES = 3, ROUNDS = 2, MAX_POINTS = 4096, MAX_THREADS = 16 };

struct point {
	double x, y;
	int centre;
};

struct sum {
	double x, y;
	int n;
};

static pthread_barrier_t meeting;
static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;
static struct point points[MAX_POINTS], centre[CENTRES];
static struct sum sum[CENTRES];
static int npoints, nchunks, nthreads;
static double cost;

static double distance(const struct point *a, const struct point *b)
{
	double dx = a->x - b->x, dy = a->y - b->y;

	return dx * dx + dy * dy;
}

static int nearest(const struct point *p, double *ret)
{
	double best = -1, d;
	int c, found = 0;

	for (c = 0; c < CENTRES; c++) {
		d = distance(p, &centre[c]);
		if (best < 0 || d < best) {
			best = d;
			found = c;
		}
	}
	*ret = best;
	return found;
}

static void assign(int from, int to)
{
	struct sum own[CENTRES] = { { 0, 0, 0 } };
	double mine = 0, d;
	int i, c;

	for (i = from; i < to; i++) {
		c = nearest(&points[i], &d);
		points[i].centre = c;
		own[c].x += points[i].x;
		own[c].y += points[i].y;
		own[c].n++;
		mine += d;
	}
	pthread_mutex_lock(&sum_lock);
	cost += mine;
	for (c = 0; c < CENTRES; c++) {
		sum[c].x += own[c].x;
		sum[c].y += own[c].y;
		sum[c].n += own[c].n;
	}
	pthread_mutex_unlock(&sum_lock);
}

static void move_centres(void)
{
	int c;

	for (c = 0; c < CENTRES; c++) {
		if (sum[c].n) {
			centre[c].x = sum[c].x / sum[c].n;
			centre[c].y = sum[c].y / sum[c].n;
		}
		sum[c].x = 0;
		sum[c].y = 0;
		sum[c].n = 0;
	}
}

static void read_chunk(int number)
{
	unsigned seed = 77 + (unsigned)number;
	int i;

	for (i = 0; i < npoints; i++) {
		seed = seed * 1103515245 + 12345;
		points[i].x = (double)(seed >> 16 & 255);
		seed = seed * 1103515245 + 12345;
		points[i].y = (double)(seed >> 16 & 255);
	}
}

static void *cluster(void *arg)
{
	int self = *(int *)arg, chunk, round, first, end;

	first = self * npoints / nthreads;
	end = (self + 1) * npoints / nthreads;
	for (chunk = 0; chunk < nchunks; chunk++) {
		if (self == 0)
			read_chunk(chunk);
		pthread_barrier_wait(&meeting);
		for (round = 0; round < ROUNDS; round++) {
			assign(first, end);
			pthread_barrier_wait(&meeting);
			if (self == 0)
				move_centres();
			pthread_barrier_wait(&meeting);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[MAX_THREADS];
	int i, number[MAX_THREADS];

	npoints = argc > 1 ? atoi(argv[1]) : 24;
	nchunks = argc > 2 ? atoi(argv[2]) : 2;
	nthreads = argc > 3 ? atoi(argv[3]) : 3;
	if (npoints < 1 || npoints > MAX_POINTS || nthreads < 1 || nthreads > MAX_THREADS)
		return 2;
	for (i = 0; i < CENTRES; i++) {
		centre[i].x = 50 + 60 * i;
		centre[i].y = 200 - 70 * i;
	}
	pthread_barrier_init(&meeting, NULL, (unsigned)nthreads);
	for (i = 0; i < nthreads; i++) {
		number[i] = i;
		pthread_create(&t[i], NULL, cluster, &number[i]);
	}
	for (i = 0; i < nthreads; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < CENTRES; i++)
		printf("%.1f %.1f\n", centre[i].x, centre[i].y);
	return 0;
}
