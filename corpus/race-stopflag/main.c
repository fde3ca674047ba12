/* race-stopflag - the worker does at most ten rounds and stops early when asked to.   usage: main */
#include "../race.h"

static volatile int stop, heartbeat;

static void *worker(void *arg)
{
	int i, stopped = 0;

	for (i = 0; i < 10 && !stopped; i++) {
		GUARD();
		heartbeat = i; /* BUG:b */
		stopped = stop; /* BUG:a */
		UNGUARD();
	}
	return arg;
}

static void *boss(void *arg)
{
	GUARD();
	if (heartbeat >= 0) /* BUG:b */
		stop = 1; /* BUG:a */
	UNGUARD();
	return arg;
}

int main(void)
{
	return run(worker, boss);
}
