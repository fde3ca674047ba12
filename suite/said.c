/* suite/said.c - what a failing test printed, as its framework prints it: where, and what was wrong.
 *
 *	sum_test.cc:14: Failure                     GoogleTest
 *	Expected equality of these values:
 *	  s.n
 *	    Which is: 1
 *
 * The place stands in front of the framework's marker, the details are in the lines after it. */
#include "suite/framework.h"

#include "base/strbuf.h"

#include <ctype.h>
#include <stdlib.h>

enum { DETAILS = 5 };

/* "dir/file.cc:14" or "file.cc(14)"; false when it is neither. */
static bool parse_place(const char *start, size_t len, char **file, unsigned *line)
{
	size_t digits;

	if (len && start[len - 1] == ')')
		len--;
	digits = len;
	while (digits && isdigit((unsigned char)start[digits - 1]))
		digits--;
	if (digits == len || digits < 2 || !strchr(":(", start[digits - 1]))
		return false;
	*line = (unsigned)strtoul(start + digits, NULL, 10);
	*file = xstrndup(start, digits - 1);
	return true;
}

/* The rest of the line with the place in it, and the lines after it up to an empty one. */
static char *message_from(const char *at)
{
	struct strbuf sb = { 0 };

	for (int n = 0; n <= DETAILS; n++) {
		size_t len = strcspn(at, "\n");

		if (n && (!len || *at == '['))
			break;
		strbuf_addf(&sb, "%s%.*s", n ? "\n" : "", (int)len, at);
		at += len;
		if (!*at++)
			break;
	}
	return strbuf_detach(&sb);
}

bool framework_said(const struct framework *f, const char *text, char **message, char **file,
		    unsigned *line)
{
	const char *at = text;

	if (!f || !f->failed || !text)
		return false;
	while ((at = strstr(at, f->failed))) {
		const char *start = at;

		while (start > text && start[-1] != '\n')
			start--;
		while (isspace((unsigned char)*start))
			start++;
		if (start < at && parse_place(start, (size_t)(at - start), file, line)) {
			at += strspn(at, ": ");
			*message = message_from(at);
			return true;
		}
		at++;
	}
	return false;
}
