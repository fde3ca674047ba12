/* A length of a header is less than what was read already; the difference goes to memcpy as a huge number
 * (CVE-2014-9862, CVE-2016-10190). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chunk {
	int size, done;
	char *data;
};

static char wire[64] = "0123456789abcdef0123456789abcdef";

static __attribute__((noinline)) int left(const struct chunk *c)
{
	return c->size - c->done; /* BUG:a */
}

static __attribute__((noinline)) void take(struct chunk *c)
{
	memcpy(c->data + c->done, wire, (size_t)left(c));
	c->done = c->size;
}

int main(int argc, char **argv)
{
	struct chunk c = { .size = atoi(argc > 1 ? argv[1] : "4"), .done = 6, .data = malloc(64) };

	take(&c);
	return c.data[0];
}
