/* race-statistics - approximate counters that never reach the output.   usage: main */
#include "../race.h"

static volatile long hits, misses;
static const int keys[] = { 2, 3, 5, 7 };

static int lookup(int key)
{
	int i, found = 0;

	for (i = 0; i < 4; i++)
		found |= keys[i] == key;
	GUARD();
	if (found)
		hits++; /* BUG:a */
	else
		misses++; /* BUG:b */
	UNGUARD();
	return found;
}

static void *searcher(void *arg)
{
	int i, sum = 0;

	for (i = 1; i <= 4; i++)
		sum += lookup(i);
	assert(sum == 2);
	return arg;
}

int main(void)
{
	return run(searcher, searcher);
}
