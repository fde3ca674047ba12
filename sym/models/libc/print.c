/* Formatted output: printf and its relatives, and the functions that complain: perror, error, warn, err. */
#include "files.h"
#include "model.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct out {
	FILE *file;	 /* or */
	int fd;		 /* >= 0, or */
	char *text;	 /* a buffer of cap bytes */
	size_t cap, len; /* len counts everything, also what did not fit */
	char chunk[128];
	size_t used;
};

static void drain(struct out *o)
{
	if (!o->used)
		return;
	if (o->file)
		fwrite(o->chunk, 1, o->used, o->file);
	else if (o->fd >= 0)
		sym_fd_write(o->fd, o->chunk, o->used);
	o->used = 0;
}

static void add(struct out *o, char c)
{
	if (o->file || o->fd >= 0) {
		o->chunk[o->used++] = c;
		if (o->used == sizeof(o->chunk))
			drain(o);
	} else if (o->len + 1 < o->cap) {
		o->text[o->len] = c;
	}
	o->len++;
}

static void pad(struct out *o, char c, long n)
{
	for (; n > 0; n--)
		add(o, c);
}

struct spec {
	int minus, plus, space, alt, zero, group;
	long width, precision; /* -1 = none */
	int size;	       /* -2 hh, -1 h, 0 int, 1 l, 2 ll, 3 L, 4 z/t/j */
};

static void put_text(struct out *o, const struct spec *s, const char *text, size_t len)
{
	if (!s->minus)
		pad(o, ' ', s->width - (long)len);
	for (size_t i = 0; i < len; i++)
		add(o, text[i]);
	if (s->minus)
		pad(o, ' ', s->width - (long)len);
}

static void put_number(struct out *o, const struct spec *s, unsigned long v, int negative,
		       unsigned base, int upper, int is_signed)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char buf[72];
	long n = 0, zeros, prefix;
	char sign = negative ? '-' : !is_signed ? 0 : s->plus ? '+' : s->space ? ' ' : 0;
	int hex = s->alt && base == 16 && v;

	while (v) {
		buf[n++] = digits[v % base];
		v /= base;
	}
	zeros = s->precision < 0 ? (n ? 0 : 1) : s->precision - n;
	if (s->alt && base == 8 && zeros <= 0 && (!n || buf[n - 1] != '0'))
		zeros = 1;
	if (zeros < 0)
		zeros = 0;
	prefix = (sign ? 1 : 0) + (hex ? 2 : 0);
	if (s->zero && !s->minus && s->precision < 0 && zeros < s->width - n - prefix)
		zeros = s->width - n - prefix;
	if (!s->minus)
		pad(o, ' ', s->width - n - zeros - prefix);
	if (sign)
		add(o, sign);
	if (hex) {
		add(o, '0');
		add(o, upper ? 'X' : 'x');
	}
	pad(o, '0', zeros);
	for (long i = n; i-- > 0;)
		add(o, buf[i]);
	if (s->minus)
		pad(o, ' ', s->width - n - zeros - prefix);
}

static void put_double(struct out *o, const struct spec *s, char conv, double d,
		       const long double *ld)
{
	char format[48], text[512], *big = NULL;
	struct spec plain = { .precision = -1 };
	struct out f = { .fd = -1, .text = format, .cap = sizeof(format) };
	int n;

	add(&f, '%');
	if (s->minus)
		add(&f, '-');
	if (s->plus)
		add(&f, '+');
	if (s->space)
		add(&f, ' ');
	if (s->alt)
		add(&f, '#');
	if (s->zero)
		add(&f, '0');
	if (s->width > 0)
		put_number(&f, &plain, (unsigned long)s->width, 0, 10, 0, 0);
	if (s->precision >= 0) {
		add(&f, '.');
		put_number(&f, &plain, (unsigned long)s->precision, 0, 10, 0, 0);
	}
	if (ld)
		add(&f, 'L');
	add(&f, conv);
	format[f.len] = 0;
	n = ld ? sym_format_ldouble(text, sizeof(text), format, ld)
	       : sym_format_double(text, sizeof(text), format, d);
	if ((size_t)n >= sizeof(text)) {
		big = malloc((size_t)n + 1);
		n = ld ? sym_format_ldouble(big, (size_t)n + 1, format, ld)
		       : sym_format_double(big, (size_t)n + 1, format, d);
	}
	for (int i = 0; i < n; i++)
		add(o, big ? big[i] : text[i]);
	free(big);
}

