/* race-maximum - test and set of a maximum without a lock, and a "last change" that nobody reads.
 * usage: main */
#include "../race.h"

static volatile int maximum, last_change;

static void offer(int value)
{
	GUARD();
	if (value > maximum) /* BUG:a */
		maximum = value; /* BUG:a */
	last_change = value; /* BUG:b */
	UNGUARD();
}

static void *low(void *arg)
{
	offer(3);
	return arg;
}

static void *high(void *arg)
{
	offer(8);
	return arg;
}

int main(void)
{
	int status = run(low, high);

	printf("maximum %d\n", maximum);
	return status;
}
