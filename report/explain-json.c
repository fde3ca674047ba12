/* report/explain-json.c - an explanation as the JSON object that `explain --json` prints. */
#include "report/formats.h"

#include "base/json.h"
#include "explain/explanation.h"

static void add_event(struct json *j, const char *key, const struct explanation *x,
		      const struct shown_event *e)
{
	json_begin_object(j, key);
	json_str(j, "file", e->file);
	json_uint(j, "line", e->line);
	json_str(j, "function", e->function);
	json_str(j, "object", e->object);
	json_str(j, "op", e->op);
	json_str(j, "thread", e->thread < x->nthreads ? x->threads[e->thread] : NULL);
	json_uint(j, "index", e->index);
	json_str(j, "value", e->value);
	json_uint(j, "position", e->position);
	if (e->reordered)
		json_bool(j, "reordered", true);
	if (e->only_here)
		json_bool(j, "only_here", true);
	if (e->failure)
		json_bool(j, "failure", true);
	json_end(j);
}

static void add_schedule(struct json *j, const char *key, const struct explanation *x,
			 const struct shown_schedule *s)
{
	json_begin_object(j, key);
	json_uint(j, "events_total", s->events_total);
	json_uint(j, "flows_total", s->flows_total);
	json_uint(j, "switches", s->switches);
	json_begin_array(j, "shown");
	for (size_t i = 0; i < s->len; i++)
		add_event(j, NULL, x, &s->events[i]);
	json_end(j);
	json_end(j);
}

static void add_flows(struct json *j, const struct explanation *x)
{
	json_begin_array(j, "dataflow");
	for (size_t i = 0; i < x->nflows; i++) {
		const struct shown_flow *f = &x->flows[i];
		const struct shown_schedule *s = f->failing ? &x->failing : &x->passing;

		json_begin_object(j, NULL);
		json_str(j, "in", f->failing ? "failing" : "passing");
		if (f->from < s->len)
			add_event(j, "from", x, &s->events[f->from]);
		else
			json_null(j, "from");
		add_event(j, "to", x, &s->events[f->to]);
		json_end(j);
	}
	json_end(j);
}

/* What was seen without the advice. */
static void add_seen(struct json *j, const struct shown_advice *a)
{
	json_uint(j, "failing", a->seen_failing);
	json_uint(j, "broken_failing", a->broken_failing);
	json_uint(j, "passing", a->seen_passing);
	json_uint(j, "broken_passing", a->broken_passing);
}

/* In which ways the schedules of failed_before failed; how null: as the one that is explained. */
static void add_faces(struct json *j, const struct shown_advice *a)
{
	json_begin_array(j, "failed_before_by");
	for (size_t i = 0; i < a->nfaces; i++) {
		json_begin_object(j, NULL);
		json_str(j, "how", a->faces[i].how);
		json_uint(j, "schedules", a->faces[i].runs);
		json_end(j);
	}
	json_end(j);
}

static void add_advice(struct json *j, const struct shown_advice *a)
{
	json_str(j, "advice", a->text);
	if (a->seen_failing) {
		json_begin_object(j, "advice_seen");
		add_seen(j, a);
		json_end(j);
	}
	if (!a->runs_after)
		return;
	json_begin_object(j, "advice_tested");
	json_uint(j, "failed_before", a->failed_before);
	json_uint(j, "runs_before", a->runs_before);
	json_uint(j, "failed_after", a->failed_after);
	json_uint(j, "runs_after", a->runs_after);
	if (a->nfaces)
		add_faces(j, a);
	json_uint(j, "other_failures_before", a->other_before);
	json_uint(j, "other_failures_after", a->other_after);
	json_end(j);
}

static void add_earlier(struct json *j, const struct shown_earlier *e)
{
	if (!e->summary)
		return;
	json_begin_object(j, "earlier");
	json_str(j, "cause", e->summary);
	json_str(j, "advice", e->advice.text);
	json_uint(j, "failed_after", e->advice.failed_after);
	json_uint(j, "runs_after", e->advice.runs_after);
	add_seen(j, &e->advice);
	json_end(j);
}

