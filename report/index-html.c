/* report/index-html.c - many findings as one self-contained page, in the style of explain's. */
#include "report/index.h"

#include "base/printable.h"
#include "base/strbuf.h"
#include "report/assets.h"
#include "report/escape.h"
#include "trace/trace.h"

static void add_line(struct strbuf *out, const char *class, const char *label, const char *text)
{
	if (!text || !*text)
		return;
	strbuf_addf(out, "<p class=%s><span class=dim>%s</span> ", class, label);
	escape_markup(out, text);
	strbuf_adds(out, "</p>\n");
}

static void add_command(struct strbuf *out, const char *command, const struct index_entry *f)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	strbuf_addf(&text, "unplait %s%s ", command, f->made_here ? "" : " --trust");
	strbuf_add_shell(&text, f->plait);
	escape_markup(out, strbuf_str(&text));
	strbuf_addc(out, '\n');
}

static void add_finding(struct strbuf *out, const struct index_entry *f)
{
	const char *kind = outcome_name(f->kind);

	strbuf_addf(out,
		    "<li class=\"finding %s\" data-kind=\"%s\"><h2><span class=kind>%s</span> ",
		    index_entry_fails(f) ? "fails" : kind, kind, kind);
	markup_span(out, "code", f->plait);
	if (f->page) {
		strbuf_adds(out, " <a href=\"");
		escape_uri(out, f->page);
		strbuf_adds(out, "\">explanation</a>");
	}
	strbuf_adds(out, "</h2>\n");
	add_line(out, "code", "runs", f->command);
	add_line(out, "said", "says", f->message);
	add_line(out, "cause", "cause", f->cause);
	add_line(out, "advice-line", "advice", f->advice);
	add_line(out, "advice-line", "tried", f->tried);
	if (!f->made_here)
		strbuf_adds(out,
			    "<p class=dim>Not made here by you: look at the command before you "
			    "trust it.</p>\n");
	strbuf_adds(out, "<pre>");
	add_command(out, "replay", f);
	if (index_entry_fails(f))
		add_command(out, "explain", f);
	strbuf_adds(out, "</pre></li>\n");
}

static void add_notes(struct strbuf *out, const struct report_index *x)
{
	if (x->unreadable)
		strbuf_addf(out, "<p class=dim>Not readable as plaits: %zu.</p>\n", x->unreadable);
	if (x->cut)
		strbuf_addf(out, "<p class=dim>There are more: only the first %d are here.</p>\n",
			    INDEX_MOST);
}

void report_index_html(const struct report_index *x, const char *folder, struct strbuf *out)
{
	strbuf_adds(out, "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
			 "<meta name=viewport content=\"width=device-width\"><title>unplait: ");
	escape_markup(out, folder);
	strbuf_addf(out, "</title>\n<style>\n%s%s</style></head>\n<body>\n<h1>", asset_explain_css,
		    asset_index_css);
	escape_markup(out, folder);
	strbuf_addf(out, "</h1>\n<div class=bar><span id=count>%zu findings</span></div>\n",
		    x->entries.len);
	strbuf_adds(out, "<p class=dim>Commands are to be typed in the folder of this page.</p>\n");
	add_notes(out, x);
	strbuf_adds(out, "<ul class=findings>\n");
	for (size_t i = 0; i < x->entries.len; i++)
		add_finding(out, &x->entries.data[i]);
	strbuf_addf(out, "</ul>\n<script>\n%s</script>\n</body></html>\n", asset_index_js);
}
