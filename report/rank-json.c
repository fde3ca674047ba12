/* report/rank-json.c - a ranking as the JSON object that `rank --json` prints. */
#include "report/formats.h"

#include "base/json.h"
#include "graph/ranking.h"

static void add_fields(struct json *j, const struct shown_point *p)
{
	if (p->initial) {
		json_bool(j, "initial", true);
		return;
	}
	json_str(j, "file", p->file);
	json_uint(j, "line", p->line);
	json_str(j, "function", p->function);
	json_str(j, "object", p->object);
	json_str(j, "op", p->op);
}

static void add_end(struct json *j, const char *key, const struct shown_member *m)
{
	json_begin_object(j, key);
	add_fields(j, m->point);
	json_str(j, "context", m->context);
	json_end(j);
}

static void add_region(struct json *j, const char *key, const struct shown_region *r)
{
	json_begin_array(j, key);
	for (size_t i = 0; i < r->len; i++) {
		json_begin_object(j, NULL);
		add_fields(j, r->members[i].point);
		json_str(j, "context", r->members[i].context);
		json_real(j, "confidence", r->members[i].confidence, 4);
		json_end(j);
	}
	json_end(j);
}

static void add_reconstruction(struct json *j, const struct shown_reconstruction *x)
{
	json_begin_object(j, NULL);
	json_uint(j, "rank", x->rank);
	json_real(j, "score", x->score, 6);
	json_real(j, "evidence", x->evidence, 6);
	json_real(j, "product", x->product, 6);
	json_real(j, "norm", x->norm, 6);
	json_real(j, "B", x->b, 6);
	json_real(j, "C", x->c, 6);
	json_real(j, "R", x->r, 6);
	json_real(j, "chance", x->p, 6);
	json_uint(j, "failing", x->failing);
	json_uint(j, "passing", x->passing);
	add_end(j, "source", &x->source);
	add_end(j, "sink", &x->sink);
	add_region(j, "prefix", &x->prefix);
	add_region(j, "body", &x->body);
	add_region(j, "suffix", &x->suffix);
	if (x->instead) {
		json_begin_object(j, "instead");
		add_fields(j, x->instead);
		json_uint(j, "failing", x->instead_failing);
		json_uint(j, "passing", x->instead_passing);
		json_end(j);
	}
	json_end(j);
}

static void add_ranking(struct json *j, const struct ranking *r)
{
	json_begin_answer(j);
	json_str(j, "program", r->program);
	json_begin_object(j, "runs");
	json_uint(j, r->baseline ? "field" : "failing", r->failing);
	json_uint(j, r->baseline ? "tests" : "passing", r->passing);
	json_uint(j, "left_out", r->skipped);
	json_end(j);
	json_uint(j, "nodes", r->nodes);
	json_uint(j, "edges", r->edges);
	json_uint(j, "context", r->context);
	json_bool(j, "labelled", !r->unlabelled);
	json_str(j, "score", r->score_name);
	json_bool(j, "above_noise", r->above_noise);
	json_begin_array(j, "code_points");
	for (size_t i = 0; i < r->npoints; i++) {
		json_begin_object(j, NULL);
		json_uint(j, "rank", r->points[i].rank);
		json_real(j, "score", r->points[i].score, 6);
		json_real(j, "ochiai", r->points[i].ochiai, 4);
		json_uint(j, "runs", r->points[i].runs);
		add_fields(j, r->points[i].point);
		json_end(j);
	}
	json_end(j);
	json_begin_array(j, "reconstructions");
	for (size_t i = 0; i < r->nreconstructions; i++)
		add_reconstruction(j, &r->reconstructions[i]);
	json_end(j);
	json_end(j);
}

void ranking_json(const struct ranking *r, const struct report_view *view, struct strbuf *out)
{
	struct json j;

	(void)view;
	json_init(&j);
	add_ranking(&j, r);
	json_finish(&j, out);
}
