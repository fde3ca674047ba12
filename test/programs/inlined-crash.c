/* A crash three inlined functions deep. Without a line of the middle ones, the stack does not say
 * which of two uses it was. */
#include <pthread.h>
#include <stddef.h>

#define INLINED static inline __attribute__((always_inline))

static int value = 1;
static int *volatile shared = &value;

INLINED int load(int *p)
{
	return *(volatile int *)p;
}

INLINED int first(void)
{
	return load(&value);
}

INLINED int second(void)
{
	return shared ? load(shared) : 0; /* look, then use */
}

static void *use(void *arg)
{
	return (void *)(size_t)(first() + second());
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, use, NULL);
	shared = NULL;
	pthread_join(t, NULL);
	return 0;
}
