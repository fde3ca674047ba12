/* rewind/ask-parse.c - see ask.h: the words of a question. */
#include "rewind/ask.h"

#include "base/err.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_spaces(const char *p)
{
	return p + strspn(p, " \t\n");
}

/* Pass over these words, with any white space between them. */
static bool take_words(const char **p, const char *words)
{
	const char *at = skip_spaces(*p);

	while (*words) {
		size_t n = strcspn(words, " ");

		if (strncmp(at, words, n) != 0 || (at[n] && !isspace((unsigned char)at[n])))
			return false;
		at = skip_spaces(at + n);
		words = skip_spaces(words + n);
	}
	*p = at;
	return true;
}

/* "queue.c:41" */
static bool take_place(const char **p, struct ask_place *ret)
{
	const char *at = skip_spaces(*p);
	size_t n = strcspn(at, " \t\n"), colon = n;
	char *end;
	unsigned long line;

	while (colon > 0 && at[colon] != ':')
		colon--;
	if (colon == 0 || colon >= sizeof(ret->file) || !isdigit((unsigned char)at[colon + 1]))
		return false;
	line = strtoul(at + colon + 1, &end, 10);
	if (end != at + n || !line || line > INT32_MAX)
		return false;
	snprintf(ret->file, sizeof(ret->file), "%.*s", (int)colon, at);
	ret->line = (unsigned)line;
	*p = skip_spaces(end);
	return true;
}

static bool take_thread(const char **p, char *ret, size_t size)
{
	const char *at = skip_spaces(*p);
	size_t n;

	take_words(&at, "thread");
	n = strspn(at, "0123456789.");
	if (!n || n >= size)
		return false;
	snprintf(ret, size, "%.*s", (int)n, at);
	*p = at + n;
	return true;
}

static bool parse(const char *p, struct question *q)
{
	if (take_words(&p, "state at")) {
		q->kind = ASK_STATE;
		return take_place(&p, &q->from) && !*p;
	}
	if (take_words(&p, "who wrote")) {
		q->kind = ASK_WRITER;
		if (!*p || strlen(p) >= sizeof(q->expression))
			return false;
		snprintf(q->expression, sizeof(q->expression), "%s", p);
		return true;
	}
	q->kind = ASK_PREEMPTED;
	return take_words(&p, "was") && take_thread(&p, q->thread, sizeof(q->thread)) &&
	       take_words(&p, "preempted between") && take_place(&p, &q->from) &&
	       take_words(&p, "and") && take_place(&p, &q->to) && !*p;
}

struct err *question_parse(const char *text, struct question *ret)
{
	*ret = (struct question){ .text = text };
	if (parse(text, ret))
		return NULL;
	return err_new(ERR_USAGE,
		       "--ask: cannot understand `%s'; ask 'state at FILE:LINE', 'who wrote "
		       "EXPRESSION' or 'was THREAD preempted between FILE:LINE and FILE:LINE'",
		       text);
}
