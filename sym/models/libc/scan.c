/* Formatted input: scanf and its relatives, over a stream or a string. */
#include "model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct in {
	FILE *file;
	const char *text;
	int taken; /* characters consumed */
};

static int next(struct in *in)
{
	int c = in->file ? fgetc(in->file) : *in->text ? (unsigned char)*in->text++ : EOF;

	if (c != EOF)
		in->taken++;
	return c;
}

static void back(struct in *in, int c)
{
	if (c == EOF)
		return;
	in->taken--;
	if (in->file)
		ungetc(c, in->file);
	else
		in->text--;
}

static int is_space(int c)
{
	return c == ' ' || (c >= 9 && c <= 13);
}

static void skip_space(struct in *in)
{
	int c;

	do
		c = next(in);
	while (is_space(c));
	back(in, c);
}

/* Collect the characters of a number into buf; the conversion itself is strtol's. */
static int take_number(struct in *in, char *buf, int width, int base, int real)
{
	int n = 0, c;

	skip_space(in);
	for (;;) {
		int digit;

		c = next(in);
		digit = (c >= '0' && c <= '9' && c - '0' < (base ? base : 10)) ||
			(base != 8 && base != 10 &&
			 ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == 'x' ||
			  c == 'X')) ||
			(n == 0 && (c == '-' || c == '+')) ||
			(real && (c == '.' || c == 'e' || c == 'E' ||
				  ((c == '-' || c == '+') && n && (buf[n - 1] | 32) == 'e')));
		if (!digit || n >= width)
			break;
		buf[n++] = (char)c;
	}
	back(in, c);
	buf[n] = 0;
	return n && !(n == 1 && (buf[0] == '-' || buf[0] == '+'));
}

static int in_set(const char *set, const char *end, int c)
{
	int invert = set < end && *set == '^', hit = 0;

	for (set += invert; set < end; set++) {
		if (set[0] == '-' && set + 1 < end && c >= (unsigned char)set[-1] &&
		    c <= (unsigned char)set[1])
			hit = 1;
		hit |= (unsigned char)*set == c;
	}
	return hit != invert;
}

static void store(void *p, long v, int size)
{
	if (size <= -2)
		*(char *)p = (char)v;
	else if (size == -1)
		*(short *)p = (short)v;
	else if (size == 0)
		*(int *)p = (int)v;
	else
		*(long *)p = v;
}

/* Text conversions: %s, %c, %[...]. Returns the number of characters. */
static int take_text(struct in *in, char conv, const char *set, const char *end, int width,
		     char *out)
{
	int n = 0, c = 0;

	if (conv == 's')
		skip_space(in);
	if (conv == 'c' && width == 1 << 30)
		width = 1;
	while (n < width) {
		c = next(in);
		if (c == EOF || (conv == 's' && is_space(c)) ||
		    (conv == '[' && !in_set(set, end, c))) {
			back(in, c);
			break;
		}
		if (out)
			out[n] = (char)c;
		n++;
	}
	if (out && conv != 'c' && n)
		out[n] = 0;
	return n;
}

struct spec {
	int discard, width, size; /* width 0: as long as it goes */
	char conv;
	const char *set, *end; /* of %[...] */
};

/* Read what stands between '%' and the end of the conversion; returns its last character. */
static const char *parse_spec(const char *p, struct spec *s)
{
	if (*p == '*') {
		s->discard = 1;
		p++;
	}
	for (; *p >= '0' && *p <= '9'; p++)
		s->width = s->width * 10 + (*p - '0');
	for (;; p++) {
		if (*p == 'l' || *p == 'z' || *p == 'j' || *p == 't' || *p == 'q')
			s->size++;
		else if (*p == 'h')
			s->size--;
		else
			break;
	}
	s->conv = *p;
	s->set = s->end = p;
	if (s->conv != '[')
		return p;
	s->set = ++p;
	if (*p == '^')
		p++;
	if (*p == ']')
		p++;
	while (*p && *p != ']')
		p++;
	s->end = p;
	return p;
}

static int base_of(char conv)
{
	return conv == 'i'				   ? 0
	       : conv == 'o'				   ? 8
	       : conv == 'x' || conv == 'X' || conv == 'p' ? 16
							   : 10;
}

