/* race-refcount - the last one out releases the object; with a racy count that is nobody or both.
 * usage: main */
#include "../race.h"

static volatile int refs = 2;
static int released[2];

static int drop(void)
{
	int left;

	GUARD();
	left = refs - 1; /* BUG:a */
	refs = left; /* BUG:a */
	UNGUARD();
	return left == 0;
}

static void *first(void *arg)
{
	released[0] = drop();
	return arg;
}

static void *second(void *arg)
{
	released[1] = drop();
	return arg;
}

int main(void)
{
	int status = run(first, second);

	assert(released[0] + released[1] == 1);
	return status;
}
