/* report/escape.h - somebody else's text inside our formats.
 * Source lines, values, messages and paths come from the program under test. Each function appends
 * text so that the format stays what it is; bytes that are no UTF-8 become U+FFFD. NULL is empty. */
#ifndef REPORT_ESCAPE_H
#define REPORT_ESCAPE_H

struct strbuf;

/* Text or an attribute of HTML and XML. Control characters, which XML cannot hold, are left out. */
void escape_markup(struct strbuf *out, const char *text);
/* ' name="value"' and '<span class="class">text</span>'; nothing for NULL. */
void markup_attribute(struct strbuf *out, const char *name, const char *value);
void markup_span(struct strbuf *out, const char *class, const char *text);
/* The inside of a quoted string of DOT; a newline stays one, aligned to the left. */
void escape_dot(struct strbuf *out, const char *text);
/* A path as a URI reference (RFC 3986): "my%20dir/a.c", "file:///usr/include/x.h". */
void escape_uri(struct strbuf *out, const char *path);

#endif
