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
