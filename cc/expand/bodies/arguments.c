/* cc/expand/bodies/arguments.c - private memory for the arguments of a call (cc/expand/arguments.c). */
#include "cc/expand/bodies/body.h"

void *realloc(void *p, size_t n);

/* `local` has SMALL bytes on the stack of the caller: a signal handler may call write, but not
 * malloc. Whatever does not fit is allocated. */
INSIDE char *more_room(char *d, char *local, size_t n)
{
	char *more;

	if (d != local)
		return realloc(d, 2 * n);
	more = malloc(2 * n);
	__builtin_memcpy(more, local, n);
	return more;
}

/* At most `most` bytes of a string, and an end. One pass: what was read is what is used. */
INSIDE char *take_text(const char *s, size_t most, char *local)
{
	size_t room = SMALL, i = 0;
	char *d = local, c;

	if (!s)
		return NULL;
	for (; i < most && (c = s[i]); i++) {
		d[i] = c;
		if (i + 1 == room) {
			d = more_room(d, local, room);
			room *= 2;
		}
	}
	d[i] = 0;
	return d;
}

BODY void *body_in_text(const char *s, char *local)
{
	return take_text(s, SIZE_MAX, local);
}

BODY void *body_in_some_text(const char *s, char *local, size_t most)
{
	return take_text(s, most, local);
}

/* For what the call will write to d. */
BODY void *body_room(const char *d, char *local, size_t n)
{
	if (!d)
		return NULL;
	return n < SMALL ? local : malloc(n + 1);
}

BODY void *body_in_bytes(const char *s, char *local, size_t n)
{
	char *d = body_room(s, local, n);

	if (d)
		copy_up(d, s, n);
	return d;
}

BODY void body_out_bytes(char *d, const char *t, size_t n)
{
	if (d)
		copy_up(d, t, n);
}

/* What sprintf makes comes conversion by conversion, and short pieces of text byte by byte: so all of it does. */
BODY void body_out_printed(char *d, const char *t, size_t n)
{
	if (!d)
		return;
	if (n > BY_WORDS) {
		copy_up(d, t, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		d[i] = t[i];
}

BODY void body_out_text(char *d, const char *t, uint64_t result)
{
	if (d && result)
		copy_up(d, t, text_length(t) + 1);
}

BODY void body_release(void *t, char *local)
{
	if (t != local)
		free(t);
}

/* A result that points into the private copy t of n bytes means the same place of d. */
BODY void *body_result(char *result, char *t, char *d, size_t n)
{
	return (uintptr_t)result - (uintptr_t)t <= n ? d + (result - t) : result;
}
