/* report/explain-html.c - an explanation as one self-contained page.
 * C writes plain, complete HTML (readable with scripts off, printable); assets/explain.js only adds
 * the data-flow arrows, the source panel, filters and keys. Every text goes through
 * escape_markup: source code and values are somebody else's. */
#include "report/formats.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "explain/explanation.h"
#include "report/assets.h"
#include "report/escape.h"
#include "report/strip.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LANES = 256 };

static const char *thread_name(const struct explanation *x, uint32_t t)
{
	return t < x->nthreads ? x->threads[t] : "?";
}

/* The same event in the other schedule: same thread, same per-thread index, same place. */
static uint32_t twin_of(const struct shown_schedule *other, const struct shown_event *e)
{
	for (uint32_t i = 0; i < other->len; i++) {
		const struct shown_event *o = &other->events[i];

		if (o->thread == e->thread && o->index == e->index && o->line == e->line)
			return i;
	}
	return UINT32_MAX;
}

static void open_event(struct strbuf *out, const struct explanation *x, const struct shown_event *e,
		       char side, size_t i, uint32_t twin)
{
	strbuf_addf(out, "<div tabindex=0 id=\"%c%zu\" class=\"ev t%u%s%s%s\"", side, i,
		    e->thread % 6, e->reordered ? " reordered" : "", e->only_here ? " only" : "",
		    e->failure ? " failure" : "");
	markup_attribute(out, "data-thread", thread_name(x, e->thread));
	markup_attribute(out, "data-object", e->object ? e->object : "");
	markup_attribute(out, "data-file", e->file);
	markup_attribute(out, "data-function", e->function ? e->function : "?");
	markup_attribute(out, "data-excerpt", e->excerpt);
	strbuf_addf(out, " data-line=%u data-first=%u", e->line, e->excerpt_line);
	if (twin != UINT32_MAX)
		strbuf_addf(out, " data-twin=\"%c%u\"", side == 'f' ? 'p' : 'f', twin);
	strbuf_addc(out, '>');
}

static void add_event(struct strbuf *out, const struct explanation *x, const struct shown_event *e)
{
	strbuf_adds(out, "<div class=what>");
	markup_span(out, "thread", thread_name(x, e->thread));
	markup_span(out, "op", e->op ? e->op : "event");
	markup_span(out, "code", e->object);
	if (e->value) {
		strbuf_adds(out, "<span class=code>= ");
		escape_markup(out, e->value);
		strbuf_adds(out, "</span>");
	}
	if (e->failure)
		strbuf_adds(out, "<span class=\"tag bad\">fails here</span>");
	if (e->reordered)
		strbuf_adds(out, "<span class=tag>order differs</span>");
	if (e->only_here)
		strbuf_adds(out, "<span class=tag>only here</span>");
	if (e->repeats)
		strbuf_addf(out, "<span class=tag>and %u more</span>", e->repeats);
	if (e->file) {
		strbuf_adds(out, "<span class=where>");
		escape_markup(out, e->file);
		strbuf_addf(out, ":%u ", e->line);
		escape_markup(out, e->function);
		strbuf_adds(out, "</span>");
	}
	strbuf_adds(out, "</div>");
	markup_span(out, "code src", e->source);
	strbuf_adds(out, "</div>\n");
}

static bool thread_shown(const struct shown_schedule *s, uint32_t t)
{
	for (size_t i = 0; i < s->len; i++)
		if (s->events[i].thread == t)
			return true;
	return false;
}

static uint32_t lane_of(const uint32_t *lanes, uint32_t thread)
{
	return thread < MOST_LANES ? lanes[thread] : 0;
}

static void add_strip(struct strbuf *out, const struct shown_schedule *s, const uint32_t *lanes,
		      uint32_t nlanes, char side)
{
	struct strip_cell *cells = xcalloc(s->len + 1, sizeof(*cells));

	for (size_t i = 0; i < s->len; i++) {
		const struct shown_event *e = &s->events[i];

		cells[i] = (struct strip_cell){ .lane = lane_of(lanes, e->thread),
						.colour = e->thread,
						.marked = e->reordered,
						.failure = e->failure };
	}
	strip_html(cells, s->len, nlanes, side, out);
	free(cells);
}

