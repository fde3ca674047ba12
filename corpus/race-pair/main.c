/* race-pair - low <= high is always true, except between the two stores.   usage: main */
#include "../race.h"

static volatile int low = 1, high = 2;

static void *mover(void *arg)
{
	GUARD();
	low = 11; /* BUG:a */
	high = 12; /* BUG:b */
	UNGUARD();
	return arg;
}

static void *checker(void *arg)
{
	int l, h;

	GUARD();
	l = low; /* BUG:a */
	h = high; /* BUG:b */
	UNGUARD();
	assert(l <= h);
	return arg;
}

int main(void)
{
	return run(mover, checker);
}
