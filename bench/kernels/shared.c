/* shared [ROUNDS] - worst case for full recording: nearly every instruction touches shared memory. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1024 };
static int table[2][N];
static int rounds = 20000;

static void *work(void *arg)
{
	int *mine = table[(long)arg], n = rounds;

	for (int round = 0; round < n; round++)
		for (int i = 1; i < N; i++)
			mine[i] += mine[i - 1] ^ round;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[2];
	int sum = 0;

	if (argc > 1)
		rounds = atoi(argv[1]);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < N; i++)
		sum += table[0][i] + table[1][i];
	printf("%d\n", sum);
}
