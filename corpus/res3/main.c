/* res3 - a table is replaced by a shorter one while it is read.
 *
 * The owner installs the new table, then the new length. A reader that comes in between walks the
 * short table with the old length and follows what lies behind its end.
 * Cure: both under the lock, on both sides.   usage: main [long=8] [short=3] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { MAX = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long **table; /* pointers; null behind the end */
static int length;
static int long_size, short_size;
static long total;

static long **table_new(int n)
{
	long **t = calloc(MAX + 1, sizeof(*t));
	int i;

	assert(t);
	for (i = 0; i < n; i++) {
		t[i] = malloc(sizeof(*t[i]));
		assert(t[i]);
		*t[i] = i + 1;
	}
	return t;
}

static void table_free(long **t)
{
	int i;

	for (i = 0; i < MAX; i++)
		free(t[i]);
	free(t);
}

static void step(void)
{
#ifndef FIXED
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
#endif
}

static void *owner(void *arg)
{
	long **fresh = arg;

	pthread_mutex_lock(&lock);
	table = fresh; /* BUG:a */
	step();
	length = short_size;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *reader(void *arg)
{
	int i, n;

	(void)arg;
	pthread_mutex_lock(&lock);
	n = length; /* BUG:b */
	for (i = 0; i < n; i++)
		total += *table[i]; /* BUG:c */
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	long **first, **second;
	pthread_t a, b;

	long_size = argc > 1 ? atoi(argv[1]) : 8;
	short_size = argc > 2 ? atoi(argv[2]) : 3;
	if (short_size < 1 || long_size <= short_size || long_size > MAX)
		return 2;
	first = table_new(long_size);
	second = table_new(short_size);
	table = first;
	length = long_size;
	pthread_create(&a, NULL, owner, second);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(total > 0);
	table_free(first);
	table_free(second);
	return 0;
}
