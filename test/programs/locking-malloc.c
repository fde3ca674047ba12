/* A program that brings its own malloc, behind a mutex: libc calls it while it makes a thread. The counter is lost without
 * FIXED. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, counting = PTHREAD_MUTEX_INITIALIZER;
static char pool[1 << 22];
static size_t used;
static int counter;

void *malloc(size_t n)
{
	char *p;

	n = (n + 31) & ~15ul;
	pthread_mutex_lock(&lock);
	p = pool + used;
	used += n;
	pthread_mutex_unlock(&lock);
	if (used > sizeof(pool))
		return NULL;
	*(size_t *)p = n - 16;
	return p + 16;
}

void free(void *p)
{
	pthread_mutex_lock(&lock);
	(void)p;
	pthread_mutex_unlock(&lock);
}

void *calloc(size_t a, size_t b)
{
	void *p = malloc(a * b);

	return p ? memset(p, 0, a * b) : NULL;
}

void *realloc(void *old, size_t n)
{
	void *p = malloc(n);
	size_t had = old ? ((size_t *)old)[-2] : 0;

	if (old && p)
		memcpy(p, old, had < n ? had : n);
	return p;
}

static void *work(void *arg)
{
	for (int i = 0; i < 3; i++) {
		int *p = malloc(16);
#ifdef FIXED
		pthread_mutex_lock(&counting);
#endif
		*p = counter;
		counter = *p + 1;
#ifdef FIXED
		pthread_mutex_unlock(&counting);
#endif
		free(p);
	}
	return arg;
}

int main(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, &counting);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	if (counter != 9)
		abort();
	return 0;
}