static const char *parse_spec(const char *p, struct spec *s, va_list *ap)
{
	for (;; p++) {
		if (*p == '-')
			s->minus = 1;
		else if (*p == '+')
			s->plus = 1;
		else if (*p == ' ')
			s->space = 1;
		else if (*p == '#')
			s->alt = 1;
		else if (*p == '0')
			s->zero = 1;
		else if (*p == '\'')
			s->group = 1;
		else
			break;
	}
	if (*p == '*') {
		s->width = va_arg(*ap, int);
		if (s->width < 0) {
			s->minus = 1;
			s->width = -s->width;
		}
		p++;
	} else {
		for (; *p >= '0' && *p <= '9'; p++)
			s->width = s->width * 10 + (*p - '0');
	}
	s->precision = -1;
	if (*p == '.') {
		p++;
		s->precision = 0;
		if (*p == '*') {
			s->precision = va_arg(*ap, int);
			p++;
		} else {
			for (; *p >= '0' && *p <= '9'; p++)
				s->precision = s->precision * 10 + (*p - '0');
		}
	}
	for (;; p++) {
		if (*p == 'h')
			s->size--;
		else if (*p == 'l')
			s->size++;
		else if (*p == 'L')
			s->size = 3;
		else if (*p == 'z' || *p == 't' || *p == 'j' || *p == 'q')
			s->size = 4;
		else
			return p;
	}
}

static long take_signed(const struct spec *s, va_list *ap)
{
	if (s->size >= 1)
		return va_arg(*ap, long);
	int v = va_arg(*ap, int);
	return s->size == -1 ? (short)v : s->size <= -2 ? (signed char)v : v;
}

static unsigned long take_unsigned(const struct spec *s, va_list *ap)
{
	if (s->size >= 1)
		return va_arg(*ap, unsigned long);
	unsigned v = va_arg(*ap, unsigned);
	return s->size == -1 ? (unsigned short)v : s->size <= -2 ? (unsigned char)v : v;
}

/* What leaves the program is not looked at again: one possible number is enough. */
static unsigned long shown(const struct out *o, unsigned long v)
{
	return o->file || o->fd >= 0 ? sym_peek(v) : v;
}

static void put_pointer(struct out *o, struct spec *s, const void *p)
{
	s->alt = 1;
	if (p)
		put_number(o, s, (unsigned long)p, 0, 16, 0, 0);
	else
		put_text(o, s, "(nil)", 5);
}

static void put_real(struct out *o, const struct spec *s, char conv, va_list *ap)
{
	if (s->size == 3) {
		long double ld = va_arg(*ap, long double);

		put_double(o, s, conv, 0, &ld);
	} else {
		put_double(o, s, conv, va_arg(*ap, double), NULL);
	}
}

/* One conversion. False: the format ended in the middle of it. */
static int convert(struct out *o, struct spec *s, char conv, va_list *ap, int saved)
{
	const char *text;
	long v;
	char c;

	switch (conv) {
	case 'd':
	case 'i':
		v = (long)shown(o, (unsigned long)take_signed(s, ap));
		put_number(o, s, v < 0 ? 0 - (unsigned long)v : (unsigned long)v, v < 0, 10, 0, 1);
		break;
	case 'u':
		put_number(o, s, shown(o, take_unsigned(s, ap)), 0, 10, 0, 0);
		break;
	case 'x':
	case 'X':
		put_number(o, s, shown(o, take_unsigned(s, ap)), 0, 16, conv == 'X', 0);
		break;
	case 'o':
		put_number(o, s, shown(o, take_unsigned(s, ap)), 0, 8, 0, 0);
		break;
	case 'p':
		put_pointer(o, s, va_arg(*ap, void *));
		break;
	case 'c':
		c = (char)va_arg(*ap, int);
		put_text(o, s, &c, 1);
		break;
	case 's':
		text = va_arg(*ap, const char *);
		if (!text)
			text = s->precision >= 0 && s->precision < 6 ? "" : "(null)";
		put_text(o, s, text,
			 s->precision >= 0 ? strnlen(text, (size_t)s->precision) : strlen(text));
		break;
	case 'm':
		text = strerror(saved);
		put_text(o, s, text, strlen(text));
		break;
	case 'f':
	case 'F':
	case 'e':
	case 'E':
	case 'g':
	case 'G':
	case 'a':
	case 'A':
		put_real(o, s, conv, ap);
		break;
	case 'n':
		*va_arg(*ap, int *) = (int)o->len;
		break;
	case '%':
		add(o, '%');
		break;
	case 0:
		return 0;
	default:
		sym_refuse("a conversion that the model of printf does not know");
	}
	return 1;
}

static void format(struct out *o, const char *p, va_list *ap)
{
	int saved = errno;

	for (; *p; p++) {
		struct spec s = { 0 };

		if (*p != '%') {
			add(o, *p);
			continue;
		}
		p = parse_spec(p + 1, &s, ap);
		if (!convert(o, &s, *p, ap, saved))
			return;
	}
}

