/* run/output.c - see output.h.
 *
 * Each format is known by a marker, in the order of `formats`: the first one that occurs decides.
 * What the markers are was read from the sources of the tools that print them; none of them is
 * needed for a finding, they only make its first line say more. */
#include "run/output.h"

#include "base/map.h"
#include "base/mem.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *output_read(int fd)
{
	struct stat st;
	size_t len = 0, want;
	char *text, *line;
	off_t from;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0)
		return xstrdup("");
	want = (size_t)MIN(st.st_size, OUTPUT_MOST);
	from = st.st_size - (off_t)want;
	text = xmalloc(want + 1);
	while (len < want) {
		ssize_t n = pread(fd, text + len, want - len, from + (off_t)len);

		if (n <= 0)
			break;
		len += (size_t)n;
	}
	text[len] = '\0';
	line = from > 0 ? strchr(text, '\n') : NULL;
	if (line)
		memmove(text, line + 1, strlen(line + 1) + 1);
	return text;
}

char *output_read_file(const char *path)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char *text = output_read(fd);

	if (fd >= 0)
		close(fd);
	return text;
}

void output_follow(int fd, off_t *at)
{
	char bytes[4096];
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), *at)) > 0)
		*at += (off_t)fwrite(bytes, 1, (size_t)n, stderr);
}

/* ---- lines ---- */

static const char *line_start(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	return at;
}

/* The line without the spaces around it; NULL when nothing is left. */
static char *copy_line(const char *start)
{
	size_t n;

	start += strspn(start, " \t\r");
	n = strcspn(start, "\n");
	while (n > 0 && isspace((unsigned char)start[n - 1]))
		n--;
	return n ? xstrndup(start, n) : NULL;
}

static char *last_line(const char *text)
{
	const char *end = text + strlen(text);

	while (end > text) {
		const char *start = line_start(text, end - 1);
		char *line = copy_line(start);

		if (line)
			return line;
		end = start;
	}
	return NULL;
}

/* ---- formats ---- */

/* "==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x..." ends with a line
 * "SUMMARY: AddressSanitizer: heap-use-after-free main.c:12 in worker". */
static char *sanitizer(const char *text, const char *at)
{
	(void)text;
	return copy_line(at + strlen("SUMMARY: "));
}

/* "terminate called after throwing an instance of 'std::runtime_error'", and on the next line
 * "  what():  the queue is empty". */
static char *exception(const char *text, const char *at)
{
	const char *type = strchr(at, '\''), *what = strstr(at, "what():  ");
	const char *end = type ? strchr(type + 1, '\'') : NULL;
	_cleanup_(xfreep) char *message = what ? copy_line(what + strlen("what():  ")) : NULL;

	(void)text;
	if (!end)
		return copy_line(at);
	return xasprintf("uncaught %.*s%s%s", (int)(end - type - 1), type + 1, message ? ": " : "",
			 message ? message : "");
}

static char *whole_line(const char *text, const char *at)
{
	return copy_line(line_start(text, at));
}

static char *next_line(const char *text, const char *at)
{
	(void)text;
	return copy_line(strchr(at, '\n') + 1);
}

/* GoogleTest says "[  FAILED  ] Suite.Name (12 ms)", and before that, of a test that threw,
 * "C++ exception with description "no room" thrown in the test body." */
static char *google_test(const char *text, const char *at)
{
	_cleanup_(xfreep) char *line = whole_line(text, at);
	const char *thrown = strstr(text, "C++ exception");
	_cleanup_(xfreep) char *what = thrown && thrown < at ? whole_line(text, thrown) : NULL;
	char *time = strstr(line, " (");

	if (time && strstr(time, " ms)"))
		*time = '\0';
	return xasprintf("%s%s%s", line, what ? ": " : "", what ? what : "");
}

/* Catch2 says "main.cpp:12: FAILED:" and on the next line "  REQUIRE( x == 2 )". */
static char *catch2(const char *text, const char *at)
{
	_cleanup_(xfreep) char *where = copy_line(line_start(text, at));
	const char *next = strchr(at, '\n');
	_cleanup_(xfreep) char *what = next ? copy_line(next + 1) : NULL;

	return xasprintf("%s%s%s", where, what ? " " : "", what ? what : "");
}

struct format {
	const char *marker;
	char *(*read)(const char *text, const char *at);
	bool report; /* it is about the failure itself, whatever else was printed */
};

static const struct format formats[] = {
	{ "SUMMARY: ", sanitizer, true },
	{ ": runtime error: ", whole_line, true }, /* UBSan */
	{ "terminate called after throwing", exception, true },
	{ "terminate called", whole_line, true },
	{ "**\nERROR:", next_line, true },    /* GLib's assertions */
	{ "-ERROR **", whole_line, true },    /* g_error() */
	{ "-CRITICAL **", whole_line, true }, /* with G_DEBUG=fatal-criticals */
	{ "malloc(): ", whole_line, true },   /* glibc, from here on */
	{ "malloc_consolidate(): ", whole_line, true },
	{ "free(): ", whole_line, true },
	{ "realloc(): ", whole_line, true },
	{ "double free or corruption", whole_line, true },
	{ "corrupted size vs. ", whole_line, true },
	{ "corrupted double-linked list", whole_line, true },
	{ "corrupted unsorted chunks", whole_line, true },
	{ "munmap_chunk(): ", whole_line, true },
	{ "*** stack smashing", whole_line, true },
	{ "*** buffer overflow", whole_line, true },
	{ "The futex facility returned", whole_line, true },
	{ "Fatal glibc error: ", whole_line, true },
	{ "pure virtual method called", whole_line, true },
	{ "[  FAILED  ]", google_test, false },
	{ ": FAILED:", catch2, false },
	{ "is NOT correct!", whole_line, false }, /* doctest */
	{ ": error: in \"", whole_line, false },  /* Boost.Test */
	{ ":F:", whole_line, false },		  /* Check */
	{ ":E:", whole_line, false },
	{ "\nnot ok ", next_line, false }, /* TAP */
	{ "Assertion", whole_line, false },
	{ "assertion", whole_line, false },
	{ "FAIL", whole_line, false },
};

static char *find(const char *text, bool reports_only)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		const struct format *f = &formats[i];
		const char *at = strstr(text, f->marker);

		if (!at || (reports_only && !f->report))
			continue;
		return f->read(text, at);
	}
	return NULL;
}

char *output_report(const char *out, const char *errors)
{
	char *line = find(errors ? errors : "", true);

	return line ? line : find(out ? out : "", true);
}

char *output_headline(const char *out, const char *errors)
{
	char *line;

	out = out ? out : "";
	errors = errors ? errors : "";
	line = find(errors, false);
	if (!line)
		line = find(out, false);
	if (!line)
		line = last_line(errors);
	return line ? line : last_line(out);
}

/* ---- the same headline ---- */

/* A number that stands alone is a value; one behind a letter, a dot or a colon is part of a name,
 * or a line of a file. */
static bool is_part_of_name(char before)
{
	return isalnum((unsigned char)before) || before == '_' || before == ':' || before == '.' ||
	       before == '/' || before == '-';
}

uint64_t output_fingerprint(const char *headline)
{
	uint64_t h = 0;
	char before = ' ';

	for (const char *p = headline; *p; p++) {
		if (isdigit((unsigned char)*p) && !is_part_of_name(before)) {
			while (isalnum((unsigned char)p[1]) || p[1] == '.')
				p++; /* 0x7f12ab34, 0.25, 12ms */
			before = '#';
		} else {
			before = *p;
		}
		h = hash_u64(h ^ (uint64_t)(unsigned char)before);
	}
	return h;
}
