#include "report/report.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "explain/explanation.h"

static void add_quoted(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			strbuf_addc(out, '\\');
		strbuf_addc(out, *text);
	}
}

static void add_schedule(struct strbuf *out, const struct explanation *x,
			 const struct shown_schedule *s, char side, const char *title)
{
	strbuf_addf(out, "  subgraph cluster_%c {\n    label=\"%s\";\n", side, title);
	for (size_t i = 0; i < s->len; i++) {
		const struct shown_event *e = &s->events[i];

		strbuf_addf(out, "    %c%zu [label=\"%s  %s:%u\\n%s ", side, i,
			    e->thread < x->nthreads ? x->threads[e->thread] : "?",
			    e->file ? e->file : "?", e->line, e->op ? e->op : "event");
		add_quoted(out, e->object ? e->object : "");
		strbuf_addf(out, "\"%s%s];\n", e->reordered ? ", style=bold" : "",
			    e->failure ? ", color=red" : "");
		if (i)
			strbuf_addf(out, "    %c%zu -> %c%zu [style=%s, arrowhead=none];\n", side,
				    i - 1, side, i, e->switched ? "dotted" : "solid");
	}
	strbuf_adds(out, "  }\n");
}

void report_explain_dot(const struct explanation *x, struct strbuf *out)
{
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
