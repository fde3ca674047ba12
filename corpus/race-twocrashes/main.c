/* race-twocrashes - a reader walks a buffer that the other thread empties: pointer, then length.
 * usage: main */
#include "../race.h"

static int numbers[4] = { 1, 2, 3, 4 };
static int *volatile buffer = numbers;
static volatile int length = 4, version;

static void *emptier(void *arg)
{
	GUARD();
	buffer = NULL; /* BUG:a */
	length = 0; /* BUG:b */
	version++; /* BUG:c */
	UNGUARD();
	return arg;
}

static void *reader(void *arg)
{
	int i, sum = 0;

	GUARD();
	for (i = 0; i < length; i++) /* BUG:b */
		sum += buffer[i]; /* BUG:a */
	version++; /* BUG:c */
	UNGUARD();
	assert(sum == 0 || sum == 10);
	return arg;
}

int main(void)
{
	return run(emptier, reader);
}
