/* report/report.h - findings into something a person or a machine reads.
 * Every writer appends to a strbuf; nothing here touches the world except to read source lines. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stddef.h>

struct explanation;
struct ranking;
struct strbuf;
struct json;

/* Terminal: two schedules side by side, threads as lanes, at most `width` columns. */
void report_explain_term(const struct explanation *x, unsigned width, struct strbuf *out);
/* One self-contained page: no network, dark and light, keyboard, printable. */
void report_explain_html(const struct explanation *x, struct strbuf *out);
/* Graphviz: the two projections with their data flow. */
void report_explain_dot(const struct explanation *x, struct strbuf *out);
/* The object that `explain --json` prints. */
void report_explain_json(const struct explanation *x, struct json *out);

/* Ranked communication, in the same four forms. */
void report_rank_term(const struct ranking *r, unsigned width, struct strbuf *out);
void report_rank_html(const struct ranking *r, struct strbuf *out);
void report_rank_dot(const struct ranking *r, struct strbuf *out);
void report_rank_json(const struct ranking *r, struct json *out);

/* Text with &, <, >, " escaped. */
void report_html_escape(struct strbuf *out, const char *text);

#endif
