#include "cc/times.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static clock_t last;

void times_begin(void)
{
	last = clock();
}

void times_note(const char *what, int variant)
{
	static const char *const names[] = { "all", "plain", "path", "full", "graph", "order" };
	clock_t now = clock();

	if (getenv("UNPLAIT_TIMES"))
		fprintf(stderr, "unplait: time: %s: %s: %.2f s\n", names[variant + 1], what,
			(double)(now - last) / CLOCKS_PER_SEC);
	last = now;
}
