/* report/races-html.c - the races of a program as one page: a table, and for each race its two orders
 * side by side. Complete without scripts; no network. */
#include "report/formats.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "race/race.h"
#include "report/assets.h"
#include "report/escape.h"
#include "report/strip.h"
#include "trace/trace.h"

#include <stdlib.h>

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

/* Rows for the threads of both orders, by number. */
struct lanes VEC_FIELDS(uint32_t);

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static uint32_t lane_of(const struct lanes *l, uint32_t thread)
{
	uint32_t i = 0;

	while (i < l->len && l->data[i] != thread)
		i++;
	return i;
}

static void gather_lanes(const struct race *r, struct lanes *ret)
{
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; r->order[k].seen && i < r->order[k].steps.len; i++) {
			uint32_t thread = r->order[k].steps.data[i].number;

			if (lane_of(ret, thread) == ret->len)
				vec_push(ret, thread);
		}
	if (ret->len)
		qsort(ret->data, ret->len, sizeof(ret->data[0]), by_number);
}

static void add_strip(struct strbuf *out, const struct race_order *o, const struct lanes *l)
{
	struct strip_cell *cells = xcalloc(o->steps.len + 1, sizeof(*cells));

	for (size_t i = 0; i < o->steps.len; i++) {
		const struct race_step *s = &o->steps.data[i];

		cells[i] = (struct strip_cell){ .lane = lane_of(l, s->number),
						.colour = s->number,
						.marked = s->racing };
	}
	strip_html(cells, o->steps.len, (uint32_t)l->len, 0, out);
	free(cells);
}

static void add_step(struct strbuf *out, const struct race_step *s, const struct lanes *l)
{
	strbuf_addf(out, "<div class=\"ev t%u%s\" style=\"margin-left:%upx\"><div class=what>",
		    s->number % 6, s->racing ? " reordered" : "",
		    lane_of(l, s->number) * (l->len > 4 ? 10 : 24));
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

/* "the read of thread 0.1 at main.c:12 comes first"; without the thread where that was not seen. */
static void add_order_name(struct strbuf *out, const struct race *r, int i)
{
	const struct race_order *o = &r->order[i];
	const struct race_step *first = NULL;

	for (size_t n = 0; o->seen && !first && n < o->steps.len; n++)
		if (o->steps.data[n].racing)
			first = &o->steps.data[n];
	strbuf_addf(out, "order %c: the %s", "ab"[i],
		    first		? first->op
		    : r->side[i].writes ? "write"
					: "read");
	if (first) {
		strbuf_adds(out, " of thread ");
		escape_markup(out, first->thread);
	}
	strbuf_adds(out, " at ");
	escape_markup(out, r->side[i].file);
	strbuf_addf(out, ":%u comes first", r->side[i].line);
}

static void add_order(struct strbuf *out, const struct race *r, int i, const struct lanes *l)
{
	const struct race_order *o = &r->order[i];

	strbuf_addf(out, "<section class=\"pane %s\"><h3>",
		    run_failed(&o->run) ? "failing" : "passing");
	add_order_name(out, r, i);
	strbuf_adds(out, "</h3>\n");
	if (!o->seen)
		strbuf_adds(out, "<p>This order was not seen.</p>");
	if (o->seen)
		add_strip(out, o, l);
	for (size_t n = 0; o->seen && n < o->steps.len; n++)
		add_step(out, &o->steps.data[n], l);
	if (o->seen)
		add_ending(out, o);
	strbuf_adds(out, "</section>\n");
}

static void add_race(struct strbuf *out, const struct race *r)
{
	struct lanes lanes = { 0 };

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
	gather_lanes(r, &lanes);
	strbuf_adds(out, "<div class=\"panes orders\">\n");
	add_order(out, r, 0, &lanes);
	add_order(out, r, 1, &lanes);
	strbuf_adds(out, "</div>\n");
	vec_deinit(&lanes);
}

void races_html(const struct races_result *r, const struct report_view *view, struct strbuf *out)
{
	(void)view;
	strbuf_adds(out, "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
			 "<meta name=viewport content=\"width=device-width\">"
			 "<title>data races</title>\n<style>\n");
	strbuf_adds(out, asset_explain_css);
	strbuf_adds(out, asset_races_css);
	strbuf_addf(out,
		    "</style></head>\n<body><main><h1>%zu data race%s</h1>\n<div class=wide><table>"
		    "<thead><tr><th>#<th>verdict<th>object<th>access<th>access</thead><tbody>\n",
		    r->races.len, r->races.len == 1 ? "" : "s");
	for (size_t i = 0; i < r->races.len; i++)
		add_row(out, &r->races.data[i]);
	strbuf_adds(out, "</tbody></table></div>\n");
	for (size_t i = 0; i < r->races.len; i++)
		add_race(out, &r->races.data[i]);
	strbuf_adds(out, "</main></body></html>\n");
}
