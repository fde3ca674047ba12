/* race-bits - one word, two bits: one constant and looked at, the other changed by a single writer.
 * usage: main */
#include "../race.h"

enum { VALID = 1, SEEN = 2 };

static volatile unsigned flags = VALID;

static void *marker(void *arg)
{
	GUARD();
	flags |= SEEN; /* BUG:a */
	UNGUARD();
	return arg;
}

static void *looker(void *arg)
{
	unsigned valid;

	GUARD();
	valid = flags & VALID; /* BUG:a */
	UNGUARD();
	assert(valid);
	return arg;
}

int main(void)
{
	return run(marker, looker);
}
