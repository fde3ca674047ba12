/* race-verbose - a progress value that only -v shows.   usage: main [-v]
 * Cure: the larger one stays. */
#include "../race.h"

static volatile int progress;

static void report(int value)
{
	GUARD();
#ifdef FIXED
	if (value > progress)
#endif
		progress = value; /* BUG:a */
	UNGUARD();
}

static void *first(void *arg)
{
	report(50);
	return arg;
}

static void *second(void *arg)
{
	report(100);
	return arg;
}

int main(int argc, char **argv)
{
	int status = run(first, second);

	if (argc > 1 && !strcmp(argv[1], "-v"))
		printf("%d %%\n", progress);
	return status;
}
