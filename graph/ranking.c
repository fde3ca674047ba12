/* graph/ranking.c - from graphs to an answer with names: rank, then show the best with their source
 * lines. Members of a reconstruction are shown once per code point: contexts tell runs apart, not
 * lines; the confidence shown is the best of the line's nodes.
 *
 * Noise: what would stand out as much by chance is marked so, and when nothing does better the
 * ranking says that nothing stands out (levels.c). */
#include "graph/ranking.h"

#include "base/err.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "graph/load.h"
#include "debug/names.h"

#include <ctype.h>
#include <string.h>

enum { EXCERPT = 2 };

struct source_file {
	const char *path;
	struct strbuf text;
};

struct presenter {
	struct ranking *r;
	struct graph_loader *l;
	const struct graph_set *set;
	struct map points; /* point -> index into shown + 1 */
	VEC(struct shown_point *) shown;
	VEC(uint64_t) ends; /* code points of telling edges, most telling first */
	VEC(struct source_file) files;
};

void ranking_free(struct ranking *r)
{
	if (!r)
		return;
	arena_deinit(&r->arena);
	free(r);
}

/* ---- source lines ---- */

static const char *file_text(struct presenter *p, const char *path)
{
	const struct trace_meta *m = trace_meta(p->l->first);
	const char *slash = m->nmodules ? strrchr(m->modules[0].path, '/') : NULL;
	_cleanup_(xfreep) char *in_cwd = xasprintf("%s/%s", m->cwd ? m->cwd : ".", path);
	_cleanup_(xfreep) char *beside =
		xasprintf("%.*s/%s", slash ? (int)(slash - m->modules[0].path) : 1,
			  slash ? m->modules[0].path : ".", path);
	const char *places[] = { path, in_cwd, beside };
	struct source_file *f;

	for (size_t i = 0; i < p->files.len; i++)
		if (strcmp(p->files.data[i].path, path) == 0)
			return strbuf_str(&p->files.data[i].text);
	f = vec_add(&p->files);
	f->path = arena_strdup(&p->r->arena, path);
	for (size_t i = 0; i < ARRAY_SIZE(places) && !f->text.len; i++)
		err_free(file_read(places[i], &f->text));
	return strbuf_str(&f->text);
}

static const char *line_start(const char *text, uint32_t n)
{
	for (; text && n > 1; n--) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text && *text ? text : NULL;
}

static void add_source(struct presenter *p, struct shown_point *s)
{
	const char *text = file_text(p, s->file), *line = line_start(text, s->line), *first, *end;

	if (!line || !s->line)
		return;
	s->excerpt_line = s->line > EXCERPT ? s->line - EXCERPT : 1;
	first = line_start(text, s->excerpt_line);
	end = line_start(text, s->line + EXCERPT + 1);
	s->excerpt = end ? arena_strndup(&p->r->arena, first, (size_t)(end - first - 1))
			 : arena_strdup(&p->r->arena, first);
	while (isspace((unsigned char)*line) && *line != '\n')
		line++;
	s->source = arena_strndup(&p->r->arena, line, strcspn(line, "\n"));
}

/* ---- code points ---- */

static const char *op_of(const struct code_point *c)
{
	switch (c->site ? c->site->kind : 0) {
	case PLAIT_SITE_READ:
	case PLAIT_SITE_ATOMIC_READ:
		return "read";
	case PLAIT_SITE_WRITE:
	case PLAIT_SITE_ATOMIC_WRITE:
		return "write";
	case PLAIT_SITE_ATOMIC_RMW:
		return "update";
	}
	return "access";
}

static const char *known(struct presenter *p, const char *text)
{
	return text && *text ? arena_strdup(&p->r->arena, text) : NULL;
}

static const struct shown_point *show(struct presenter *p, uint64_t point)
{
	uint64_t *at = map_put(&p->points, point, p->shown.len);
	struct shown_point *s;
	struct code_point c;

	if (*at < p->shown.len)
		return p->shown.data[*at];
	s = arena_new(&p->r->arena, struct shown_point);
	vec_push(&p->shown, s);
	s->initial = point == GRAPH_INITIAL;
	if (s->initial)
		return s;
	graph_loader_name(p->l, point, &c);
	s->file = known(p, c.file);
	s->line = c.line;
	s->function = known(p, c.function);
	s->object = known(p, c.object);
	s->op = op_of(&c);
	if (s->file)
		add_source(p, s);
	return s;
}

