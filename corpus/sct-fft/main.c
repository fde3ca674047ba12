/* fft - a number-theoretic transform of 16 values modulo 17, stage by stage, in parallel.
 *
 * Each thread does its share of the butterflies of a stage; the next stage needs all of
 * them. The barrier between the stages is missing. (Integers modulo a prime, so that the outcome
 * can be compared exactly.)
 * Cure: the barrier.   usage: main [threads=2] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { N = 16, LOG = 4, P = 17, ROOT = 3, MAX = 8 };

static volatile int *data;
static pthread_barrier_t stage_end;
static int threads;

static int power(int base, int exponent)
{
	int r = 1;

	while (exponent-- > 0)
		r = r * base % P;
	return r;
}

static void butterfly(volatile int *x, int i, int half, int w)
{
	int a = x[i], b = x[i + half] * w % P; /* BUG:a */

	x[i] = (a + b) % P; /* BUG:b */
	x[i + half] = (a - b + P) % P;
}

/* Butterflies number from..to-1 of a stage; there are N/2 of them. */
static void stage(volatile int *x, int s, int from, int to)
{
	int k, half = 1 << s;

	for (k = from; k < to; k++) {
		int group = k / half, j = k % half;

		butterfly(x, group * 2 * half + j, half, power(ROOT, j * (N / 2 / half)));
	}
}

static void *worker(void *arg)
{
	int s, id = *(int *)arg, share = N / 2 / threads;

	for (s = 0; s < LOG; s++) {
		stage(data, s, id * share, (id + 1) * share);
#ifdef FIXED
		pthread_barrier_wait(&stage_end);
#endif
	}
	return NULL;
}

int main(int argc, char **argv)
{
	volatile int expected[N];
	pthread_t t[MAX];
	int i, id[MAX];

	threads = argc > 1 ? atoi(argv[1]) : 2;
	if (threads != 1 && threads != 2 && threads != 4 && threads != 8)
		return 2;
	data = calloc(N, sizeof(*data));
	assert(data);
	for (i = 0; i < N; i++)
		data[i] = expected[i] = (i * 5 + 1) % P;
	for (i = 0; i < LOG; i++)
		stage(expected, i, 0, N / 2);
	pthread_barrier_init(&stage_end, NULL, threads);
	for (i = 0; i < threads; i++) {
		id[i] = i;
		pthread_create(&t[i], NULL, worker, &id[i]);
	}
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < N; i++)
		assert(data[i] == expected[i]);
	free((void *)data);
	return 0;
}
