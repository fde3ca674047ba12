/* A length of the input is negative; the buffer is smaller than what is read into it, and the block behind it is
 * overwritten (CVE-2002-1496). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct session {
	void (*close)(struct session *);
	int number;
};

static char body[256];

static void close_session(struct session *s) { s->number = 0; }

static __attribute__((noinline)) char *read_body(char *to, int limit)
{
	for (int i = 0; i < limit; i++)
		to[i] = body[i]; /* BUG:a */
	return to;
}

int main(int argc, char **argv)
{
	int length = atoi(argc > 1 ? argv[1] : "-40");
	char *buffer = malloc((size_t)(length + 64));
	struct session *s = malloc(sizeof(*s));

	s->close = close_session;
	memset(body, 'x', sizeof(body) - 1);
	read_body(buffer, 64);
	s->close(s);
	free(buffer);
	return s->number;
}
