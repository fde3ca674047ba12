#include "report/escape.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

struct replacement {
	char from;
	const char *to;
};

/* Append the text with some characters replaced and without control characters. */
static void add_replaced(struct strbuf *out, const char *text, const struct replacement *with,
			 size_t n)
{
	size_t left = text ? strlen(text) : 0, len;

	for (; left; text += len, left -= len) {
		const char *to = NULL;
		uint32_t c;

		len = utf8_decode(text, left, &c);
		for (size_t i = 0; i < n && !to; i++)
			to = *text == with[i].from ? with[i].to : NULL;
		if (to) {
			strbuf_adds(out, to);
		} else if (!len) {
			strbuf_adds(out, "\xef\xbf\xbd");
			len = 1;
		} else if ((c >= 0x20 && c != 0x7f) || c == '\t') {
			strbuf_add(out, text, len);
		}
	}
}

void escape_markup(struct strbuf *out, const char *text)
{
	static const struct replacement with[] = {
		{ '&', "&amp;" },  { '<', "&lt;" },   { '>', "&gt;" },
		{ '"', "&quot;" }, { '\n', "&#10;" },
	};

	add_replaced(out, text, with, ARRAY_SIZE(with));
}

void markup_attribute(struct strbuf *out, const char *name, const char *value)
{
	if (!value)
		return;
	strbuf_addf(out, " %s=\"", name);
	escape_markup(out, value);
	strbuf_addc(out, '"');
}

void markup_span(struct strbuf *out, const char *class, const char *text)
{
	if (!text)
		return;
	strbuf_addf(out, "<span class=\"%s\">", class);
	escape_markup(out, text);
	strbuf_adds(out, "</span>");
}

void escape_dot(struct strbuf *out, const char *text)
{
	static const struct replacement with[] = {
		{ '"', "\\\"" },
		{ '\\', "\\\\" },
		{ '\n', "\\l" },
	};

	add_replaced(out, text, with, ARRAY_SIZE(with));
}

static bool stays_in_uri(unsigned char c)
{
	return c < 0x80 && (isalnum(c) || strchr("/-._~!$&'()*+,;=@", c));
}

void escape_uri(struct strbuf *out, const char *path)
{
	if (path && *path == '/')
		strbuf_adds(out, "file://");
	for (; path && *path; path++)
		if (stays_in_uri((unsigned char)*path))
			strbuf_addc(out, *path);
		else
			strbuf_addf(out, "%%%02X", (unsigned char)*path);
}
