/* report/rank-html.c - a ranking as one self-contained page, in the style of explain's. Complete
 * without scripts: reconstructions fold with <details>. */
#include "report/formats.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "graph/ranking.h"
#include "report/assets.h"
#include "report/escape.h"

#include <stdlib.h>
#include <string.h>

static void add_point(struct strbuf *out, const struct shown_point *p)
{
	if (p->initial) {
		markup_span(out, "op", "nobody has written it yet");
		return;
	}
	markup_span(out, "op", p->op ? p->op : "access");
	markup_span(out, "code", p->object);
	strbuf_adds(out, "<span class=where>");
	escape_markup(out, p->file ? p->file : "?");
	strbuf_addf(out, ":%u ", p->line);
	escape_markup(out, p->function);
	strbuf_adds(out, "</span>");
}

/* A few lines, the one that matters set off. */
static void add_excerpt(struct strbuf *out, const struct shown_point *p)
{
	const char *line = p->excerpt;

	strbuf_adds(out, "<pre class=code>");
	for (uint32_t n = p->excerpt_line; line && *line; n++) {
		size_t len = strcspn(line, "\n");
		char *text = xasprintf("%5u  %.*s", n, (int)len, line);

		strbuf_adds(out, n == p->line ? "<b>" : "");
		escape_markup(out, text);
		strbuf_adds(out, n == p->line ? "</b>\n" : "\n");
		free(text);
		line += len + (line[len] == '\n');
	}
	strbuf_adds(out, "</pre>");
}

static void add_place(struct strbuf *out, const struct shown_point *p)
{
	if (p->function) {
		markup_span(out, "code", p->function);
		strbuf_addc(out, ' ');
	}
	strbuf_addc(out, '(');
	escape_markup(out, p->file ? p->file : "?");
	strbuf_addf(out, ":%u)", p->line);
}

/* What the edge says, in a sentence. */
static void add_sentence(struct strbuf *out, const struct shown_reconstruction *x)
{
	bool writes = x->sink.point->op && strcmp(x->sink.point->op, "write") == 0;

	strbuf_adds(out, "<br>");
	add_place(out, x->sink.point);
	strbuf_adds(out, writes ? " overwrites " : " reads ");
	if (x->source.point->initial) {
		strbuf_adds(out, "what nobody has written yet");
	} else {
		strbuf_adds(out, "what ");
		add_place(out, x->source.point);
		strbuf_adds(out, " wrote in another thread");
	}
	if (x->instead) {
		strbuf_adds(out, "; in passing runs, what ");
		if (x->instead->initial)
			strbuf_adds(out, "nobody has written yet");
		else
			add_place(out, x->instead);
		strbuf_adds(out, x->instead->initial ? "" : " wrote");
		strbuf_addf(out, " (in %u of them, in %u failing)", x->instead_passing,
			    x->instead_failing);
	}
	strbuf_addc(out, '.');
}

static void add_member(struct strbuf *out, const struct shown_member *m, const char *tag, bool edge)
{
	strbuf_addf(out, "<div class=\"ev %s\"><div class=what><span class=\"tag%s\">",
		    edge ? "t1 reordered" : "t0", edge ? " bad" : "");
	escape_markup(out, tag);
	strbuf_adds(out, "</span>");
	add_point(out, m->point);
	if (!edge)
		strbuf_addf(out, "<span class=tag>%.0f%%</span>", m->confidence * 100);
	if (m->context && *m->context)
		markup_span(out, "dim", m->context);
	strbuf_adds(out, "</div>");
	if (edge && m->point->excerpt) {
		add_excerpt(out, m->point);
	} else {
		markup_span(out, "code src", m->point->source);
	}
	strbuf_adds(out, "</div>\n");
}

static void add_region(struct strbuf *out, const struct shown_region *r, const char *tag)
{
	for (size_t i = 0; i < r->len; i++)
		add_member(out, &r->members[i], tag, false);
}

