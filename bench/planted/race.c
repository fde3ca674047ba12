/* bench/planted/race.c - the races. Each fails in some interleavings only, by abort() behind a marker with the bug's
 * number. Accesses are volatile and lie in functions of their own, so that no optimiser merges them. */
#include "race.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile long x, y;

static void fail(int number)
{
	fprintf(stderr, "PLANTED %d\n", number);
	abort();
}

static long me(void)
{
	return (long)pthread_self();
}

static void overwritten(int number)
{
	x = me();
	if (x != me())
		fail(number);
}

static void torn(int number, int side)
{
	static _Thread_local long n;
	long a, b;

	if (side == 0) {
		n++;
		x = n;
		y = n;
		return;
	}
	a = x;
	b = y;
	if (a != b)
		fail(number);
}

static void early(int number, int side)
{
	if (side == 0)
		x = 1;
	else if (!x)
		fail(number);
}

static void twice(int number)
{
	long a, b;

	x = me();
	a = x;
	b = x;
	if (a != me() && b != me() && a != b)
		fail(number);
}

static void handoff(int number, int side)
{
	if (side == 1) {
		if (x)
			y = 1;
		return;
	}
	y = 0;
	x = 1;
	x = 0;
	if (y)
		fail(number);
}

static void entered(int number)
{
	if (x)
		return;
	x = 1;
	y = y + 1;
	if (y > 1)
		fail(number);
	y = y - 1;
	x = 0;
}

/* x goes up to 2 and y follows, step by step; a thread that is late starts again. */
static void relay(int number, int side)
{
	if (side == 1) {
		if (x != 1)
			return;
		y = 1;
		if (x == 2)
			y = 2;
		return;
	}
	y = 0;
	x = 1;
	if (y == 1) {
		x = 2;
		if (y == 2)
			fail(number);
	}
	x = 0;
}

void race(int number, int kind, int side)
{
	switch (kind) {
	case RACE_OVERWRITTEN:
		if (side == 0)
			overwritten(number);
		break;
	case RACE_TORN:
		torn(number, side);
		break;
	case RACE_EARLY:
		early(number, side);
		break;
	case RACE_TWICE:
		if (side == 0)
			twice(number);
		break;
	case RACE_HANDOFF:
		handoff(number, side);
		break;
	case RACE_ENTERED:
		if (side == 0)
			entered(number);
		break;
	case RACE_RELAY:
		relay(number, side);
		break;
	default:
		break;
	}
}
