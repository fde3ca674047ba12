/* crumbs/format.c - see format.h.
 *
 * A format is cut into its lines; the line of the log must be one of them. Each is a row of texts with conversions
 * between them: the first text is looked for from left to right, a conversion takes as little as it can and
 * more when what follows does not fit. Work is bounded: formats and logs may come from anywhere. */
#include "crumbs/format.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { WORK_MOST = 200000, LETTERS_LEAST = 3 };

struct fitting {
	const char *end; /* of this line of the format */
	bool ends_line;	 /* nothing may follow */
	unsigned work;
};

/* The conversion at f ("%-5ld"): the character that says what it prints, and where it ends. */
static const char *conversion(const char *f, const char *end, char *ret)
{
	f++;
	while (f < end && strchr("-+ #0123456789.*'hlLqjzt", *f))
		f++;
	*ret = f < end ? *f : 0;
	return f < end ? f + 1 : f;
}

/* May a conversion print this character? */
static bool prints(char conversion, char c)
{
	switch (conversion) {
	case 'd':
	case 'i':
		return isdigit((unsigned char)c) || c == '-' || c == '+' || c == ' ';
	case 'u':
	case 'o':
		return isdigit((unsigned char)c) || c == ' ';
	case 'x':
	case 'X':
	case 'p':
		return isxdigit((unsigned char)c) || strchr("x (nil)", c);
	case 'n':
		return false;
	default:
		return true;
	}
}

static bool fits(struct fitting *x, const char *f, const char *line)
{
	char kind;

	while (f < x->end && (*f != '%' || f[1] == '%')) {
		if (*f != *line)
			return false;
		f += *f == '%' ? 2 : 1;
		line++;
	}
	if (f >= x->end)
		return !x->ends_line || !line[strspn(line, " \t")];
	f = conversion(f, x->end, &kind);
	for (;;) {
		if (x->work++ > WORK_MOST)
			return false;
		if (fits(x, f, line))
			return true;
		if (!*line || !prints(kind, *line))
			return false;
		line++;
	}
}

/* Letters and digits that the format itself has; all its own characters in *own. */
static unsigned letters(const char *f, const char *end, unsigned *own)
{
	unsigned n = 0;
	char kind;

	*own = 0;
	while (f < end)
		if (*f == '%' && f[1] != '%') {
			f = conversion(f, end, &kind);
		} else {
			n += isalnum((unsigned char)*f) != 0;
			++*own;
			f += *f == '%' ? 2 : 1;
		}
	return n;
}

unsigned format_fits(const char *format, const char *line)
{
	unsigned best = 0, own;

	while (*format) {
		const char *end = format + strcspn(format, "\n");
		struct fitting x = { .end = end, .ends_line = *end == '\n' };

		if (end > format && letters(format, end, &own) >= LETTERS_LEAST)
			for (const char *at = line; own > best; at++) {
				if (fits(&x, format, at))
					best = own;
				if (!*at)
					break;
			}
		format = *end ? end + 1 : end;
	}
	return best;
}

unsigned format_fits_with(const char *format, const char *text, const char *line)
{
	_cleanup_(strbuf_deinit) struct strbuf whole = { 0 };
	const char *end = format + strlen(format), *next;
	size_t len = strcspn(text, "\n");
	unsigned best = 0;
	char kind;

	for (const char *f = format; f < end; f = next) {
		next = f + 1;
		if (*f != '%')
			continue;
		next = f[1] == '%' ? f + 2 : conversion(f, end, &kind);
		if (f[1] == '%' || kind != 's')
			continue;
		strbuf_clear(&whole);
		strbuf_add(&whole, format, (size_t)(f - format));
		strbuf_add(&whole, text, len);
		strbuf_adds(&whole, next);
		best = MAX(best, format_fits(strbuf_str(&whole), line));
	}
	return best;
}
