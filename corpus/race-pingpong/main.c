/* race-pingpong - strict alternation by spinning.   usage: main
 * Cure: an atomic turn. */
#include "../race.h"

#ifdef FIXED
static _Atomic int turn;
#else
static volatile int turn;
#endif
static volatile int ball;

static void play(int me)
{
	int i;

	for (i = 0; i < 3; i++) {
		while (turn != me) /* BUG:a */
			sched_yield();
		ball = ball + 1; /* BUG:b */
		turn = 1 - me; /* BUG:a */
	}
}

static void *ping(void *arg)
{
	play(0);
	return arg;
}

static void *pong(void *arg)
{
	play(1);
	return arg;
}

int main(void)
{
	int status = run(ping, pong);

	printf("%d\n", ball);
	return status;
}
