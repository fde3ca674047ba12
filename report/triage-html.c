/* report/triage-html.c - many dumps sorted by cause, as one self-contained page in the style of the index. */
#include "report/report.h"

#include "base/printable.h"
#include "base/strbuf.h"
#include "report/assets.h"
#include "report/escape.h"
#include "rewind/triage.h"

#include <string.h>

enum { MOST_DUMPS = 1000 };

static void add_line(struct strbuf *out, const char *class, const char *label, const char *text)
{
	if (!*text)
		return;
	strbuf_addf(out, "<p class=%s><span class=dim>%s</span> ", class, label);
	escape_markup(out, text);
	strbuf_adds(out, "</p>\n");
}

static void add_place(struct strbuf *out, const struct triaged *d)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	if (*d->file)
		strbuf_addf(&text, "%s:%u%s%s", d->file, d->line, *d->function ? " in " : "",
			    d->function);
	add_line(out, "code", "at", strbuf_str(&text));
}

static void add_severity(struct strbuf *out, const struct triaged *d)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	if (strcmp(d->input, "pc") == 0)
		strbuf_adds(&text, "decides where control went");
	else if (strcmp(d->input, "write") == 0 || strcmp(d->input, "read") == 0)
		strbuf_addf(&text, "is part of what was %s", *d->input == 'w' ? "written" : "read");
	else if (*d->input)
		strbuf_adds(&text, d->input);
	add_line(out, "said", "input", strbuf_str(&text));
	strbuf_clear(&text);
	if (*d->casr)
		strbuf_addf(&text, "%s (gdb exploitable), %s (CASR)", d->gdb_exploitable, d->casr);
	add_line(out, "dim", "by others' rules", strbuf_str(&text));
}

static void add_dumps(struct strbuf *out, const struct triage *t, uint32_t bucket, uint32_t count)
{
	uint32_t shown = 0;

	strbuf_addf(out, "<details><summary>%u dump%s</summary><pre>", count,
		    count == 1 ? "" : "s");
	for (size_t i = 0; i < t->dumps.len && shown < MOST_DUMPS; i++) {
		if (t->dumps.data[i].problem || t->dumps.data[i].bucket != bucket)
			continue;
		escape_markup(out, t->dumps.data[i].path);
		strbuf_addc(out, '\n');
		shown++;
	}
	if (shown < count)
		strbuf_addf(out, "and %u more", count - shown);
	strbuf_adds(out, "</pre></details>\n");
}

static void add_bucket(struct strbuf *out, const struct triage *t, uint32_t n)
{
	const struct bucket *b = &t->buckets.data[n];
	const struct triaged *d = &t->dumps.data[b->smallest];
	_cleanup_(strbuf_deinit) struct strbuf command = { 0 };

	strbuf_adds(out, "<li class=\"finding fails\" data-kind=\"");
	escape_markup(out, d->kind);
	strbuf_addf(out, "\"><h2><span class=kind>%u</span> ", b->count);
	markup_span(out, "code", b->name);
	strbuf_adds(out, "</h2>\n");
	add_line(out, "cause", "cause", d->text);
	add_place(out, d);
	add_severity(out, d);
	add_line(out, "code", "smallest dump", d->path);
	add_dumps(out, t, n, b->count);
	strbuf_adds(&command, "unplait rewind ");
	strbuf_add_shell(&command, d->path);
	strbuf_adds(out, "<pre>");
	escape_markup(out, strbuf_str(&command));
	strbuf_adds(out, "</pre></li>\n");
}

static void add_problems(struct strbuf *out, const struct triage *t)
{
	for (size_t i = 0; i < t->dumps.len; i++) {
		const struct triaged *d = &t->dumps.data[i];

		if (!d->problem)
			continue;
		strbuf_adds(out, "<p class=dim>not sorted: ");
		escape_markup(out, d->path);
		strbuf_adds(out, ": ");
		escape_markup(out, d->problem);
		strbuf_adds(out, "</p>\n");
	}
}

void report_triage_html(const struct triage *t, struct strbuf *out)
{
	strbuf_adds(out, "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
			 "<meta name=viewport content=\"width=device-width\"><title>unplait: core "
			 "dumps by cause</title>\n<style>\n");
	strbuf_addf(out, "%s%s</style></head>\n<body>\n<h1>Core dumps by cause</h1>\n",
		    asset_explain_css, asset_index_css);
	strbuf_addf(out, "<div class=bar><span id=count>%zu findings</span></div>\n",
		    t->buckets.len);
	strbuf_addf(out,
		    "<p class=dim>%zu dumps. A bucket is a kind of cause, in a function, about "
		    "an object.</p>\n",
		    t->dumps.len);
	strbuf_adds(out, "<ul class=findings>\n");
	for (uint32_t i = 0; i < t->buckets.len; i++)
		add_bucket(out, t, i);
	strbuf_adds(out, "</ul>\n");
	add_problems(out, t);
	strbuf_addf(out, "<script>\n%s</script>\n</body></html>\n", asset_index_js);
}
