/* report/rank-term.c - a ranking for the terminal: reconstructions top down in the order of time,
 * with the source around the two ends of the edge, then the code points. */
#include "report/formats.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "graph/ranking.h"

#include <inttypes.h>
#include <string.h>

static const char *base_name(const char *path)
{
	return strlen(path) > 28 ? path_name(path) : path;
}

static void add_point(struct strbuf *out, const struct shown_point *p)
{
	if (p->initial) {
		strbuf_adds(out, "nobody has written it yet");
		return;
	}
	if (p->file)
		strbuf_addf(out, "%s:%u  ", base_name(p->file), p->line);
	else
		strbuf_adds(out, "?  ");
	strbuf_adds(out, p->op ? p->op : "access");
	if (p->object)
		strbuf_addf(out, " %s", p->object);
	if (p->function)
		strbuf_addf(out, "  in %s", p->function);
}

/* Cut a line that is too long, not counting escape sequences: there are none in `text`. */
static void add_cut(struct strbuf *out, const char *text, unsigned width)
{
	size_t n = strlen(text);

	if (n > width && width > 3)
		strbuf_addf(out, "%.*s...\n", (int)width - 3, text);
	else
		strbuf_addf(out, "%s\n", text);
}

static void add_excerpt(struct strbuf *out, const struct shown_point *p, unsigned width)
{
	const char *line = p->excerpt;

	for (uint32_t n = p->excerpt_line; line && *line; n++) {
		size_t len = strcspn(line, "\n");
		_cleanup_(xfreep) char *text = xasprintf("%.*s", (int)len, line);
		bool here = n == p->line;

		for (char *c = text; *c; c++)
			if (*c == '\t')
				*c = ' ';
		strbuf_addf(out, "%s          %c%6u  ", color(here ? COLOR_BOLD : COLOR_DIM),
			    here ? '>' : ' ', n);
		add_cut(out, text, width > 19 ? width - 19 : 20);
		strbuf_adds(out, color(COLOR_OFF));
		line += len + (line[len] == '\n');
	}
}

static void add_end(struct strbuf *out, const char *name, const struct shown_member *m,
		    unsigned width)
{
	strbuf_addf(out, "  %s%-7s ", color(COLOR_RED), name);
	add_point(out, m->point);
	if (m->context && *m->context)
		strbuf_addf(out, "%s  [%s]", color(COLOR_DIM), m->context);
	strbuf_addf(out, "%s\n", color(COLOR_OFF));
	add_excerpt(out, m->point, width);
}

static void add_region(struct strbuf *out, const char *name, const struct shown_region *r,
		       unsigned width)
{
	for (size_t i = 0; i < r->len; i++) {
		const struct shown_member *m = &r->members[i];
		_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

		add_point(&text, m->point);
		if (m->point->source)
			strbuf_addf(&text, "   %s", m->point->source);
		strbuf_addf(out, "  %s%-7s%s %3.0f%%  ", color(COLOR_CYAN), i ? "" : name,
			    color(COLOR_OFF), m->confidence * 100);
		add_cut(out, strbuf_str(&text), width > 16 ? width - 16 : 20);
	}
}

/* What the edge says, in a sentence. */
static void add_sentence(struct strbuf *out, const struct shown_reconstruction *x)
{
	const struct shown_point *src = x->source.point, *sink = x->sink.point;
	bool writes = sink->op && strcmp(sink->op, "write") == 0;

	strbuf_addf(out, "    %s (%s:%u) %s ", sink->function ? sink->function : "?",
		    sink->file ? base_name(sink->file) : "?", sink->line,
		    writes ? "overwrites" : "reads");
	if (src->initial)
		strbuf_adds(out, "what nobody has written yet");
	else
		strbuf_addf(out, "what %s (%s:%u) wrote in another thread",
			    src->function ? src->function : "?",
			    src->file ? base_name(src->file) : "?", src->line);
	if (x->instead && x->instead->initial)
		strbuf_adds(out, "; in passing runs, what nobody has written yet");
	else if (x->instead)
		strbuf_addf(out, "; in passing runs, what %s:%u wrote",
			    x->instead->file ? base_name(x->instead->file) : "?", x->instead->line);
	strbuf_adds(out, "\n");
}

