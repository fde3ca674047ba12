/* report/explain-dot.c - the two schedules as a Graphviz drawing, with their data flow. */
#include "report/formats.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "explain/explanation.h"
#include "report/escape.h"

static void add_schedule(struct strbuf *out, const struct explanation *x,
			 const struct shown_schedule *s, char side, const char *title)
{
	strbuf_addf(out, "  subgraph cluster_%c {\n    label=\"%s\";\n", side, title);
	for (size_t i = 0; i < s->len; i++) {
		const struct shown_event *e = &s->events[i];

		strbuf_addf(out, "    %c%zu [label=\"%s  ", side, i,
			    e->thread < x->nthreads ? x->threads[e->thread] : "?");
		escape_dot(out, e->file ? e->file : "?");
		strbuf_addf(out, ":%u\\n%s ", e->line, e->op ? e->op : "event");
		escape_dot(out, e->object);
		strbuf_addf(out, "\"%s%s];\n", e->reordered ? ", style=bold" : "",
			    e->failure ? ", color=red" : "");
		if (i)
			strbuf_addf(out, "    %c%zu -> %c%zu [style=%s, arrowhead=none];\n", side,
				    i - 1, side, i, e->switched ? "dotted" : "solid");
	}
	strbuf_adds(out, "  }\n");
}

void explanation_dot(const struct explanation *x, const struct report_view *view,
		     struct strbuf *out)
{
	(void)view;
	strbuf_adds(out, "digraph explanation {\n  node [shape=box, fontname=\"monospace\"];\n");
	add_schedule(out, x, &x->failing, 'f', "failing");
	add_schedule(out, x, &x->passing, 'p', "passing");
	for (size_t i = 0; i < x->nflows; i++) {
		const struct shown_flow *f = &x->flows[i];
		char side = f->failing ? 'f' : 'p';

		if (f->from != UINT32_MAX)
			strbuf_addf(out, "  %c%u -> %c%u [color=%s, constraint=false];\n", side,
				    f->from, side, f->to, f->failing ? "red" : "darkgreen");
	}
	strbuf_adds(out, "}\n");
}
