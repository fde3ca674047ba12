/* report/races-json.c - the object that `unplait races --json` prints. */
#include "report/formats.h"

#include "base/json.h"
#include "race/race.h"
#include "trace/trace.h"

static void add_side(struct json *j, const struct race *r, const struct race_side *s)
{
	json_begin_object(j, NULL);
	json_str(j, "file", s->file);
	json_uint(j, "line", s->line);
	json_str(j, "function", s->function);
	json_str(j, "object", r->object);
	json_str(j, "op", s->writes ? "write" : "read");
	if (s->atomic)
		json_bool(j, "atomic", true);
	json_begin_array(j, "stack");
	for (size_t i = 0; i < s->stack.len; i++) {
		const struct place *p = &s->stack.data[i];

		json_begin_object(j, NULL);
		json_str(j, "file", p->file);
		json_uint(j, "line", p->line);
		json_str(j, "function", p->function);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void add_symptom(struct json *j, const struct race *r)
{
	const struct run_result *run;

	if (r->failing < 0 || r->verdict != RACE_SPEC_VIOLATED) {
		json_null(j, "symptom");
		return;
	}
	run = &r->order[r->failing].run;
	json_begin_object(j, "symptom");
	json_str(j, "kind", outcome_name(run->outcome));
	json_str(j, "message", run->text);
	if (run->signal)
		json_int(j, "signal", run->signal);
	if (run->exit_code >= 0)
		json_int(j, "exit", run->exit_code);
	json_str(j, "order", r->failing ? "b" : "a");
	json_end(j);
}

static void add_output(struct json *j, const struct race *r)
{
	static const char *const names[] = { "first", "second" };

	if (r->verdict != RACE_OUTPUT_DIFFERS) {
		json_null(j, "output");
		return;
	}
	json_begin_object(j, "output");
	for (int i = 0; i < 2; i++) {
		json_begin_object(j, names[i]);
		json_str(j, "stdout", r->order[i].out);
		json_str(j, "stderr", r->order[i].errors);
		json_int(j, "exit", r->order[i].run.exit_code);
		json_end(j);
	}
	json_end(j);
}

static void add_needs(struct json *j, const struct race *r)
{
	if (!r->needs) {
		json_null(j, "needs");
		return;
	}
	json_begin_object(j, "needs");
	json_begin_array(j, "args");
	for (char **word = r->needs + 1; r->needs[0] && *word; word++)
		json_str(j, NULL, *word);
	json_end(j);
	json_end(j);
}

static void add_race(struct json *j, const struct race *r)
{
	static const char *const states[] = { NULL, "same", "differ" };

	json_begin_object(j, NULL);
	json_uint(j, "id", r->id);
	json_str(j, "object", r->object);
	json_str(j, "bucket", r->bucket);
	json_begin_array(j, "accesses");
	add_side(j, r, &r->side[0]);
	add_side(j, r, &r->side[1]);
	json_end(j);
	json_str(j, "verdict", race_verdict_name(r->verdict));
	json_bool(j, "proved", r->proved);
	json_begin_object(j, "k");
	json_uint(j, "paths", r->paths);
	json_uint(j, "schedules", r->schedules);
	json_end(j);
	json_str(j, "states", states[r->states]);
	json_uint(j, "instances", r->instances);
	json_uint(j, "met", r->met);
	add_symptom(j, r);
	add_output(j, r);
	add_needs(j, r);
	json_str(j, "flag", r->flag);
	json_str(j, "note", r->note);
	json_begin_array(j, "plaits");
	json_str(j, NULL, r->order[0].plait);
	json_str(j, NULL, r->order[1].plait);
	json_end(j);
	json_bool(j, "known", r->known);
	json_real(j, "seconds", r->seconds, 3);
	fidelity_json(&r->fidelity, j);
	json_end(j);
}

void races_json(const struct races_result *r, const struct report_view *view, struct strbuf *out)
{
	struct json j;

	(void)view;
	json_init(&j);
	json_begin_object(&j, NULL);
	json_int(&j, "unplait", 1);
	json_begin_array(&j, "races");
	for (size_t i = 0; i < r->races.len; i++)
		add_race(&j, &r->races.data[i]);
	json_end(&j);
	json_uint(&j, "runs", r->runs);
	json_uint(&j, "paths", r->paths);
	json_uint(&j, "suppressed", r->suppressed);
	json_uint(&j, "predicted_unmet", r->unmet);
	json_uint(&j, "others", r->others);
	json_uint(&j, "unjudged", r->unjudged);
	json_bool(&j, "interrupted", r->interrupted);
	json_uint(&j, "looked", r->looked);
	json_uint(&j, "cut_off", r->cut_off);
	json_uint(&j, "failed", r->failed);
	json_bool(&j, "fails_alone", r->fails_alone);
	json_str(&j, "note", r->note);
	json_real(&j, "seconds", r->seconds, 3);
	json_end(&j);
	json_finish(&j, out);
}