/* Indent per lane, so that the eye sees who runs; with many threads the steps get smaller. */
static void add_pane(struct strbuf *out, const struct explanation *x,
		     const struct shown_schedule *s, const struct shown_schedule *other, char side)
{
	uint32_t nlanes = 0;
	uint32_t lanes[MOST_LANES];

	for (uint32_t t = 0; t < MOST_LANES; t++)
		lanes[t] =
			thread_shown(&x->failing, t) || thread_shown(&x->passing, t) ? nlanes++ : 0;
	strbuf_addf(out,
		    "<section class=\"pane %s\"><h2>%s schedule <span class=dim>%zu of %" PRIu64
		    " events, %" PRIu64 " switches</span></h2>\n",
		    side == 'f' ? "failing" : "passing", side == 'f' ? "Failing" : "Passing",
		    s->len, s->events_total, s->switches);
	add_strip(out, s, lanes, nlanes, side);
	strbuf_adds(out, "<div class=lanes><svg class=flow></svg>\n");
	for (size_t i = 0; i < s->len; i++) {
		const struct shown_event *e = &s->events[i];
		uint32_t indent = lane_of(lanes, e->thread) * (nlanes > 4 ? 12 : 36);

		strbuf_addf(out, "<div style=\"padding-left:%upx\">", indent);
		open_event(out, x, e, side, i, twin_of(other, e));
		add_event(out, x, e);
		strbuf_adds(out, "</div>\n");
	}
	strbuf_adds(out, "</div></section>\n");
}

static void add_fact(struct strbuf *out, const char *name, const char *class, const char *text)
{
	if (!text)
		return;
	strbuf_addf(out, "<dt>%s</dt><dd class=\"%s\">", name, class);
	escape_markup(out, text);
	strbuf_adds(out, "</dd>\n");
}

static void add_head(struct strbuf *out, const struct explanation *x)
{
	static const char *const kinds[] = BUG_KIND_NAMES;
	_cleanup_(xfreep) char *proof = NULL;

	strbuf_adds(out, "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
			 "<meta name=viewport content=\"width=device-width\"><title>unplait: ");
	escape_markup(out, x->program);
	strbuf_addf(out, "</title>\n<style>\n%s</style></head>\n<body>\n<h1>", asset_explain_css);
	escape_markup(out, x->program);
	strbuf_adds(out, "</h1>\n<dl class=facts>\n");
	proof = xasprintf(
		"%s: %" PRIu64 " of %" PRIu64 " replays fail the same way; %s (%" PRIu64
		" pairs tried)",
		x->confirmed ? "confirmed" : "UNCONFIRMED", x->replays_same, x->replays_tried,
		x->passing.len ? "the passing schedule was run too" : "no passing schedule found",
		x->pairs_tried);
	add_fact(out, "fails", "bad", x->outcome_text);
	add_fact(out, "cause", "", x->summary);
	add_fact(out, "kind", "", kinds[x->kind]);
	add_fact(out, "proof", x->confirmed ? "good" : "bad", proof);
	strbuf_adds(out, "</dl>\n");
}

static void add_bar(struct strbuf *out, const struct explanation *x)
{
	strbuf_adds(out, "<div class=bar>");
	for (uint32_t t = 0; t < x->nthreads; t++) {
		if (!thread_shown(&x->failing, t) && !thread_shown(&x->passing, t))
			continue;
		strbuf_addf(out, "<button aria-pressed=true class=\"thread t%u\" data-thread=\"",
			    t % 6);
		escape_markup(out, x->threads[t]);
		strbuf_adds(out, "\">thread ");
		escape_markup(out, x->threads[t]);
		strbuf_adds(out, "</button>");
	}
	strbuf_adds(out,
		    "<input id=find type=search placeholder=\"filter by object, line, text (/)\">"
		    "<button id=theme>dark / light (t)</button>"
		    "<span class=\"dim keys\">j k: next, previous · h l: other side · hover: data "
		    "flow and "
		    "source</span></div>\n");
}

static void add_advice(struct strbuf *out, const struct explanation *x)
{
	const struct shown_advice *a = &x->advice;
	_cleanup_(strbuf_deinit) struct strbuf faces = { 0 };

	if (!a->text)
		return;
	strbuf_adds(out, "<div class=advice><b>Advice.</b> ");
	escape_markup(out, a->text);
	advice_describe_faces(a, &faces);
	if (a->runs_after) {
		strbuf_addf(out,
			    "<br><span class=\"%s\">Tested: failed %" PRIu64 " of %" PRIu64
			    " schedules before",
			    a->failed_after ? "bad" : "good", a->failed_before, a->runs_before);
		escape_markup(out, strbuf_str(&faces));
		strbuf_addf(out, ", %" PRIu64 " of %" PRIu64 " with it enforced.</span>",
			    a->failed_after, a->runs_after);
	}
	if (a->failed_after)
		strbuf_adds(out, "<br>It helps, but something else leads to the same failure: mend "
				 "this first, then hunt again.");
	if (a->seen_failing)
		strbuf_addf(out,
			    "<br>Without it, this happens in %" PRIu64 " of %" PRIu64
			    " schedules that fail and in %" PRIu64 " of %" PRIu64 " that pass.",
			    a->broken_failing, a->seen_failing, a->broken_passing, a->seen_passing);
	if (a->other_after || a->other_before)
		strbuf_addf(out,
			    "<br>%" PRIu64 " of %" PRIu64 " schedules failed in another way with "
			    "it, %" PRIu64 " of %" PRIu64
			    " without: see <code>unplait hunt --all</code>.",
			    a->other_after, a->runs_after, a->other_before, a->runs_before);
	strbuf_adds(out, "</div>\n");
}

