/* A program with an allocator of its own, which locks: whatever calls malloc() while the runtime starts comes through it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char heap[1 << 20];
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *malloc(size_t n)
{
	size_t *p;

	pthread_mutex_lock(&lock);
	p = (size_t *)(heap + used);
	used += (n + 31) & ~15ul;
	pthread_mutex_unlock(&lock);
	*p = n;
	return p + 2;
}

void free(void *p) { (void)p; }

void *calloc(size_t a, size_t b) { return memset(malloc(a * b), 0, a * b); }

void *realloc(void *p, size_t n)
{
	size_t old = p ? ((size_t *)p)[-2] : 0;
	void *q = malloc(n);

	return p ? memcpy(q, p, old < n ? old : n) : q;
}

static void *work(void *text)
{
	char *copy = strdup(text);
	int *p = malloc(sizeof(*p));

	*p = copy[0] - '0';
	free(copy);
	return p;
}

int main(void)
{
	pthread_t t[2];
	void *r[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, work, "1");
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], &r[i]);
	printf("%d\n", *(int *)r[0] + *(int *)r[1]);
	return 0;
}
