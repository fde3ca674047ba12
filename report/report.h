/* report/report.h - findings into something a person or a machine reads.
 *
 * A format is a struct of callbacks, one for each kind of finding it can show; NULL where it cannot.
 * Every callback appends to a strbuf; nothing here touches the world except to read source lines. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdbool.h>

struct ci_cases;
struct explanation;
struct fingerprint;
struct foreign;
struct json;
struct merge;
struct races_result;
struct ranking;
struct suite_result;
struct suite_results;
struct strbuf;
struct triage;

/* How a person wants to see it. */
struct report_view {
	unsigned width; /* of the terminal, in columns */
	bool all;	/* also what is rarely of interest */
};

struct report_format {
	const char *name;
	/* why a schedule fails */
	void (*explanation)(const struct explanation *x, const struct report_view *view,
			    struct strbuf *out);
	/* suspicious communication over many runs */
	void (*ranking)(const struct ranking *r, const struct report_view *view,
			struct strbuf *out);
	/* a deadlock, or what the threads of a process wait for */
	void (*fingerprint)(const struct fingerprint *f, const struct report_view *view,
			    struct strbuf *out);
	/* many of those by bucket */
	void (*merge)(struct merge *m, const struct report_view *view, struct strbuf *out);
	/* the threads of a process that runs without the watch library */
	void (*foreign)(const struct foreign *f, const struct report_view *view,
			struct strbuf *out);
	/* data races and what they do */
	void (*races)(const struct races_result *r, const struct report_view *view,
		      struct strbuf *out);
	/* what a hunt or a suite of tests found; suite: the name of all cases together */
	void (*cases)(const struct ci_cases *c, const char *suite, struct strbuf *out);
};

/* Terminal: two schedules side by side, threads as lanes, at most `width` columns. */
extern const struct report_format report_term;
/* What --json prints. */
extern const struct report_format report_json;
/* One self-contained page: no network, dark and light, keyboard, printable. */
extern const struct report_format report_html;
/* Graphviz. */
extern const struct report_format report_dot;
/* SARIF 2.1.0, for code scanners. */
extern const struct report_format report_sarif;
/* JUnit XML, for CI. */
extern const struct report_format report_junit;

/* `unplait test`: a test as it ends, all of them at the end, or everything as JSON. */
void report_suite_line(const struct suite_result *r, struct strbuf *out);
void report_suite_summary(const struct suite_results *r, double seconds, struct strbuf *out);
void report_suite_markdown(const struct suite_results *r, double seconds, struct strbuf *out);
void report_suite_json(const struct suite_results *r, double seconds, bool interrupted,
		       struct json *out);

/* `unplait rewind triage`: the buckets as one page. */
void report_triage_html(const struct triage *t, struct strbuf *out);

#endif
