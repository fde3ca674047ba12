/* synth/message.c - what the program said when it ended itself: the assertion, or libc's complaint.
 *
 * glibc keeps the text for debuggers, at __abort_msg: a length, then "prog: file.c:12: f: Assertion `x' failed." or
 * "free(): invalid pointer". Two builds name the program, folders and (in C++) functions differently, so of an
 * assertion the file's name, the line and the expression are compared. A text that is not known says nothing. */
#include "synth/study.h"

#include "base/path.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE_MOST = 4096 };

/* "file.c:12: Assertion `x' failed." of an assertion, without its last newline; all of another text. Owned. */
char *message_normal(const char *text)
{
	const char *what = strstr(text, "Assertion `"), *colon, *file;
	size_t n = strlen(text);

	while (n && text[n - 1] == '\n')
		n--;
	if (!what)
		return xstrndup(text, n);
	for (colon = text; (colon = strchr(colon, ':')) && colon < what; colon++)
		if (colon[1] >= '0' && colon[1] <= '9')
			break;
	if (!colon || colon >= what)
		return xstrndup(text, n);
	for (file = colon; file > text && file[-1] != '/' && file[-1] != ' ';)
		file--;
	return xasprintf("%.*s: %.*s",
			 (int)(colon - file + 1 + (ptrdiff_t)strspn(colon + 1, "0123456789")), file,
			 (int)(n - (size_t)(what - text)), what);
}

char *message_of_dump(const struct dump *d, struct stacks *stacks)
{
	uint64_t at = d->signal ? stacks_symbol(stacks, "__abort_msg") : 0, where;
	const char *text;

	if (!at || !dump_read(d, at, &where, sizeof(where)) || !where)
		return NULL;
	text = dump_text(d, where + sizeof(uint32_t), MESSAGE_MOST);
	return text && *text ? message_normal(text) : NULL;
}

bool message_differs(const char *want, const char *have)
{
	return want && have && strcmp(want, have) != 0;
}

/* Under control an assertion is told by the runtime; of libc's complaints there is what was printed. */
enum agreement message_of_run(const char *want, const struct run_result *r)
{
	enum agreement ret = r->errors && want && strstr(r->errors, want) ? SAME : MAYBE_SAME;
	char *have;

	if (!want)
		return SAME;
	have = message_normal(r->text ? r->text : "");
	if (strstr(want, "Assertion `") && strstr(have, "Assertion `"))
		ret = strcmp(want, have) ? NOT_SAME : SAME;
	free(have);
	return ret;
}
