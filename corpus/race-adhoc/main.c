/* race-adhoc - the consumer spins on a flag; the data can only be read after it was written.   usage: main
 * Cure: an atomic flag. */
#include "../race.h"

#ifdef FIXED
static _Atomic int ready;
#else
static volatile int ready;
#endif
static volatile int data;

static void *producer(void *arg)
{
	data = 42; /* BUG:b */
	ready = 1; /* BUG:a */
	return arg;
}

static void *consumer(void *arg)
{
	while (!ready) /* BUG:a */
		sched_yield();
	assert(data == 42); /* BUG:b */
	return arg;
}

int main(void)
{
	return run(producer, consumer);
}
