/* race-null - a table is dropped while it may be in use. The number of lookups is counted racily too,
 * but nobody ever looks at it.   usage: main */
#include "../race.h"

static int numbers[4] = { 1, 2, 3, 4 };
static int *volatile table = numbers;
static volatile long lookups;

static void *reader(void *arg)
{
	int sum = 0;

	(void)arg;
	GUARD();
	lookups++; /* BUG:b */
	if (table) /* BUG:a */
		sum = table[2]; /* BUG:a */
	UNGUARD();
	return (void *)(long)sum;
}

static void *dropper(void *arg)
{
	(void)arg;
	GUARD();
	lookups++; /* BUG:b */
	table = NULL; /* BUG:a */
	UNGUARD();
	return NULL;
}

int main(void)
{
	return run(reader, dropper);
}
