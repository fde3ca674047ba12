/* aget - two threads download a part each and add to a common byte count without its lock.
 * Cure: the lock.   usage: main [threads=2] [pieces=3] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { MAX = 16, PIECE = 10 };

static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long written;
static int pieces;

static void *fetch(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < pieces; i++) {
		long n;

#ifdef FIXED
		pthread_mutex_lock(&count_lock);
#endif
		n = written; /* BUG:a */
		written = n + PIECE; /* BUG:b */
#ifdef FIXED
		pthread_mutex_unlock(&count_lock);
#endif
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t t[MAX];

	pieces = argc > 2 ? atoi(argv[2]) : 3;
	if (n < 1 || n > MAX || pieces < 1)
		return 2;
	(void)count_lock;
	for (i = 0; i < n; i++)
		pthread_create(&t[i], NULL, fetch, NULL);
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	assert(written == (long)n * pieces * PIECE);
	return 0;
}
