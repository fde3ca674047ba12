/* race-countdown - stop at exactly zero, with two threads counting.   usage: main
 * Cure: test and count under the lock. */
#include "../race.h"

static volatile unsigned left = 4;

static void *counter(void *arg)
{
	int more = 1;

	while (more) {
		GUARD();
		more = left != 0; /* BUG:a */
		if (more)
			left--; /* BUG:a */
		UNGUARD();
	}
	return arg;
}

int main(void)
{
	return run(counter, counter);
}
