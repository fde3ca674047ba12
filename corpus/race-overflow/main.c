/* race-overflow - room for three items, four are offered.   usage: main */
#include "../race.h"

enum { ROOM = 3 };

static int slot[ROOM + 2];
static volatile int used;

static void put(int value)
{
	GUARD();
	if (used < ROOM) { /* BUG:a */
		int at = used; /* BUG:a */

		slot[at] = value; /* BUG:b */
		used = at + 1; /* BUG:a */
	}
	UNGUARD();
}

static void *filler(void *arg)
{
	put(1);
	put(2);
	return arg;
}

int main(void)
{
	int status = run(filler, filler);

	assert(used == ROOM && slot[ROOM] == 0 && slot[ROOM - 1] != 0); /* full, and not more */
	return status;
}
