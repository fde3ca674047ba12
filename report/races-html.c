/* report/races-html.c - the races of a program as one page: a table, and for each race its two orders
 * side by side. Complete without scripts; no network. */
#include "report/formats.h"

#include "base/strbuf.h"
#include "race/race.h"
#include "report/assets.h"
#include "report/escape.h"
#include "trace/trace.h"

static void add_where(struct strbuf *out, const struct race_side *s)
{
	markup_span(out, "op", s->writes ? "write" : "read");
	strbuf_adds(out, " <span class=where>");
	escape_markup(out, s->file);
	strbuf_addf(out, ":%u ", s->line);
	escape_markup(out, s->function);
	strbuf_adds(out, "</span>");
}

static void add_row(struct strbuf *out, const struct race *r)
{
	strbuf_addf(out, "<tr class=\"%s\"><td><a href=\"#race%u\">%u</a><td>%s%s<td class=code>",
		    race_verdict_name(r->verdict), r->id, r->id, race_verdict_name(r->verdict),
		    r->known ? " (known)" : "");
	escape_markup(out, r->object);
	strbuf_adds(out, "<td>");
	add_where(out, &r->side[0]);
	strbuf_adds(out, "<td>");
	add_where(out, &r->side[1]);
	strbuf_adds(out, "\n");
}

static void add_step(struct strbuf *out, const struct race_step *s)
{
	strbuf_addf(out, "<div class=\"ev t%u%s\"><div class=what>", s->number % 6,
		    s->racing ? " reordered" : "");
	markup_span(out, "thread", s->thread);
	markup_span(out, "op", s->op);
	markup_span(out, "code", s->object);
	strbuf_adds(out, "</div><div class=where>");
	if (s->line) {
		escape_markup(out, s->file);
		strbuf_addf(out, ":%u", s->line);
	}
	strbuf_adds(out, "</div></div>\n");
}

static void add_ending(struct strbuf *out, const struct race_order *o)
{
	strbuf_adds(out, "<p>ends: <b>");
	escape_markup(out, outcome_name(o->run.outcome));
	strbuf_adds(out, "</b> ");
	escape_markup(out, o->run.text);
	if (o->run.exit_code > 0)
		strbuf_addf(out, " exit status %d", o->run.exit_code);
	strbuf_adds(out, "</p>");
	if (o->out && *o->out) {
		strbuf_adds(out, "<pre class=code>");
		escape_markup(out, o->out);
		strbuf_adds(out, "</pre>");
	}
	if (o->plait) {
		strbuf_adds(out, "<p><code>unplait replay ");
		escape_markup(out, o->plait);
		strbuf_adds(out, "</code></p>");
	}
}

static void add_order(struct strbuf *out, const struct race *r, int i)
{
	const struct race_order *o = &r->order[i];

	strbuf_addf(out,
		    "<section class=%s><h3>order %c: ", run_failed(&o->run) ? "failing" : "passing",
		    "ab"[i]);
	escape_markup(out, r->side[i].file);
	strbuf_addf(out, ":%u first</h3>\n", r->side[i].line);
	if (!o->seen)
		strbuf_adds(out, "<p>This order was not seen.</p>");
	for (size_t n = 0; o->seen && n < o->steps.len; n++)
		add_step(out, &o->steps.data[n]);
	if (o->seen)
		add_ending(out, o);
	strbuf_adds(out, "</section>\n");
}

static void add_race(struct strbuf *out, const struct race *r)
{
	strbuf_addf(out, "<h2 id=\"race%u\">%u: %s on <code>", r->id, r->id,
		    race_verdict_name(r->verdict));
	escape_markup(out, r->object);
	strbuf_adds(out, "</code></h2>\n<p>");
	escape_markup(out, race_verdict_meaning(r->verdict));
	strbuf_addf(out, ". Paths: %u; pairs of runs: %u.</p>\n", r->paths,
		    r->schedules * r->paths);
	if (r->note) {
		strbuf_adds(out, "<p>");
		escape_markup(out, r->note);
		strbuf_adds(out, "</p>\n");
	}
	if (!r->order[0].seen && !r->order[1].seen)
		return;
	strbuf_adds(out, "<div class=\"schedules orders\">\n");
	add_order(out, r, 0);
	add_order(out, r, 1);
	strbuf_adds(out, "</div>\n");
}

void races_html(const struct races_result *r, const struct report_view *view, struct strbuf *out)
{
	(void)view;
	strbuf_adds(out, "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
			 "<meta name=viewport content=\"width=device-width\">"
			 "<title>data races</title>\n<style>\n");
	strbuf_adds(out, asset_explain_css);
	strbuf_adds(out, ".orders{display:grid;grid-template-columns:1fr 1fr;gap:1rem}"
			 "table{border-collapse:collapse;width:100%}"
			 "td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid}"
			 "tr.spec-violated td:nth-child(2){font-weight:bold}\n");
	strbuf_addf(out,
		    "</style></head>\n<body><main><h1>%zu data races</h1>\n<table><thead><tr>"
		    "<th>#<th>verdict<th>object<th>access<th>access</thead><tbody>\n",
		    r->races.len);
	for (size_t i = 0; i < r->races.len; i++)
		add_row(out, &r->races.data[i]);
	strbuf_adds(out, "</tbody></table>\n");
	for (size_t i = 0; i < r->races.len; i++)
		add_race(out, &r->races.data[i]);
	strbuf_adds(out, "</main></body></html>\n");
}