int vfprintf(FILE *f, const char *fmt, va_list ap)
{
	struct out o = { .file = f, .fd = -1 };
	va_list copy;

	va_copy(copy, ap);
	format(&o, fmt, &copy);
	va_end(copy);
	drain(&o);
	return (int)o.len;
}

int vsnprintf(char *s, size_t n, const char *fmt, va_list ap)
{
	struct out o = { .fd = -1, .text = s, .cap = n };
	va_list copy;

	va_copy(copy, ap);
	format(&o, fmt, &copy);
	va_end(copy);
	if (n)
		s[o.len < n ? o.len : n - 1] = 0;
	return (int)o.len;
}

int vdprintf(int fd, const char *fmt, va_list ap)
{
	struct out o = { .fd = fd };
	va_list copy;

	va_copy(copy, ap);
	format(&o, fmt, &copy);
	va_end(copy);
	drain(&o);
	return (int)o.len;
}

int vprintf(const char *fmt, va_list ap)
{
	return vfprintf(stdout, fmt, ap);
}
int vsprintf(char *s, const char *fmt, va_list ap)
{
	return vsnprintf(s, (size_t)-1 >> 1, fmt, ap);
}
int vasprintf(char **out, const char *fmt, va_list ap)
{
	int n = vsnprintf(NULL, 0, fmt, ap);

	*out = malloc((size_t)n + 1);
	return *out ? vsnprintf(*out, (size_t)n + 1, fmt, ap) : -1;
}

#define VARIADIC(call)                                                                             \
	va_list ap;                                                                                \
	int n;                                                                                     \
	va_start(ap, fmt);                                                                         \
	n = call;                                                                                  \
	va_end(ap);                                                                                \
	return n

int printf(const char *fmt, ...)
{
	VARIADIC(vfprintf(stdout, fmt, ap));
}
int fprintf(FILE *f, const char *fmt, ...)
{
	VARIADIC(vfprintf(f, fmt, ap));
}
int dprintf(int fd, const char *fmt, ...)
{
	VARIADIC(vdprintf(fd, fmt, ap));
}
int sprintf(char *s, const char *fmt, ...)
{
	VARIADIC(vsprintf(s, fmt, ap));
}
int snprintf(char *s, size_t len, const char *fmt, ...)
{
	VARIADIC(vsnprintf(s, len, fmt, ap));
}
int asprintf(char **s, const char *fmt, ...)
{
	VARIADIC(vasprintf(s, fmt, ap));
}
int __printf_chk(int f, const char *fmt, ...)
{
	(void)f;
	VARIADIC(vfprintf(stdout, fmt, ap));
}
int __fprintf_chk(FILE *o, int f, const char *fmt, ...)
{
	(void)f;
	VARIADIC(vfprintf(o, fmt, ap));
}
int __sprintf_chk(char *s, int f, size_t z, const char *fmt, ...)
{
	(void)f;
	(void)z;
	VARIADIC(vsprintf(s, fmt, ap));
}
int __snprintf_chk(char *s, size_t len, int f, size_t z, const char *fmt, ...)
{
	(void)f;
	(void)z;
	VARIADIC(vsnprintf(s, len, fmt, ap));
}
int __vfprintf_chk(FILE *o, int f, const char *fmt, va_list ap)
{
	(void)f;
	return vfprintf(o, fmt, ap);
}
int __vsnprintf_chk(char *s, size_t len, int f, size_t z, const char *fmt, va_list ap)
{
	(void)f;
	(void)z;
	return vsnprintf(s, len, fmt, ap);
}

void perror(const char *s)
{
	int e = errno;

	if (s && *s)
		fprintf(stderr, "%s: ", s);
	fprintf(stderr, "%s\n", strerror(e));
}

extern char *program_invocation_name;
void error(int status, int errnum, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (errnum)
		fprintf(stderr, ": %s", strerror(errnum));
	fputc('\n', stderr);
	if (status)
		exit(status);
}
static void complain(int with_errno, const char *fmt, va_list ap)
{
	int e = errno;

	fprintf(stderr, "%s: ", program_invocation_name);
	if (fmt)
		vfprintf(stderr, fmt, ap);
	if (with_errno)
		fprintf(stderr, "%s%s", fmt ? ": " : "", strerror(e));
	fputc('\n', stderr);
}
void warn(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	complain(1, fmt, ap);
	va_end(ap);
}
void warnx(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	complain(0, fmt, ap);
	va_end(ap);
}
void err(int code, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	complain(1, fmt, ap);
	va_end(ap);
	exit(code);
}
void errx(int code, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	complain(0, fmt, ap);
	va_end(ap);
	exit(code);
}
