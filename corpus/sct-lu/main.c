/* lu - elimination of a matrix over the integers modulo a prime, rows shared out among threads.
 *
 * Step k needs the finished row k, which its owner produced in step k-1. The barrier after each
 * step is missing: a fast thread eliminates with an unfinished row.
 * Cure: the barrier.   usage: main [threads=2] [size=5] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { P = 10007, MAX = 16 };

static int threads, n;
static volatile long *m; /* n * n */
static pthread_barrier_t step_end;

static long inverse(long a)
{
	long r = 1, e = P - 2;

	for (a %= P; e > 0; e >>= 1, a = a * a % P)
		if (e & 1)
			r = r * a % P;
	return r;
}

static void eliminate(volatile long *x, int k, int row)
{
	long factor = x[row * n + k] * inverse(x[k * n + k]) % P; /* BUG:a */
	int j;

	for (j = k; j < n; j++) {
		long v = x[row * n + j] - factor * x[k * n + j] % P;

		x[row * n + j] = (v + P) % P; /* BUG:b */
	}
}

static void *worker(void *arg)
{
	int k, row, id = *(int *)arg;

	for (k = 0; k < n - 1; k++) {
		for (row = k + 1; row < n; row++)
			if (row % threads == id)
				eliminate(m, k, row);
#ifdef FIXED
		pthread_barrier_wait(&step_end);
#endif
	}
	return NULL;
}

static long entry(int i, int j)
{
	return i == j ? 100 + i : (i * 7 + j * 3) % 10 + 1;
}

int main(int argc, char **argv)
{
	volatile long *expected;
	pthread_t t[MAX];
	int i, k, id[MAX];

	threads = argc > 1 ? atoi(argv[1]) : 2;
	n = argc > 2 ? atoi(argv[2]) : 5;
	if (threads < 1 || threads > MAX || n < 2 || n > 64)
		return 2;
	m = calloc(n * n, sizeof(*m));
	expected = calloc(n * n, sizeof(*expected));
	assert(m && expected);
	for (i = 0; i < n * n; i++)
		m[i] = expected[i] = entry(i / n, i % n);
	for (k = 0; k < n - 1; k++)
		for (i = k + 1; i < n; i++)
			eliminate(expected, k, i);
	pthread_barrier_init(&step_end, NULL, threads);
	for (i = 0; i < threads; i++) {
		id[i] = i;
		pthread_create(&t[i], NULL, worker, &id[i]);
	}
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < n * n; i++)
		assert(m[i] == expected[i]);
	free((void *)m);
	free((void *)expected);
	return 0;
}
