/* report/report.h - findings into something a person or a machine reads.
 * Every writer appends to a strbuf; nothing here touches the world except to read source lines. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

struct explanation;
struct ranking;
struct suite_result;
struct suite_results;
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

/* `unplait test`: a test as it ends, all of them at the end, or everything as JSON. */
void report_suite_line(const struct suite_result *r, struct strbuf *out);
void report_suite_summary(const struct suite_results *r, double seconds, struct strbuf *out);
void report_suite_json(const struct suite_results *r, double seconds, bool interrupted,
		       struct json *out);

/* Text with &, <, >, " escaped. */
void report_html_escape(struct strbuf *out, const char *text);

#endif
