/* race-lastwriter - who writes last is seen.   usage: main
 * Cure: the larger one wins, under the lock. */
#include "../race.h"

static volatile int winner;

static void claim(int value)
{
	GUARD();
#ifdef FIXED
	if (value > winner)
#endif
		winner = value; /* BUG:a */
	UNGUARD();
}

static void *one(void *arg)
{
	claim(1);
	return arg;
}

static void *two(void *arg)
{
	claim(2);
	return arg;
}

int main(void)
{
	int status = run(one, two);

	printf("winner %d\n", winner);
	return status;
}