/* One conversion. False: the input does not fit. */
static int convert(struct in *in, const struct spec *s, va_list *ap)
{
	int most = s->width && s->width < 120 ? s->width : 120, base = base_of(s->conv);
	char buf[128];

	switch (s->conv) {
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
	case 'p':
		if (!take_number(in, buf, most, base, 0))
			return 0;
		if (!s->discard)
			store(va_arg(*ap, void *),
			      s->conv == 'd' || s->conv == 'i' ? strtol(buf, NULL, base)
							       : (long)strtoul(buf, NULL, base),
			      s->conv == 'p' ? 1 : s->size);
		return 1;
	case 'f':
	case 'e':
	case 'g':
	case 'E':
	case 'G':
	case 'a':
		if (!take_number(in, buf, most, 10, 1))
			return 0;
		if (!s->discard && s->size)
			*va_arg(*ap, double *) = strtod(buf, NULL);
		else if (!s->discard)
			*va_arg(*ap, float *) = (float)strtod(buf, NULL);
		return 1;
	case '[':
	case 's':
	case 'c':
		return take_text(in, s->conv, s->set, s->end, s->width ? s->width : 1 << 30,
				 s->discard ? NULL : va_arg(*ap, char *)) != 0;
	default:
		sym_refuse("a conversion that the model of scanf does not know");
		return 0;
	}
}

/* Text of the format that is not a conversion: the next character must be this one. */
static int literal(struct in *in, char wanted, int *at_end)
{
	int c = next(in);

	*at_end = c == EOF;
	if (c == (unsigned char)wanted)
		return 1;
	back(in, c);
	return 0;
}

/* Has the input ended? White space before most conversions is skipped first. */
static int ended(struct in *in, char conv)
{
	int c;

	if (conv != 'c' && conv != '[')
		skip_space(in);
	c = next(in);
	back(in, c);
	return c == EOF;
}

static int scan(struct in *in, const char *p, va_list ap)
{
	int done = 0, at_end = 0;
	va_list rest;

	va_copy(rest, ap);
	for (; *p; p++) {
		struct spec s = { 0 };

		if (is_space((unsigned char)*p)) {
			skip_space(in);
			continue;
		}
		if (*p != '%' || *++p == '%') {
			if (*p == '%')
				skip_space(in);
			if (literal(in, *p, &at_end))
				continue;
			break;
		}
		p = parse_spec(p, &s);
		if (s.conv == 'n') {
			store(va_arg(rest, void *), in->taken, s.size);
			continue;
		}
		at_end = ended(in, s.conv);
		if (at_end || !convert(in, &s, &rest))
			break;
		done += !s.discard;
	}
	va_end(rest);
	return at_end && !done ? EOF : done;
}

#define SCAN(init)                                                                                 \
	struct in in = init;                                                                       \
	va_list ap;                                                                                \
	int n;                                                                                     \
	va_start(ap, fmt);                                                                         \
	n = scan(&in, fmt, ap);                                                                    \
	va_end(ap);                                                                                \
	return n
#define FILE_IN(f) { .file = f }
#define TEXT_IN(s) { .text = s }

/* The header gives scanf the name __isoc99_scanf; a program compiled otherwise calls the plain one.
 */
int scanf(const char *fmt, ...)
{
	SCAN(FILE_IN(stdin));
}
int fscanf(FILE *f, const char *fmt, ...)
{
	SCAN(FILE_IN(f));
}
int sscanf(const char *s, const char *fmt, ...)
{
	SCAN(TEXT_IN(s));
}
int plain_scanf(const char *fmt, ...) __asm__("scanf");
int plain_scanf(const char *fmt, ...)
{
	SCAN(FILE_IN(stdin));
}
int plain_fscanf(FILE *f, const char *fmt, ...) __asm__("fscanf");
int plain_fscanf(FILE *f, const char *fmt, ...)
{
	SCAN(FILE_IN(f));
}
int plain_sscanf(const char *s, const char *fmt, ...) __asm__("sscanf");
int plain_sscanf(const char *s, const char *fmt, ...)
{
	SCAN(TEXT_IN(s));
}
int __isoc23_scanf(const char *fmt, ...)
{
	SCAN(FILE_IN(stdin));
}
int __isoc23_fscanf(FILE *f, const char *fmt, ...)
{
	SCAN(FILE_IN(f));
}
int __isoc23_sscanf(const char *s, const char *fmt, ...)
{
	SCAN(TEXT_IN(s));
}
int vsscanf(const char *s, const char *fmt, va_list ap)
{
	struct in in = TEXT_IN(s);
	return scan(&in, fmt, ap);
}
int vfscanf(FILE *f, const char *fmt, va_list ap)
{
	struct in in = FILE_IN(f);
	return scan(&in, fmt, ap);
}
