#include "base/printable.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Changes how its neighbours are shown. */
static bool is_hidden(uint32_t c)
{
	return (c >= 0x80 && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static bool is_control(uint32_t c)
{
	return c < 0x20 || c == 0x7f;
}

static void add_escape(struct strbuf *out, uint8_t byte)
{
	if (byte == '\n')
		strbuf_adds(out, "\\n");
	else if (byte == '\t')
		strbuf_adds(out, "\\t");
	else
		strbuf_addf(out, "\\x%02x", byte);
}

void strbuf_add_printable(struct strbuf *out, const char *text, const char *keep)
{
	const uint8_t *p = (const uint8_t *)text, *end = p + strlen(text);
	uint32_t c;
	size_t len;

	for (; p < end; p += len ? len : 1) {
		len = utf8_decode(p, (size_t)(end - p), &c);
		if (len == 0 || (is_control(c) && !strchr(keep, (int)c)))
			add_escape(out, *p);
		else if (is_hidden(c))
			strbuf_addf(out, "\\u%04x", c);
		else
			strbuf_add(out, p, len);
	}
}

/* The length of one of the sequences that color() uses, at p; 0 = there is none. */
static size_t color_length(const char *p)
{
	if (strncmp(p, "\033[", 2) != 0)
		return 0;
	if (p[2] >= '0' && p[2] <= '2' && p[3] == 'm')
		return 4;
	return p[2] == '3' && p[3] >= '0' && p[3] <= '7' && p[4] == 'm' ? 5 : 0;
}

void strbuf_add_printable_report(struct strbuf *out, const char *report)
{
	while (*report) {
		size_t n = color_length(report), plain = 0;

		strbuf_add(out, report, n);
		report += n;
		while (report[plain] && !color_length(report + plain))
			plain++;
		if (plain) {
			char *text = xstrndup(report, plain);

			strbuf_add_printable(out, text, "\n\t");
			free(text);
		}
		report += plain;
	}
}

void strbuf_add_shell(struct strbuf *out, const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_./=:@%+,-";

	if (*word && !word[strspn(word, plain)]) {
		strbuf_adds(out, word);
		return;
	}
	strbuf_addc(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			strbuf_adds(out, "'\\''");
		else
			strbuf_addc(out, *word);
	strbuf_addc(out, '\'');
}

char *printable(const char *text)
{
	struct strbuf sb = { 0 };

	if (!text)
		return NULL;
	strbuf_add_printable(&sb, text, "");
	return sb.data ? strbuf_detach(&sb) : xstrdup("");
}

void printable_puts(const char *text, FILE *out)
{
	_cleanup_(xfreep) char *copy = printable(text);

	fputs(copy, out);
}
