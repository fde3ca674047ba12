/* race-cachefill - who finds the cache unfilled fills it; all fill in the same.   usage: main */
#include "../race.h"

static volatile int valid, cached;

static int square_sum(void)
{
	int i, sum = 0;

	for (i = 1; i <= 10; i++)
		sum += i * i;
	return sum;
}

static int get(void)
{
	int value;

	GUARD();
	if (!valid) { /* BUG:a */
		cached = square_sum(); /* BUG:b */
		valid = 1; /* BUG:a */
	}
	value = cached; /* BUG:b */
	UNGUARD();
	return value;
}

static void *user(void *arg)
{
	assert(get() == 385);
	return arg;
}

int main(void)
{
	return run(user, user);
}
