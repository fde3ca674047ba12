/* bench/planted/solver.c - a small parallel solver: how many ways are there to place n queens?
 *
 * A pool of threads takes partial boards from a shared stack. A thread that is more than `split` rows from the
 * bottom pushes the next rows as new work, else it counts by itself; totals are added under a lock. Idle
 * threads wait for work; the last one that finds nothing to do tells the others that it is over.
 * usage: solver [n=6] [threads=3] */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_ROWS = 12, MAX_WORK = 4096, MAX_THREADS = 16 };

struct board {
	int rows, column[MAX_ROWS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static struct board work[MAX_WORK];
static int nwork, busy, over, n, split;
static long total, boards;

static int is_safe(const struct board *b, int column)
{
	int row, distance;

	for (row = 0; row < b->rows; row++) {
		distance = b->rows - row;
		if (b->column[row] == column || b->column[row] == column - distance ||
		    b->column[row] == column + distance)
			return 0;
	}
	return 1;
}

static void push(const struct board *b)
{
	pthread_mutex_lock(&lock);
	if (nwork == MAX_WORK)
		abort();
	work[nwork] = *b;
	nwork++;
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&lock);
}

static int pop(struct board *b)
{
	int got = 0;

	pthread_mutex_lock(&lock);
	busy--;
	while (nwork == 0 && busy > 0 && !over)
		pthread_cond_wait(&more, &lock);
	if (nwork > 0) {
		nwork--;
		*b = work[nwork];
		busy++;
		got = 1;
	} else {
		over = 1;
		pthread_cond_broadcast(&more);
	}
	pthread_mutex_unlock(&lock);
	return got;
}

static long count(struct board *b)
{
	long found = 0;
	int column;

	if (b->rows == n)
		return 1;
	for (column = 0; column < n; column++) {
		if (!is_safe(b, column))
			continue;
		b->column[b->rows] = column;
		b->rows++;
		found += count(b);
		b->rows--;
	}
	return found;
}

static void expand(struct board *b)
{
	int column;

	for (column = 0; column < n; column++) {
		if (!is_safe(b, column))
			continue;
		b->column[b->rows] = column;
		b->rows++;
		push(b);
		b->rows--;
	}
}

static void *solve(void *arg)
{
	struct board b;
	long found;

	(void)arg;
	while (pop(&b)) {
		found = 0;
		if (b.rows < split)
			expand(&b);
		else
			found = count(&b);
		pthread_mutex_lock(&total_lock);
		total += found;
		boards++;
		pthread_mutex_unlock(&total_lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int i, threads = argc > 2 ? atoi(argv[2]) : 3;
	pthread_t t[MAX_THREADS];
	struct board empty = { 0 };

	n = argc > 1 ? atoi(argv[1]) : 6;
	if (n < 1 || n > MAX_ROWS || threads < 1 || threads > MAX_THREADS)
		return 2;
	split = n > 4 ? 2 : 1;
	busy = threads;
	push(&empty);
	for (i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, solve, NULL);
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", total);
	return 0;
}