/* The cause is not known: what was tried, and what was considered. */
static void add_doubt(struct strbuf *out, const struct explanation *x)
{
	if (x->tried) {
		strbuf_adds(out, "<div class=advice><b>Tried.</b> ");
		escape_markup(out, x->tried);
		strbuf_adds(out, ".</div>\n");
	}
	for (size_t i = 0; x->kind == BUG_UNKNOWN && i < x->ncandidates; i++) {
		_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

		candidate_describe(&x->candidates[i], &text);
		strbuf_adds(out, "<div class=advice><b>Looked at.</b> ");
		escape_markup(out, strbuf_str(&text));
		strbuf_adds(out, ".</div>\n");
	}
}

static void add_earlier(struct strbuf *out, const struct shown_earlier *e)
{
	const struct shown_advice *a = &e->advice;

	if (!e->summary)
		return;
	strbuf_adds(out, "<div class=advice><b>Earlier.</b> Before that, ");
	escape_markup(out, e->summary);
	strbuf_adds(out, ". It may be the root: ");
	escape_markup(out, a->text);
	strbuf_addf(out,
		    ".<br><span class=good>With that enforced %" PRIu64 " of %" PRIu64
		    " schedules fail.</span><br>Without, it happens in %" PRIu64 " of %" PRIu64
		    " schedules that fail and in %" PRIu64 " of %" PRIu64 " that pass.</div>\n",
		    a->failed_after, a->runs_after, a->broken_failing, a->seen_failing,
		    a->broken_passing, a->seen_passing);
}

static void add_flows(struct strbuf *out, const struct explanation *x)
{
	bool first = true;

	strbuf_adds(out, "<script>\nvar FLOWS = [");
	for (size_t i = 0; i < x->nflows; i++) {
		const struct shown_flow *f = &x->flows[i];
		char side = f->failing ? 'f' : 'p';

		if (f->from == UINT32_MAX)
			continue;
		strbuf_addf(out, "%s{from:'%c%u',to:'%c%u',failing:%s}", first ? "" : ",", side,
			    f->from, side, f->to, f->failing ? "true" : "false");
		first = false;
	}
	strbuf_addf(out, "];\n%s</script>\n", asset_explain_js);
}

/* The threads of a deadlock, each with its stack. */
static void add_waits(struct strbuf *out, const struct explanation *x)
{
	if (!x->nwaits)
		return;
	strbuf_adds(out, "<h2>Who waits</h2>\n");
	for (size_t i = 0; i < x->nwaits; i++) {
		const struct shown_wait *w = &x->waits[i];

		strbuf_addf(out, "<div class=\"advice t%u\">", w->thread % 6);
		markup_span(out, "thread", thread_name(x, w->thread));
		strbuf_addc(out, ' ');
		escape_markup(out, w->text);
		strbuf_adds(out, "<ol class=code>\n");
		for (size_t k = 0; k < w->nframes; k++) {
			strbuf_adds(out, "<li>");
			escape_markup(out, w->frames[k]);
			strbuf_adds(out, "</li>\n");
		}
		strbuf_adds(out, "</ol></div>\n");
	}
}

void explanation_html(const struct explanation *x, const struct report_view *view,
		      struct strbuf *out)
{
	(void)view;
	add_head(out, x);
	add_advice(out, x);
	add_doubt(out, x);
	add_earlier(out, &x->earlier);
	add_bar(out, x);
	strbuf_adds(out, "<main class=panes>\n");
	add_pane(out, x, &x->failing, &x->passing, 'f');
	if (x->passing.len)
		add_pane(out, x, &x->passing, &x->failing, 'p');
	strbuf_adds(out, "</main>\n");
	add_waits(out, x);
	if (x->nnotes) {
		strbuf_adds(out, "<h2>Notes</h2><ul>\n");
		for (size_t i = 0; i < x->nnotes; i++) {
			strbuf_adds(out, "<li>");
			escape_markup(out, x->notes[i].text);
			strbuf_adds(out, "</li>\n");
		}
		strbuf_adds(out, "</ul>\n");
	}
	strbuf_adds(out, "<aside id=source></aside>\n");
	add_flows(out, x);
	strbuf_adds(out, "</body></html>\n");
}
