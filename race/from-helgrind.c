/* race/from-helgrind.c - races in the XML of valgrind's helgrind and DRD.
 *
 *	<error> ... <kind>Race</kind> ...
 *	  <stack> <frame> <fn>f</fn> <dir>/tmp</dir> <file>t.c</file> <line>4</line> </frame> ... </stack>
 *	  <xauxwhat>This conflicts with a previous write ...</xauxwhat>
 *	  <stack> ... </stack>
 *	</error>
 *
 * Only these tags matter, and none of them has attributes, so the text is searched for them rather
 * than parsed: a file that was cut off simply has fewer. The first two stacks of an error are the
 * two accesses. A frame without a line (no debug information) is passed over. */
#include "race/reports.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Some text inside the file. */
struct span {
	const char *data;
	size_t len;
};

static const char *find(struct span in, const char *text)
{
	return memmem(in.data, in.len, text, strlen(text));
}

/* What stands between <tag> and </tag>, first of its kind; *in begins behind it afterwards. False:
 * there is none that is complete. */
static bool next(struct span *in, const char *tag, struct span *ret)
{
	_cleanup_(xfreep) char *open = xasprintf("<%s>", tag);
	_cleanup_(xfreep) char *close = xasprintf("</%s>", tag);
	const char *begin = find(*in, open), *end;

	if (!begin)
		return false;
	begin += strlen(open);
	ret->data = begin;
	ret->len = (size_t)(in->data + in->len - begin);
	end = find(*ret, close);
	if (!end)
		return false;
	ret->len = (size_t)(end - begin);
	in->len -= (size_t)(end + strlen(close) - in->data);
	in->data = end + strlen(close);
	return true;
}

/* Owned, without entities. NULL: no such tag. */
static char *text_of(struct span in, const char *tag)
{
	static const struct {
		const char *name;
		char c;
	} entities[] = { { "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' } };
	struct span inside;
	char *text, *to;

	if (!next(&in, tag, &inside))
		return NULL;
	text = to = xstrndup(inside.data, inside.len);
	for (const char *from = text; *from;) {
		size_t i;

		for (i = 0; i < ARRAY_SIZE(entities); i++)
			if (strncmp(from, entities[i].name, strlen(entities[i].name)) == 0)
				break;
		*to++ = i < ARRAY_SIZE(entities) ? entities[i].c : *from;
		from += i < ARRAY_SIZE(entities) ? strlen(entities[i].name) : 1;
	}
	*to = 0;
	return text;
}

static bool is_system(const char *dir)
{
	return dir && (strncmp(dir, "/usr/", 5) == 0 || strstr(dir, "sysdeps") ||
		       strncmp(dir, "./", 2) == 0);
}

/* The innermost frame of the stack that has a line. */
static void take_stack(struct span stack, struct report_place *ret)
{
	struct span frame;

	while (!ret->line && next(&stack, "frame", &frame)) {
		_cleanup_(xfreep) char *line = text_of(frame, "line"),
				       *file = text_of(frame, "file");
		_cleanup_(xfreep) char *dir = text_of(frame, "dir");

		if (!line || !file || is_system(dir))
			continue;
		ret->line = (uint32_t)strtoul(line, NULL, 10);
		ret->file = dir ? xasprintf("%s/%s", dir, file) : xstrdup(file);
		ret->function = text_of(frame, "fn");
	}
}

static void take_error(struct span error, struct race_reports *ret)
{
	_cleanup_(xfreep) char *kind = text_of(error, "kind");
	struct race_report report = { 0 };
	struct span stack, whole = error;
	int sides = 0;

	if (!kind || (strcmp(kind, "Race") != 0 && strcmp(kind, "ConflictingAccess") != 0))
		return;
	while (sides < 2 && next(&error, "stack", &stack))
		take_stack(stack, &report.place[sides++]);
	if (sides < 2) {
		ret->nameless++;
		report_deinit(&report);
		return;
	}
	report.place[0].writes = find(whole, "data race during write") != NULL;
	report.place[1].writes = find(whole, "previous write") != NULL;
	reports_take(ret, &report);
}

void reports_from_helgrind(const char *text, size_t len, struct race_reports *ret)
{
	struct span all = { text, len }, error;

	ret->tool = "helgrind";
	while (next(&all, "error", &error))
		take_error(error, ret);
	ret->cut += find(all, "<error>") != NULL;
}