static void add_reconstruction(struct strbuf *out, const struct ranking *r,
			       const struct shown_reconstruction *x, unsigned width)
{
	strbuf_addf(
		out,
		"\n%s#%zu  score %.4g%s  B %.3g  C %.2f  R %.2f   in %u of %zu %s, %u of %zu %s",
		color(COLOR_BOLD), x->rank, x->score, color(COLOR_OFF), x->b, x->c, x->r,
		x->failing, r->failing, r->baseline ? "field runs" : "failing runs", x->passing,
		r->passing, r->baseline ? "tests" : "passing");
	strbuf_addf(out, "%s\n", x->p >= GRAPH_SIGNIFICANT ? "  (may be chance)" : "");
	add_sentence(out, x);
	add_region(out, "before", &x->prefix, width);
	add_end(out, "SOURCE", &x->source, width);
	add_region(out, "between", &x->body, width);
	add_end(out, "SINK", &x->sink, width);
	if (x->instead) {
		strbuf_addf(out, "  %sINSTEAD%s ", color(COLOR_GREEN), color(COLOR_OFF));
		add_point(out, x->instead);
		strbuf_addf(out, "   (in %u of %zu passing runs, %u of %zu failing)\n",
			    x->instead_passing, r->passing, x->instead_failing, r->failing);
	}
	add_region(out, "after", &x->suffix, width);
}

static void add_points(struct strbuf *out, const struct ranking *r, unsigned width)
{
	strbuf_addf(out, "\n%scode points%s that %s\n", color(COLOR_BOLD), color(COLOR_OFF),
		    r->unlabelled ? "ran in rare contexts"
		    : r->baseline ? "communicated as in no test, most suspicious first"
				  : "communicated so in failing runs only, most suspicious first");
	if (!r->npoints)
		strbuf_adds(out, "  none: no communication is new\n");
	for (size_t i = 0; i < r->npoints; i++) {
		_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

		strbuf_addf(&text, "%3zu  %.5f  ", r->points[i].rank, r->points[i].score);
		if (!r->unlabelled)
			strbuf_addf(&text, "Ochiai %.2f  ", r->points[i].ochiai);
		add_point(&text, r->points[i].point);
		add_cut(out, strbuf_str(&text), width);
	}
	if (r->points_total > r->npoints)
		strbuf_addf(out, "     and %zu more (--top)\n", r->points_total - r->npoints);
}

void ranking_term(const struct ranking *r, const struct report_view *view, struct strbuf *out)
{
	unsigned width = view->width;
	strbuf_addf(out, "%s%s%s: ", color(COLOR_BOLD), r->program, color(COLOR_OFF));
	if (r->unlabelled)
		strbuf_addf(out, "%zu runs", r->failing + r->passing);
	else
		strbuf_addf(out, "%zu %s and %zu %s runs", r->failing,
			    r->baseline ? "field" : "failing", r->passing,
			    r->baseline ? "test" : "passing");
	strbuf_addf(out, ", %zu nodes, %zu edges, contexts of %u events\n", r->nodes, r->edges,
		    r->context);
	if (r->skipped)
		strbuf_addf(out, "%zu plaits left out: how those runs ended is not known\n",
			    r->skipped);
	if (!r->unlabelled && !r->baseline && !r->above_noise)
		strbuf_addf(
			out,
			"%sNothing stands above the noise:%s no edge tells the %s runs from the "
			"others better than chance would.\n%s",
			color(COLOR_YELLOW), color(COLOR_OFF), r->baseline ? "field" : "failing",
			r->failing < RANKING_FEW
				? "With so few failing runs little can; `unplait rank --hunt 25 -- "
				  "PROGRAM` makes 25 of each kind.\n"
				: "`unplait explain` takes one failing run apart and confirms its "
				  "cause.\n");
	for (size_t i = 0; i < r->nreconstructions; i++)
		add_reconstruction(out, r, &r->reconstructions[i], width);
	if (r->nreconstructions)
		strbuf_addf(
			out,
			"\n%sA thread wrote at SOURCE; another read or overwrote that at SINK. "
			"Score: how much better this tells failing\nruns from passing ones than "
			"chance; B: how much more often failing runs do it, C: how unlike the\n"
			"contexts of its ends are, R: how alike failing runs are around it. "
			"Percentages: of the failing runs with\nthat edge. In brackets: what the "
			"thread shared last, latest first; Lc its own, Rm another's, Rd read,\n"
			"Wr write.%s\n",
			color(COLOR_DIM), color(COLOR_OFF));
	if (r->reconstructions_total > r->nreconstructions)
		strbuf_addf(out, "\nand %zu more reconstructions (--top)\n",
			    r->reconstructions_total - r->nreconstructions);
	add_points(out, r, width);
}