/* Everything that was considered, the best first: the first is the cause unless that is not known. */
static void add_candidates(struct json *j, const struct explanation *x)
{
	static const char *const kinds[] = BUG_KIND_NAMES;
	static const char *const standings[] = STANDING_NAMES;

	json_begin_array(j, "candidates");
	for (size_t i = 0; i < x->ncandidates; i++) {
		const struct shown_candidate *c = &x->candidates[i];

		json_begin_object(j, NULL);
		json_str(j, "kind", kinds[c->kind]);
		json_str(j, "standing", standings[c->standing]);
		json_str(j, "cause", c->summary);
		add_advice(j, &c->advice);
		json_end(j);
	}
	json_end(j);
}

static void add_wait(struct json *j, const struct explanation *x, const struct shown_wait *w)
{
	json_begin_object(j, NULL);
	json_str(j, "thread", w->thread < x->nthreads ? x->threads[w->thread] : NULL);
	json_str(j, "waits", w->text);
	json_begin_array(j, "stack");
	for (size_t i = 0; i < w->nframes; i++)
		json_str(j, NULL, w->frames[i]);
	json_end(j);
	json_end(j);
}

static void add_explanation(struct json *j, const struct explanation *x)
{
	static const char *const kinds[] = BUG_KIND_NAMES;

	json_begin_answer(j);
	json_bool(j, "confirmed", x->confirmed);
	json_str(j, "program", x->program);
	json_str(j, "plait", x->plait);
	json_begin_object(j, "outcome");
	json_str(j, "kind", x->outcome);
	json_str(j, "message", x->outcome_text);
	if (x->failed_file) {
		json_str(j, "file", x->failed_file);
		json_uint(j, "line", x->failed_line);
	}
	json_end(j);
	json_begin_object(j, "replays");
	json_uint(j, "tried", x->replays_tried);
	json_uint(j, "same", x->replays_same);
	json_end(j);
	json_str(j, "kind", kinds[x->kind]);
	json_str(j, "summary", x->summary);
	add_schedule(j, "failing", x, &x->failing);
	if (x->passing.len)
		add_schedule(j, "passing", x, &x->passing);
	else
		json_null(j, "passing");
	json_begin_array(j, "reordered");
	for (int i = 0; i < 2; i++)
		if (x->pair[i] < x->failing.len)
			add_event(j, NULL, x, &x->failing.events[x->pair[i]]);
	json_end(j);
	add_flows(j, x);
	json_uint(j, "pairs_tried", x->pairs_tried);
	json_uint(j, "events_left_out", x->left_out);
	add_advice(j, &x->advice);
	json_str(j, "tried", x->tried);
	add_earlier(j, &x->earlier);
	add_candidates(j, x);
	if (x->nstack) {
		json_begin_array(j, "stack");
		for (size_t i = 0; i < x->nstack; i++)
			json_str(j, NULL, x->stack[i]);
		json_end(j);
	}
	if (x->nwaits) {
		json_begin_array(j, "waits");
		for (size_t i = 0; i < x->nwaits; i++)
			add_wait(j, x, &x->waits[i]);
		json_end(j);
	}
	json_begin_array(j, "notes");
	for (size_t i = 0; i < x->nnotes; i++)
		json_str(j, NULL, x->notes[i].text);
	json_end(j);
	json_begin_object(j, "seconds");
	json_real(j, "trace", x->seconds_trace, 3);
	json_real(j, "solve", x->seconds_search, 3);
	json_real(j, "replay", x->seconds_advice, 3);
	json_end(j);
	json_end(j);
}

void explanation_json(const struct explanation *x, const struct report_view *view,
		      struct strbuf *out)
{
	struct json j;

	(void)view;
	json_init(&j);
	add_explanation(&j, x);
	json_finish(&j, out);
}