static const char *context_text(struct presenter *p, uint32_t context, uint32_t events)
{
	static const char *const names[] = { "LcRd", "LcWr", "RmRd", "RmWr" };
	struct strbuf text = { 0 };
	const char *ret;

	/* a register of zeros is an empty one or only local reads: nobody can tell */
	for (uint32_t i = 0; i < p->r->context && i < events && context; i++, context >>= 2)
		strbuf_addf(&text, "%s%s", i ? " " : "", names[context & 3]);
	ret = arena_strdup(&p->r->arena, strbuf_str(&text));
	strbuf_deinit(&text);
	return ret;
}

/* `events` of its context matter. */
static struct shown_member member(struct presenter *p, uint32_t node, uint32_t events,
				  double confidence)
{
	const struct graph_node *n = &p->set->nodes.data[node];

	return (struct shown_member){ .point = show(p, n->point),
				      .context = context_text(p, n->context, events),
				      .confidence = confidence };
}

/* One entry per line, even if it reads and writes: the reader sees the line itself. */
static bool same_line(const struct shown_point *a, const struct shown_point *b)
{
	if (a == b)
		return true;
	return a->file && b->file && a->line && a->line == b->line && strcmp(a->file, b->file) == 0;
}

static void show_region(struct presenter *p, const struct graph_region *from, uint32_t events,
			struct shown_region *to)
{
	to->members = arena_array(&p->r->arena, struct shown_member, from->len + 1);
	for (size_t i = 0; i < from->len; i++) {
		struct shown_member m =
			member(p, from->data[i].node, events, from->data[i].confidence);
		bool seen = m.point->initial;

		for (size_t k = 0; k < to->len; k++)
			seen |= same_line(to->members[k].point, m.point);
		if (!seen)
			to->members[to->len++] = m;
	}
}

static void show_reconstruction(struct presenter *p, const struct reconstruction *from, size_t rank,
				struct shown_reconstruction *to)
{
	const struct graph_edge *e = &p->set->edges.data[from->edge];
	/* members of a pair stand for their code points */
	uint32_t events = from->events == UINT32_MAX ? UINT32_MAX : 0;

	*to = (struct shown_reconstruction){
		.rank = rank,
		.score = from->score,
		.evidence = from->evidence,
		.product = from->product,
		.norm = from->norm,
		.p = from->chance,
		.b = from->b,
		.c = from->c,
		.r = from->r,
		.failing = from->runs_failing,
		.passing = from->runs_passing,
		.source = member(p, e->src, from->events, 1),
		.sink = member(p, e->sink, from->events, 1),
	};
	show_region(p, &from->prefix, events, &to->prefix);
	show_region(p, &from->body, events, &to->body);
	show_region(p, &from->suffix, events, &to->suffix);
	if (from->instead.known) {
		to->instead = show(p, p->set->nodes.data[from->instead.node].point);
		to->instead_failing = from->instead.runs_failing;
		to->instead_passing = from->instead.runs_passing;
	}
}

static void show_reconstructions(struct presenter *p, const struct ranking_options *o, size_t top)
{
	struct reconstruct_opts opts = { .score = o->score, .window = o->window };
	struct reconstructions all;
	struct ranking *r = p->r;

	graph_reconstruct(p->set, &opts, &all);
	r->reconstructions_total = all.len;
	r->nreconstructions = MIN(all.len, top);
	r->reconstructions =
		arena_array(&r->arena, struct shown_reconstruction, r->nreconstructions + 1);
	for (size_t i = 0; i < r->nreconstructions; i++)
		show_reconstruction(p, &all.data[i], i + 1, &r->reconstructions[i]);
	for (size_t i = 0; i < all.len; i++) {
		const struct graph_edge *e = &p->set->edges.data[all.data[i].edge];

		vec_push(&p->ends, p->set->nodes.data[e->src].point);
		vec_push(&p->ends, p->set->nodes.data[e->sink].point);
	}
	r->above_noise = all.chance < GRAPH_SIGNIFICANT;
	reconstructions_deinit(&all);
}

