#include "base/log.h"

#include "base/printable.h"
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The one place in the tool with process-wide state: how this process talks to its person. */
static int level;
static const char *debug_domains;
static bool colors;
static struct {
	double start, last;
	bool shown;
} line;

void log_set_level(int value)
{
	level = value;
}

void log_set_debug(const char *domains)
{
	debug_domains = domains;
}

static void print(const char *prefix, const char *fmt, va_list ap)
{
	struct strbuf raw = { 0 }, line = { 0 };

	progress_done();
	strbuf_vaddf(&raw, fmt, ap);
	strbuf_add_printable(&line, strbuf_str(&raw), "\n\t");
	fprintf(stderr, "%s%s\n", prefix, strbuf_str(&line));
	strbuf_deinit(&raw);
	strbuf_deinit(&line);
}

#define PRINT(prefix)                                                                              \
	do {                                                                                       \
		va_list ap;                                                                        \
		va_start(ap, fmt);                                                                 \
		print(prefix, fmt, ap);                                                            \
		va_end(ap);                                                                        \
	} while (0)

void log_note(const char *fmt, ...)
{
	if (level >= 0)
		PRINT("unplait: ");
}

void log_error(const char *fmt, ...)
{
	PRINT("unplait: ");
}

void log_warn(const char *fmt, ...)
{
	PRINT("unplait: warning: ");
}

void log_verbose(const char *fmt, ...)
{
	if (level >= 1)
		PRINT("unplait: ");
}

bool log_debug_on(const char *domain, int wanted)
{
	size_t len = strlen(domain);

	for (const char *p = debug_domains; p && *p;
	     p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		if (strncmp(p, domain, len) == 0 && (p[len] == '\0' || p[len] == ','))
			return wanted <= 1;
		if (strncmp(p, domain, len) == 0 && p[len] == ':')
			return wanted <= atoi(p + len + 1);
	}
	return false;
}

void log_debug_line(const char *domain, const char *fmt, ...)
{
	fprintf(stderr, "[%s] ", domain);
	PRINT("");
}

static double seconds_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

double clock_seconds(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

double work_seconds(void)
{
	return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

void progress(const char *fmt, ...)
{
	double now = clock_seconds();
	va_list ap;

	if (level < 0 || !isatty(STDERR_FILENO))
		return;
	if (line.start == 0)
		line.start = now;
	if (now - line.start < 1 || now - line.last < 0.1)
		return;
	line.last = now;
	line.shown = true;
	fputs("\r\033[K", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fflush(stderr);
}

void progress_done(void)
{
	if (line.shown)
		fputs("\r\033[K", stderr);
	line.shown = false;
	line.start = 0;
}

bool color_set(const char *when)
{
	if (strcmp(when, "always") == 0)
		colors = true;
	else if (strcmp(when, "never") == 0)
		colors = false;
	else if (strcmp(when, "auto") == 0)
		colors = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	else
		return false;
	return true;
}

const char *color(enum color c)
{
	static const char *const codes[] = {
		[COLOR_OFF] = "\033[0m",    [COLOR_BOLD] = "\033[1m",
		[COLOR_DIM] = "\033[2m",    [COLOR_RED] = "\033[31m",
		[COLOR_GREEN] = "\033[32m", [COLOR_YELLOW] = "\033[33m",
		[COLOR_BLUE] = "\033[34m",  [COLOR_MAGENTA] = "\033[35m",
		[COLOR_CYAN] = "\033[36m",
	};

	return colors ? codes[c] : "";
}
