/* bubblesort: passes over one array under different locks.
 *
 * Each sorter carries out some of the passes of a bubble sort. A pass must be one step for the others; here sorters of odd
 * and even number take different locks, so that two passes overlap: a pair is compared, somebody else swaps it, and it is
 * swapped back, or an element is written twice and another one is gone.
 *
 * The cure is one lock for all.
 *
 * usage: bubblesort [ELEMENTS [SORTERS]] */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_ELEMENTS 1024
#define MAX_SORTERS 64

static int element[MAX_ELEMENTS];
static int elements = 6;
static int passes_each;
static int swaps[MAX_SORTERS];
static pthread_mutex_t lock[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t *lock_of(int sorter)
{
#ifdef FIXED
	(void)sorter;
	return &lock[0];
#else
	return &lock[sorter % 2];
#endif
}

/* One pass: compare all neighbours from left to right. Returns the number of swaps. */
static __attribute__((noinline)) int pass(int *v, int n)
{
	int swapped = 0;

	for (int i = 0; i + 1 < n; i++) {
		int left = v[i]; /* BUG:a */
		int right = v[i + 1];

		if (left > right) {
			v[i] = right;
			v[i + 1] = left; /* BUG:b */
			swapped++;
		}
	}
	return swapped;
}

static void *sorter(void *arg)
{
	int me = (int)((int *)arg - swaps);

	for (int i = 0; i < passes_each; i++) {
		pthread_mutex_lock(lock_of(me));
		swaps[me] += pass(element, elements);
		pthread_mutex_unlock(lock_of(me));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int sorters = argc > 2 ? atoi(argv[2]) : 5;
	long sum = 0;
	pthread_t thread[MAX_SORTERS];

	elements = argc > 1 ? atoi(argv[1]) : elements;
	if (elements < 2 || elements > MAX_ELEMENTS || sorters < 1 || sorters > MAX_SORTERS) {
		fprintf(stderr, "usage: bubblesort [ELEMENTS(2-%d) [SORTERS(1-%d)]]\n", MAX_ELEMENTS, MAX_SORTERS);
		return 2;
	}
	for (int i = 0; i < elements; i++)
		element[i] = elements - i; /* the hardest input: every pass has work to do */
	passes_each = (elements - 1 + sorters - 1) / sorters;
	for (int i = 0; i < sorters; i++)
		pthread_create(&thread[i], NULL, sorter, &swaps[i]);
	for (int i = 0; i < sorters; i++)
		pthread_join(thread[i], NULL);

	for (int i = 0; i < elements; i++)
		sum += element[i];
	assert(sum == (long)elements * (elements + 1) / 2); /* none lost, none doubled */
	for (int i = 0; i + 1 < elements; i++)
		assert(element[i] <= element[i + 1]);
	return 0;
}
