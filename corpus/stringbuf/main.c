/* stringbuf: append() reads the length of the other buffer, and uses it when it no longer holds.
 *
 * Every operation of the buffer takes its lock, as in the Java library's StringBuffer, and so each one is atomic. But
 * append() calls two of them on its argument: length(), and then get_chars() with that length. When another
 * thread erases in between, the argument is shorter than it was said to be, and get_chars() refuses.
 *
 * The cure keeps the argument locked over both calls (the lock is recursive, as Java's are).
 *
 * usage: stringbuf [ROUNDS] */
#include "stringbuf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static struct stringbuf *shared;
static int rounds = 1;

/* Shorten and refill the shared buffer. */
static void *eraser(void *arg)
{
	(void)arg;
	for (int i = 0; i < rounds; i++) {
		stringbuf_erase(shared, 0, 3);
		stringbuf_append_text(shared, "xyz");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	struct stringbuf *mine;

	rounds = argc > 1 ? atoi(argv[1]) : rounds;
	shared = stringbuf_new("abcdef");
	mine = stringbuf_new("");
	pthread_create(&thread, NULL, eraser, NULL);
	for (int i = 0; i < rounds; i++)
		stringbuf_append(mine, shared);
	pthread_join(thread, NULL);
	assert(stringbuf_length(mine) >= 3 * rounds);
	stringbuf_free(mine);
	stringbuf_free(shared);
	return 0;
}
