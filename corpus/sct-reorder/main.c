/* reorder - a pair of variables that is written in two steps.
 *
 * N threads: N-1 setters store a=1, then b=-1; one checker wants to see either none or both.
 * It fails when its reads and the two stores of the first setter overlap, so the more setters
 * there are, the rarer the failure is under random scheduling.
 * Cure: one mutex around the pair.   usage: main [threads=3] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t pair_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int a, b;

static void pair_enter(void)
{
#ifdef FIXED
	pthread_mutex_lock(&pair_lock);
#endif
}

static void pair_leave(void)
{
#ifdef FIXED
	pthread_mutex_unlock(&pair_lock);
#else
	(void)pair_lock;
#endif
}

static void *set_thread(void *arg)
{
	(void)arg;
	pair_enter();
	a = 1; /* BUG:a */
	b = -1;
	pair_leave();
	return NULL;
}

static void *check_thread(void *arg)
{
	int x, y;

	(void)arg;
	pair_enter();
	x = a;
	y = b; /* BUG:b */
	pair_leave();
	assert((x == 0 && y == 0) || (x == 1 && y == -1));
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 3;
	pthread_t *t;

	if (n < 2 || n > 1000)
		return 2;
	t = calloc(n, sizeof(*t));
	assert(t);
	for (i = 0; i < n; i++)
		pthread_create(&t[i], NULL, i < n - 1 ? set_thread : check_thread, NULL);
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
	return 0;
}