static void add_reconstruction(struct strbuf *out, const struct ranking *r,
			       const struct shown_reconstruction *x)
{
	strbuf_addf(
		out,
		"<details class=pane%s><summary>#%zu &nbsp; score %.4g &nbsp; B %.3g, C %.2f, R "
		"%.2f &nbsp; in %u of %zu %s runs, %u of %zu %s%s",
		x->rank == 1 ? " open" : "", x->rank, x->score, x->b, x->c, x->r, x->failing,
		r->failing, r->baseline ? "field" : "failing", x->passing, r->passing,
		r->baseline ? "test" : "passing",
		x->p >= GRAPH_SIGNIFICANT ? " (may be chance)" : "");
	add_sentence(out, x);
	strbuf_adds(out, "</summary>\n");
	add_region(out, &x->prefix, "before");
	add_member(out, &x->source, "source", true);
	add_region(out, &x->body, "between");
	add_member(out, &x->sink, "sink", true);
	add_region(out, &x->suffix, "after");
	strbuf_adds(out, "</details>\n");
}

static void add_points(struct strbuf *out, const struct ranking *r)
{
	strbuf_addf(out,
		    "<h2>Code points</h2>\n<p class=dim>Single lines that %s. The number: the mean "
		    "share of a context in what the line did; small is suspicious.</p>\n",
		    r->unlabelled ? "ran in rare contexts, the rarest first"
		    : r->baseline ? "communicated as in no test, most suspicious first"
				  : "communicated so in failing runs only, most suspicious first");
	for (size_t i = 0; i < r->npoints; i++) {
		const struct shown_code_point *p = &r->points[i];

		strbuf_addf(out,
			    "<div class=\"ev t0\"><div class=what><span class=tag>%zu</span>"
			    "<span class=dim>%.5f</span>",
			    p->rank, p->score);
		add_point(out, p->point);
		strbuf_adds(out, "</div>");
		markup_span(out, "code src", p->point->source);
		strbuf_adds(out, "</div>\n");
	}
}

void ranking_html(const struct ranking *r, const struct report_view *view, struct strbuf *out)
{
	(void)view;
	strbuf_adds(out,
		    "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
		    "<meta name=viewport content=\"width=device-width\"><title>unplait rank: ");
	escape_markup(out, r->program);
	strbuf_addf(out, "</title>\n<style>\n%s</style></head>\n<body>\n<h1>", asset_explain_css);
	escape_markup(out, r->program);
	strbuf_adds(out, "</h1>\n<dl class=facts>\n");
	strbuf_addf(out, "<dt>runs</dt><dd>%zu %s, %zu %s</dd>\n", r->failing,
		    r->baseline ? "field" : "failing", r->passing,
		    r->baseline ? "tests" : "passing");
	strbuf_addf(out, "<dt>graphs</dt><dd>%zu nodes, %zu edges, contexts of %u events</dd>\n",
		    r->nodes, r->edges, r->context);
	if (!r->unlabelled && !r->baseline)
		strbuf_addf(out, "<dt>noise</dt><dd class=\"%s\">%s</dd>\n",
			    r->above_noise ? "good" : "bad",
			    r->above_noise ? "the best edges are beyond chance"
					   : "nothing stands above the noise");
	strbuf_adds(out, "</dl>\n<main>\n");
	if (r->nreconstructions)
		strbuf_adds(out, "<p class=dim>A thread wrote at <i>source</i>; another read or "
				 "overwrote that at <i>sink</i>. Score: how much better this tells "
				 "failing runs from passing ones than chance; B: how much more "
				 "often failing runs do it, C: how unlike the contexts of its ends "
				 "are, R: how alike failing runs are around it. "
				 "Percentages: of the failing runs with that edge. "
				 "Contexts (LcRd, RmWr ...): what the thread shared last, latest "
				 "first; Lc its own, Rm another's, Rd read, Wr write.</p>\n");
	for (size_t i = 0; i < r->nreconstructions; i++)
		add_reconstruction(out, r, &r->reconstructions[i]);
	add_points(out, r);
	strbuf_adds(out, "</main>\n</body></html>\n");
}
