/* bench/watch/synthetic.c - the cost of the watch library, as a ratio within one run.
 *
 * The load of 001 section 7.1.4: threads that take one of 8 mutexes, compute for IN microseconds, release it, compute
 * for OUT microseconds, through varying chains of calls. Every thread alternates between blocks of iterations whose
 * lock calls go through the preloaded library and blocks that call libc directly (A B B A), and measures its own CPU
 * time. A pair of blocks gives one ratio; other load on the machine hits both halves alike.
 * usage: LD_PRELOAD=libplait-watch.so synthetic THREADS IN OUT SECONDS
 * prints: median ratio - 1 in per cent, its 95 % confidence interval, pairs, lock operations per second, and the
 *         best nanoseconds per iteration, plain and watched (of the first thread) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOCKS = 8 };
static struct { pthread_mutex_t m; char pad[128 - sizeof(pthread_mutex_t)]; } locks[LOCKS];
static int (*lock_fn[2])(pthread_mutex_t *), (*unlock_fn[2])(pthread_mutex_t *);
static uint64_t spins_in, spins_out;
static volatile int stop;

struct worker {
	pthread_t t;
	uint64_t seed, ops;
	double *ratios;
	size_t n, cap;
	unsigned block; /* iterations */
	double best[2]; /* seconds per block */
};

static double now(clockid_t c)
{
	struct timespec ts;
	clock_gettime(c, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static __attribute__((noinline, noclone)) void spin(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		__asm__ volatile("");
}

static uint64_t next(struct worker *w)
{
	w->seed = w->seed * 6364136223846793005ull + 1442695040888963407ull;
	return w->seed >> 33;
}

static __attribute__((noinline)) void critical(pthread_mutex_t *m, int mode)
{
	lock_fn[mode](m);
	spin(spins_in);
	unlock_fn[mode](m);
	__asm__ volatile("");
}

/* up to four calls deep, two ways at each: 30 different call stacks */
static void left(pthread_mutex_t *m, int mode, uint64_t path, unsigned depth);
static __attribute__((noinline)) void right(pthread_mutex_t *m, int mode, uint64_t path, unsigned depth)
{
	if (depth == 0)
		critical(m, mode);
	else if (path & 1)
		left(m, mode, path >> 1, depth - 1);
	else
		right(m, mode, path >> 1, depth - 1);
	__asm__ volatile("");
}
static __attribute__((noinline)) void left(pthread_mutex_t *m, int mode, uint64_t path, unsigned depth)
{
	volatile char frame[32];
	frame[0] = 0;
	if (depth == 0)
		critical(m, mode);
	else if (path & 1)
		right(m, mode, path >> 1, depth - 1);
	else
		left(m, mode, path >> 1, depth - 1);
	__asm__ volatile("");
}

static double block(struct worker *w, int mode)
{
	double start = now(CLOCK_THREAD_CPUTIME_ID);

	for (unsigned i = 0; i < w->block; i++) {
		uint64_t r = next(w);

		left(&locks[r % LOCKS].m, mode, r >> 8, (unsigned)(r >> 4) % 4);
		spin(spins_out);
	}
	w->ops += w->block;
	return now(CLOCK_THREAD_CPUTIME_ID) - start;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	block(w, 0);
	block(w, 1);
	for (unsigned round = 0; !stop; round++) {
		double t[2];
		int first = (int)(round & 1);

		t[first] = block(w, first);
		t[!first] = block(w, !first);
		if (w->n == w->cap) {
			w->cap = w->cap ? w->cap * 2 : 256;
			w->ratios = realloc(w->ratios, w->cap * sizeof(double));
		}
		w->ratios[w->n++] = t[1] / t[0];
		for (int k = 0; k < 2; k++)
			if (w->best[k] == 0 || t[k] < w->best[k])
				w->best[k] = t[k];
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* iterations of spin() per microsecond: the best of many, so that a busy machine does not matter */
static double calibrate(void)
{
	double best = 0;
	for (int i = 0; i < 200; i++) {
		double t = now(CLOCK_THREAD_CPUTIME_ID);
		spin(20000);
		t = now(CLOCK_THREAD_CPUTIME_ID) - t;
		if (20000 / (t * 1e6) > best)
			best = 20000 / (t * 1e6);
	}
	return best;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 2;
	double in = argc > 2 ? atof(argv[2]) : 1, out = argc > 3 ? atof(argv[3]) : 1000;
	double seconds = argc > 4 ? atof(argv[4]) : 2, per_us, start;
	void *libc = dlopen("libc.so.6", RTLD_NOW);
	struct worker *w = calloc((size_t)threads, sizeof(*w));
	pthread_attr_t attr;
	double *all;
	size_t n = 0, k = 0, half;
	uint64_t ops = 0;

	lock_fn[0] = (int (*)(pthread_mutex_t *))dlsym(libc, "pthread_mutex_lock");
	unlock_fn[0] = (int (*)(pthread_mutex_t *))dlsym(libc, "pthread_mutex_unlock");
	lock_fn[1] = (int (*)(pthread_mutex_t *))dlsym(RTLD_DEFAULT, "pthread_mutex_lock");
	unlock_fn[1] = (int (*)(pthread_mutex_t *))dlsym(RTLD_DEFAULT, "pthread_mutex_unlock");
	if (lock_fn[0] == lock_fn[1] && !getenv("SAME")) {
		fprintf(stderr, "synthetic: preload the library\n");
		return 3;
	}
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&locks[i].m, NULL);
	per_us = calibrate();
	spins_in = (uint64_t)(in * per_us);
	spins_out = (uint64_t)(out * per_us);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	start = now(CLOCK_MONOTONIC);
	for (int i = 0; i < threads; i++) {
		w[i].seed = (uint64_t)i * 7919 + 1;
		w[i].block = (unsigned)fmax(1, fmin(2000, 1000 / (in + out))); /* about a millisecond */
		pthread_create(&w[i].t, &attr, work, &w[i]);
	}
	while (now(CLOCK_MONOTONIC) - start < seconds)
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
	stop = 1;
	for (int i = 0; i < threads; i++) {
		pthread_join(w[i].t, NULL);
		n += w[i].n;
		ops += w[i].ops;
	}
	all = calloc(n + 1, sizeof(double));
	for (int i = 0; i < threads; i++)
		for (size_t j = 0; j < w[i].n; j++)
			all[k++] = w[i].ratios[j];
	qsort(all, n, sizeof(double), compare);
	if (n < 8) {
		printf("- - - %zu %.0f\n", n, (double)ops / (now(CLOCK_MONOTONIC) - start));
		return 0;
	}
	half = (size_t)(0.98 * sqrt((double)n)); /* 95 % interval of a median, by order statistics */
	printf("%.3f %.3f %.3f %zu %.0f %.1f %.1f\n", (all[n / 2] - 1) * 100,
	       (all[n / 2 > half ? n / 2 - half : 0] - 1) * 100,
	       (all[n / 2 + half < n ? n / 2 + half : n - 1] - 1) * 100, n,
	       (double)ops / (now(CLOCK_MONOTONIC) - start), w[0].best[0] / w[0].block * 1e9,
	       w[0].best[1] / w[0].block * 1e9);
	return 0;
}
