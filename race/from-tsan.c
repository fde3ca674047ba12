/* race/from-tsan.c - reports of ThreadSanitizer, from clang, gcc or Go.
 *
 *	WARNING: ThreadSanitizer: data race (pid=6341)
 *	  Write of size 4 at 0x5555569e4698 by thread T2:
 *	    #0 f /tmp/t.c:4:46 (t.tsan+0xe45b1)
 *
 *	  Previous write of size 4 at 0x5555569e4698 by thread T1:
 *	    #0 f /tmp/t.c:4:46 (t.tsan+0xe45b1)
 *
 *	  Location is global 'count' of size 4 at 0x5555569e4698
 *
 * Each line is looked at for itself, so other text between them does no harm: a test suite's output,
 * the logs of several processes one after the other. The place of an access is its innermost frame
 * that has a line and is not an interceptor's. A report without its second stack was cut off. */
#include "race/reports.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct race_reports *ret;
	struct race_report report;
	bool open;	 /* inside a report of a race */
	int sides;	 /* accesses seen */
	bool collecting; /* frames belong to the last access */
};

static void finish(struct reader *r)
{
	if (r->open && r->sides < 2) {
		r->ret->cut++;
		report_deinit(&r->report);
	} else if (r->open) {
		reports_take(r->ret, &r->report);
	}
	r->open = r->collecting = false;
	r->sides = 0;
}

static bool contains(const char *line, const char *word)
{
	return strstr(line, word) != NULL;
}

/* "Previous atomic write of size 4 at 0x... by thread T1 (mutexes: write M1):" */
static bool is_access(const char *line)
{
	static const char *const kinds[] = { "Write of size ",
					     "Read of size ",
					     "Atomic write of size ",
					     "Atomic read of size ",
					     "Previous write of size ",
					     "Previous read of size ",
					     "Previous atomic write of size ",
					     "Previous atomic read of size " };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strncmp(line, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

static bool is_system(const char *file, size_t len)
{
	static const char *const parts[] = { "/compiler-rt/", "/libsanitizer/", "/usr/include/",
					     "tsan_interceptors", "/usr/lib/" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (memmem(file, len, parts[i], strlen(parts[i])))
			return true;
	return false;
}

/* A number at the end of text[0..*len), behind a colon: cut off and returned; 0 when there is none. */
static uint32_t take_number(const char *text, size_t *len)
{
	size_t n = *len;
	uint64_t value = 0;

	while (n && isdigit((unsigned char)text[n - 1]))
		n--;
	if (n == *len || !n || text[n - 1] != ':' || *len - n > 9)
		return 0;
	for (size_t i = n; i < *len; i++)
		value = value * 10 + (uint64_t)(text[i] - '0');
	*len = n - 1;
	return (uint32_t)value;
}

/* Where " (prog+0x12)" begins; the end of the line when the frame names no module. */
static size_t module_at(const char *frame)
{
	for (const char *m = strstr(frame, " ("); m; m = strstr(m + 1, " (")) {
		const char *plus = m + 2 + strcspn(m + 2, "+)");

		if (strncmp(plus, "+0x", 3) == 0)
			return (size_t)(m - frame);
	}
	return strlen(frame);
}

/* "#1 ns::f(int, char) /dir/x.cc:12:3 (prog+0x12)": the place is the last word before the module; a
 * function's name may hold blanks and parentheses. */
static void take_frame(struct reader *r, const char *line)
{
	struct report_place *p = &r->report.place[r->sides - 1];
	const char *name = strchr(line, ' '), *file;
	uint32_t first, last;
	size_t len;

	if (p->line || !name)
		return;
	name++;
	len = module_at(name);
	last = take_number(name, &len);
	first = last ? take_number(name, &len) : 0;
	if (!last)
		return;
	for (file = name + len; file > name && file[-1] != ' ';)
		file--;
	if (file == name || is_system(file, (size_t)(name + len - file)))
		return;
	p->line = first ? first : last;
	p->column = first ? last : 0;
	p->file = xstrndup(file, (size_t)(name + len - file));
	p->function = xstrndup(name, (size_t)(file - 1 - name));
}

/* "Location is global 'count' of size 4 at" */
static void take_object(struct reader *r, const char *line)
{
	const char *begin = strchr(line, '\''), *end = begin ? strchr(begin + 1, '\'') : NULL;

	if (contains(line, "global") && end && !r->report.object)
		r->report.object = xstrndup(begin + 1, (size_t)(end - begin - 1));
}

static void take_line(struct reader *r, const char *line)
{
	line += strspn(line, " \t");
	if (contains(line, "WARNING: ThreadSanitizer:")) {
		finish(r);
		r->open = contains(line, "data race") || contains(line, "(race)");
	} else if (!r->open) {
		return;
	} else if (strncmp(line, "SUMMARY: ", 9) == 0 || strncmp(line, "=====", 5) == 0) {
		finish(r);
	} else if (is_access(line)) {
		r->collecting = r->sides < 2;
		if (r->collecting)
			r->report.place[r->sides++].writes = contains(line, "rite of");
	} else if (*line == '#' && r->collecting) {
		take_frame(r, line);
	} else if (strncmp(line, "Location is ", 12) == 0) {
		take_object(r, line);
		r->collecting = false;
	} else if (!*line) {
		r->collecting = false;
	}
}

void reports_from_tsan(const char *text, size_t len, struct race_reports *ret)
{
	struct reader r = { .ret = ret };
	const char *end = text + len;

	ret->tool = "ThreadSanitizer";
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		char *line = xstrndup(text, (size_t)(stop - text));

		line[strcspn(line, "\r")] = 0;
		take_line(&r, line);
		free(line);
		text = stop + 1;
	}
	/* the last one needs its end: without it, something may be missing */
	finish(&r);
}
