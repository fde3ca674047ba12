/* race-lasterror - two threads convert numbers; what is too large is an error, kept in one place.
 * usage: main [number=4]
 * Cure: the first error stays, by thread number. */
#include "../race.h"

static volatile int last_error, calls;
static int number = 4;

static void convert(int id)
{
	GUARD();
	calls++; /* BUG:b */
#ifdef FIXED
	if (number > 10 && (!last_error || id < last_error))
#else
	if (number > 10)
#endif
		last_error = id; /* BUG:a */
	UNGUARD();
}

static void *first(void *arg)
{
	convert(1);
	return arg;
}

static void *second(void *arg)
{
	convert(2);
	return arg;
}

int main(int argc, char **argv)
{
	int status;

	if (argc > 1)
		number = atoi(argv[1]);
	status = run(first, second);
	if (last_error)
		printf("thread %d: out of range\n", last_error);
	return status;
}
