/* race-counter - lost updates of a counter that is shown, and a flag that both set to 1.   usage: main */
#include "../race.h"

static volatile int count, dirty;

static void *adder(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 2; i++) {
		GUARD();
		count++; /* BUG:a */
		dirty = 1; /* BUG:b */
		UNGUARD();
	}
	return NULL;
}

int main(void)
{
	int status = run(adder, adder);

	printf("%d %d\n", count, dirty);
	return status;
}