static void show_points(struct presenter *p, const struct ranking_options *o, size_t top)
{
	struct ranked_points all;
	struct ranking *r = p->r;

	graph_rank_points(p->set, o->unlabelled ? GRAPH_UNLABELLED : GRAPH_LABELLED, &all);
	if (!o->unlabelled)
		graph_fuse_points(&all, p->ends.data, p->ends.len);
	r->points = arena_array(&r->arena, struct shown_code_point, MIN(all.len, top) + 1);
	for (size_t i = 0; i < all.len; i++) {
		const struct shown_point *point = show(p, all.data[i].point);
		bool seen = false;

		for (size_t k = 0; k < r->npoints; k++)
			seen |= same_line(r->points[k].point, point);
		if (seen)
			continue;
		r->points_total++;
		if (r->npoints >= top)
			continue;
		r->npoints++;
		r->points[r->npoints - 1] = (struct shown_code_point){ .rank = r->npoints,
								       .score = all.data[i].score,
								       .ochiai = all.data[i].ochiai,
								       .runs = all.data[i].runs,
								       .point = point };
	}
	vec_deinit(&all);
}

static const char *const score_names[] = { [GRAPH_SCORE_EVIDENCE] = "evidence",
					   [GRAPH_SCORE_PRODUCT] = "product",
					   [GRAPH_SCORE_NORM] = "norm" };

const char *graph_score_name(enum graph_score score)
{
	return score_names[score];
}

bool graph_score_find(const char *name, enum graph_score *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(score_names); i++)
		if (strcmp(score_names[i], name) == 0) {
			*ret = (enum graph_score)i;
			return true;
		}
	return false;
}

static struct err *check(const struct graph_loader *l, const struct ranking_options *o)
{
	const struct graph_set *s = &l->set;

	if (!s->graphs.len)
		return err_new(ERR_ENV,
			       "no run whose outcome is known: record some with "
			       "`unplait record --mode graph --runs 50 -o DIR -- PROGRAM`");
	if (!s->edges.len)
		return err_new(
			ERR_ENV,
			"in none of the %zu runs did a thread use what another wrote: "
			"is this the program with the bug, built with `unplait cc`, and did its "
			"threads run at all (`unplait info`)?",
			s->graphs.len);
	if (o->unlabelled)
		return NULL;
	if (!s->nfailing)
		return err_new(
			ERR_ENV,
			"all %zu runs passed, so there is nothing to compare with: record "
			"more runs, let `unplait rank --hunt 25 -- PROGRAM` make failing ones, "
			"or look for rare communication with --unlabeled",
			s->graphs.len);
	if (!s->npassing)
		return err_new(
			ERR_ENV,
			"all %zu runs failed, so nothing shows what is normal: record passing "
			"ones too (another input, fewer threads), let `unplait rank --hunt 25 "
			"-- PROGRAM` make some, or use --unlabeled",
			s->graphs.len);
	return NULL;
}

struct err *ranking_make(struct graph_loader *l, const struct ranking_options *o,
			 struct ranking **ret)
{
	struct err *err = check(l, o);
	struct presenter p = { .l = l, .set = &l->set };
	size_t top = o->top ? o->top : 10;
	char *const *command;

	if (err)
		return err;
	p.r = *ret = xcalloc(1, sizeof(**ret));
	command = trace_meta(l->first)->command;
	p.r->program = arena_strdup(&p.r->arena, command && command[0] ? command[0] : "?");
	p.r->unlabelled = o->unlabelled;
	p.r->baseline = o->baseline;
	p.r->score_name = graph_score_name(o->score);
	p.r->failing = l->set.nfailing;
	p.r->passing = l->set.npassing;
	p.r->skipped = l->skipped;
	p.r->derived = l->derived;
	p.r->context = l->context;
	p.r->nodes = l->set.nodes.len;
	p.r->edges = l->set.edges.len;
	if (!o->unlabelled)
		show_reconstructions(&p, o, top);
	show_points(&p, o, top);
	for (size_t i = 0; i < p.files.len; i++)
		strbuf_deinit(&p.files.data[i].text);
	vec_deinit(&p.files);
	vec_deinit(&p.shown);
	vec_deinit(&p.ends);
	map_deinit(&p.points);
	return NULL;
}
