/* race-logger - two threads set a logger up and log through it.   usage: main */
#include "../race.h"

static volatile int level, messages, last_writer;

static void log_message(int writer, int importance)
{
	GUARD();
	level = 2; /* BUG:a */
	if (importance >= level) { /* BUG:a */
		messages++; /* BUG:b */
		last_writer = writer; /* BUG:c */
	}
	UNGUARD();
}

static void *first(void *arg)
{
	log_message(1, 3);
	log_message(1, 1);
	return arg;
}

static void *second(void *arg)
{
	log_message(2, 2);
	return arg;
}

int main(void)
{
	int status = run(first, second);

	printf("%d messages\n", messages);
	return status;
}
