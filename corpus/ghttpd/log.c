/* log.c - one line per event, on standard error. */
#include <stdarg.h>
#include <stdio.h>

#include "ghttpd.h"

struct log {
	char line[200];
	void (*put)(const char *line);
	unsigned lines;
};

static void put_stderr(const char *line)
{
	fprintf(stderr, "ghttpd: %s\n", line);
}

static struct log the_log = { .put = put_stderr };

#ifndef FIXED
/* As much of printf as the log needs: %s and %d, into `to`, however long it gets. */
static void format(char *to, const char *fmt, va_list ap)
{
	for (; *fmt; fmt++) {
		if (*fmt != '%') {
			*to++ = *fmt;
			continue;
		}
		if (*++fmt == 's') {
			const char *s = va_arg(ap, const char *);

			while (*s)
				*to++ = *s++; /* BUG:a */
		} else {
			to += snprintf(to, 12, "%d", va_arg(ap, int));
		}
	}
	*to = '\0';
}
#endif

void log_message(const char *fmt, ...)
{
	struct log *log = &the_log;
	va_list ap;

	va_start(ap, fmt);
#ifdef FIXED
	vsnprintf(log->line, sizeof(log->line), fmt, ap);
#else
	format((char *)log, fmt, ap);
#endif
	va_end(ap);
	log->lines++;
	log->put(log->line); /* BUG:b */
}
