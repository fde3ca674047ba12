/* cc/expand/bodies/arguments.c - private memory for the arguments of a call (cc/expand/arguments.c). */
#include "cc/expand/bodies/body.h"

void *realloc(void *p, size_t n);

/* At most `most` bytes of a string, and an end. One pass: what was read is what is used. */
INSIDE char *take_text(const char *s, size_t most)
{
	size_t room = 64, i = 0;
	char *d, c;

	if (!s)
		return NULL;
	d = malloc(room);
	for (; i < most && (c = s[i]); i++) {
		d[i] = c;
		if (i + 1 == room) {
			room *= 2;
			d = realloc(d, room);
		}
	}
	d[i] = 0;
	return d;
}

BODY void *body_in_text(const char *s)
{
	return take_text(s, SIZE_MAX);
}

BODY void *body_in_some_text(const char *s, size_t most)
{
	return take_text(s, most);
}

BODY void *body_in_bytes(const char *s, size_t n)
{
	char *d = s ? malloc(n + 1) : NULL;

	if (d)
		copy_up(d, s, n);
	return d;
}

/* For what the call will write to d. */
BODY void *body_room(const char *d, size_t n)
{
	return d ? malloc(n + 1) : NULL;
}

BODY void body_out_bytes(char *d, const char *t, size_t n)
{
	if (d)
		copy_up(d, t, n);
}

BODY void body_out_text(char *d, const char *t, uint64_t result)
{
	if (d && result)
		copy_up(d, t, text_length(t) + 1);
}

BODY void body_release(void *t)
{
	free(t);
}

/* A result that points into the private copy t of n bytes means the same place of d. */
BODY void *body_result(char *result, char *t, char *d, size_t n)
{
	return (uintptr_t)result - (uintptr_t)t <= n ? d + (result - t) : result;
}
