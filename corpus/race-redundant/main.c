/* race-redundant - both threads work out the same and store the same.   usage: main */
#include "../race.h"

static volatile int initialised, table_size;

static int compute(int n)
{
	int size = 1;

	while (size < n)
		size *= 2;
	return size;
}

static void *setup(void *arg)
{
	GUARD();
	table_size = compute(100); /* BUG:b */
	initialised = 1; /* BUG:a */
	UNGUARD();
	return arg;
}

int main(void)
{
	int status = run(setup, setup);

	printf("%d %d\n", initialised, table_size);
	return status;
}
