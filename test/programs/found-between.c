/* A call with two arguments in shared memory that returns a place in one of them: bsearch. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int table[] = { 10, 20, 30, 40 };
static int key = 30;

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void *look(void *arg)
{
	int *found = bsearch(&key, table, 4, sizeof(int), compare);

	assert(found == &table[2]);
	return arg;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, look, NULL);
	table[0]++;
	key = 30;
	look(NULL);
	pthread_join(t, NULL);
	return 0;
}
