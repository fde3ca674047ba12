/* stack - push and pop coordinated by a flag that is raised too early.
 *
 * The pusher raises `ready` and pushes in the next critical section; the popper that trusts the
 * flag pops from an empty stack.
 * Cure: raise the flag after the push, in the same critical section.   usage: main [N=5] */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SIZE = 400 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stack[SIZE], top, rounds;
static bool ready;

static void push(int value)
{
	pthread_mutex_lock(&lock);
	assert(top < SIZE);
#ifndef FIXED
	ready = true; /* BUG:a */
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
#endif
	stack[top++] = value;
	ready = true;
	pthread_mutex_unlock(&lock);
}

static void pop(void)
{
	pthread_mutex_lock(&lock);
	if (ready) {
		assert(top > 0); /* BUG:b */
		top--;
		ready = top > 0;
	}
	pthread_mutex_unlock(&lock);
}

static void *pusher(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < rounds; i++)
		push(i);
	return NULL;
}

static void *popper(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < rounds; i++)
		pop();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t a, b;

	rounds = argc > 1 ? atoi(argv[1]) : 5;
	if (rounds < 1 || rounds > SIZE)
		return 2;
	pthread_create(&a, NULL, pusher, NULL);
	pthread_create(&b, NULL, popper, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
