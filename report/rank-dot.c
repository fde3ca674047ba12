/* report/rank-dot.c - the best reconstructions as a Graphviz drawing: one cluster each, regions
 * from top to bottom. */
#include "report/formats.h"

#include "base/strbuf.h"
#include "graph/ranking.h"
#include "report/escape.h"

enum { DRAWN = 3 };

static void add_node(struct strbuf *out, size_t cluster, const char *id,
		     const struct shown_member *m, const char *style)
{
	strbuf_addf(out, "    r%zu_%s [%s label=\"", cluster, id, style);
	if (m->point->initial) {
		strbuf_adds(out, "initial value");
	} else {
		escape_dot(out, m->point->file ? m->point->file : "?");
		strbuf_addf(out, ":%u %s ", m->point->line, m->point->op ? m->point->op : "");
		escape_dot(out, m->point->object);
		strbuf_addf(out, "\\n");
		escape_dot(out, m->point->source);
	}
	strbuf_adds(out, "\"];\n");
}

static void add_region(struct strbuf *out, size_t cluster, const char *name,
		       const struct shown_region *r, const char *from, const char *to)
{
	for (size_t i = 0; i < r->len; i++) {
		struct strbuf id = { 0 };

		strbuf_addf(&id, "%s%zu", name, i);
		add_node(out, cluster, strbuf_str(&id), &r->members[i], "");
		if (from)
			strbuf_addf(out, "    r%zu_%s -> r%zu_%s [style=dotted];\n", cluster, from,
				    cluster, strbuf_str(&id));
		if (to)
			strbuf_addf(out,
				    "    r%zu_%s -> r%zu_%s [style=dotted label=\"%.0f%%\"];\n",
				    cluster, strbuf_str(&id), cluster, to,
				    r->members[i].confidence * 100);
		strbuf_deinit(&id);
	}
}

void ranking_dot(const struct ranking *r, const struct report_view *view, struct strbuf *out)
{
	(void)view;
	strbuf_adds(out, "digraph rank {\n  node [shape=box fontname=monospace fontsize=10];\n");
	for (size_t i = 0; i < r->nreconstructions && i < DRAWN; i++) {
		const struct shown_reconstruction *x = &r->reconstructions[i];

		strbuf_addf(out, "  subgraph cluster%zu {\n    label=\"#%zu score %.4g\";\n", i,
			    x->rank, x->score);
		add_node(out, i, "source", &x->source, "color=red penwidth=2");
		add_node(out, i, "sink", &x->sink, "color=red penwidth=2");
		strbuf_addf(out, "    r%zu_source -> r%zu_sink [color=red penwidth=2];\n", i, i);
		add_region(out, i, "prefix", &x->prefix, NULL, "source");
		add_region(out, i, "body", &x->body, "source", "sink");
		add_region(out, i, "suffix", &x->suffix, "sink", NULL);
		strbuf_adds(out, "  }\n");
	}
	strbuf_adds(out, "}\n");
}
