/* travel [MB] - every word is written by one thread and read by another: all memory is shared, the worst case for a shadow. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long *words, n, sum;

static void *fill(void *arg)
{
	for (long i = 0; i < n; i++)
		words[i] = i;
	return arg;
}

static void *add(void *arg)
{
	for (long i = 0; i < n; i++)
		sum += words[i];
	return arg;
}

int main(int argc, char **argv)
{
	void *(*const parts[])(void *) = { fill, add };

	n = (argc > 1 ? atol(argv[1]) : 64) * (1 << 20) / (long)sizeof(long);
	words = malloc((size_t)n * sizeof(long));
	if (!words)
		return 1;
	for (int i = 0; i < 2; i++) {
		pthread_t t;

		pthread_create(&t, NULL, parts[i], NULL);
		pthread_join(t, NULL);
	}
	printf("%ld\n", sum);
	free(words);
	return 0;
}
