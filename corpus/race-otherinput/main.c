/* race-otherinput - the position is set and checked by one thread, used by the other.
 *
 * With the default argument both orders stay inside the table. With a large one, the reader that
 * comes between set and check follows the unchecked position.   usage: main [position=3] */
#include "../race.h"

enum { SIZE = 8 };

static int table[SIZE];
static volatile int position;
static int wanted = 3;

static void *mover(void *arg)
{
	GUARD();
	position = wanted; /* BUG:a */
	if (wanted >= SIZE)
		position = 0; /* BUG:a */
	UNGUARD();
	return arg;
}

static void *reader(void *arg)
{
	int at;

	GUARD();
	at = position; /* BUG:a */
	UNGUARD();
	assert(at < SIZE && table[at] == 0);
	return arg;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		wanted = atoi(argv[1]);
	if (wanted < 0)
		return 2;
	return run(mover, reader);
}
