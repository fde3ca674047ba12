/* cmd/show-predict.c - see show-predict.h. */
#include "cmd/show-predict.h"

#include "base/json.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "cmd/show-run.h"
#include "cmd/show-steps.h"
#include "explain/explain.h"
#include "predict/predict.h"
#include "report/report.h"
#include "trace/trace.h"

#include <inttypes.h>

/* ---- text ---- */

static void show_flip(const struct predict_flip *f, struct strbuf *out)
{
	strbuf_addf(out, "    thread %s", f->thread);
	if (f->change == PREDICT_LENT) {
		strbuf_adds(out, " goes as in ");
		strbuf_add_printable(out, f->file, "");
		strbuf_addc(out, '\n');
		return;
	}
	if (*f->file) {
		strbuf_adds(out, " at ");
		strbuf_add_printable(out, f->file, "");
		strbuf_addf(out, ":%u in ", f->line);
		strbuf_add_printable(out, f->function, "");
	}
	if (f->change == PREDICT_VALUE)
		strbuf_adds(out, ": reads another value than recorded\n");
	else if (f->change == PREDICT_STOP)
		strbuf_adds(out, ": comes here at the same time\n");
	else if (f->change == PREDICT_FREE)
		strbuf_adds(out, ": gives it back here, before\n");
	else if (f->change == PREDICT_USE)
		strbuf_adds(out, ": uses it here\n");
	else if (f->change == PREDICT_RACING)
		strbuf_adds(out, ": is about to access it at the same time\n");
	else
		strbuf_addf(out, ": the condition was %s, now it is %s\n",
			    f->was ? "true" : "false", f->now ? "true" : "false");
}

static void show_prediction(const struct predict_result *r, const struct prediction *x,
			    struct strbuf *out)
{
	const struct hunt_failure *f = &r->found.failures.data[x->failure];

	show_outcome(&f->result, out);
	show_failure_stack(&f->result, f->plait, out);
	strbuf_adds(out, "  predicted from ");
	strbuf_add_printable(out, x->base, "");
	strbuf_adds(out, ", which passed; what differs:\n");
	for (size_t i = 0; i < x->flips.len; i++)
		show_flip(&x->flips.data[i], out);
	if (r->recordings > 1)
		strbuf_addf(out, "  %" PRIu64 " of %zu recordings took the path it started from\n",
			    x->near, r->recordings);
	strbuf_addf(out,
		    "  after %" PRIu64 " questions and %" PRIu64 " native runs; %zu switches\n",
		    x->questions, x->native_runs, schedule_switches(&f->result.schedule));
	strbuf_addf(out, "  replayed %u of %u times\n", f->same, f->tried);
	if (f->same < f->tried)
		strbuf_adds(out, "  NOT CONFIRMED: something outside control changes the run\n");
	if (f->plait)
		err_free(show_blocked(&f->result, f->plait, out)); /* best effort */
	show_output(&f->result, false, out);
	if (f->plait)
		show_saved(f->plait, out);
}

static void show_race(const struct predicted_race *x, struct strbuf *out)
{
	strbuf_adds(out, "data race, seen in a native run\n  predicted from ");
	strbuf_add_printable(out, x->base, "");
	strbuf_adds(out, "; what differs:\n");
	for (size_t i = 0; i < x->flips.len; i++)
		show_flip(&x->flips.data[i], out);
	strbuf_addf(out, "  after %" PRIu64 " questions and %" PRIu64 " native runs\n",
		    x->questions, x->native_runs);
	strbuf_adds(out, "  what races do to the program: unplait races -- PROGRAM\n");
	if (x->plait)
		show_saved(x->plait, out);
}

static void show_nothing(const struct predict_result *r, struct strbuf *out)
{
	if (r->unconfirmed.len)
		strbuf_addf(out, "%zu proposals, none was run:\n", r->unconfirmed.len);
	for (size_t i = 0; i < r->unconfirmed.len; i++)
		for (size_t k = 0; k < r->unconfirmed.data[i].flips.len; k++)
			show_flip(&r->unconfirmed.data[i].flips.data[k], out);
	if (r->unconfirmed.len)
		return;
	if (r->found.set_aside)
		strbuf_addf(out,
			    "%" PRIu64 " runs failed, but did not repeat when they were replayed\n",
			    r->found.set_aside);
	if (r->unwanted)
		strbuf_addf(out, "%" PRIu64 " runs failed, but not as --targets and --at ask for\n",
			    r->unwanted);
	strbuf_addf(out, "no failure predicted%s\n",
		    r->exhausted       ? ": with this input every run passes"
		    : r->interrupted   ? ""
		    : r->out_of_budget ? " within the budget"
				       : "; nothing is left to ask, which is no proof");
	if (r->others)
		strbuf_addf(out, "nor with %zu other inputs\n", r->others);
}

static void show_skipped(const struct predict_result *r, struct strbuf *out)
{
	enum { MOST = 5 };

	for (size_t i = 0; i < r->skipped.len && i < MOST; i++) {
		strbuf_adds(out, "skipped ");
		strbuf_add_printable(out, r->skipped.data[i].path, "");
		strbuf_adds(out, ": ");
		strbuf_add_printable(out, r->skipped.data[i].why, "");
		strbuf_addc(out, '\n');
	}
	if (r->skipped.len > MOST)
		strbuf_addf(out, "... and %zu more\n", r->skipped.len - MOST);
}

static void show_published(const struct predict_result *r, struct strbuf *out)
{
	const struct predict_published *x = &r->published;

	strbuf_addf(out, "the published search: %" PRIu64 " recorded runs as they are%s\n",
		    x->schedules, x->by_schedule ? ", which was enough" : "");
	for (size_t i = 0; i < x->sets.len; i++) {
		strbuf_addf(out, "  set %zu, %" PRIu32 " executions%s\n", i + 1,
			    x->sets.data[i].tries, x->sets.data[i].fails ? ", one fails" : "");
		for (size_t k = 0; k < x->sets.data[i].flips.len; k++)
			show_flip(&x->sets.data[i].flips.data[k], out);
	}
	strbuf_addf(out,
		    "  %zu sets of flips, %" PRIu64 " executions, %" PRIu64 " paths synthesised\n",
		    x->sets.len, x->tries, x->synthesised);
}

void show_predict(const struct predict_result *r, struct explanation *const *why, bool published,
		  struct strbuf *out)
{
	struct report_view view = { .width = cmd_terminal_width() };

	if (r->other_input)
		strbuf_addf(out,
			    "with the given input no failure was predicted; with this one:\n  %s\n",
			    r->other_input);
	for (size_t i = 0; i < r->predictions.len; i++) {
		show_prediction(r, &r->predictions.data[i], out);
		if (why[i]) {
			strbuf_addc(out, '\n');
			report_term.explanation(why[i], &view, out);
			strbuf_addc(out, '\n');
		}
	}
	for (size_t i = 0; i < r->races.len; i++)
		show_race(&r->races.data[i], out);
	if (!r->predictions.len && !r->races.len)
		show_nothing(r, out);
	if (published)
		show_published(r, out);
	strbuf_addf(out,
		    "%zu recordings, %zu different paths; questions: %" PRIu64 " yes, %" PRIu64
		    " no, %" PRIu64 " open; %" PRIu64 " proposals run (%" PRIu64 " as asked)\n",
		    r->recordings, r->paths, r->sat, r->unsat, r->unknown, r->proposals,
		    r->followed);
	show_skipped(r, out);
	for (size_t i = 0; i < r->gaps.len; i++) {
		strbuf_adds(out, "left out or assumed: ");
		strbuf_add_printable(out, r->gaps.text[i], "");
		strbuf_addc(out, '\n');
	}
	if (r->interrupted)
		strbuf_adds(out, "interrupted\n");
}

/* ---- JSON ---- */

static void json_flip(struct json *j, const struct predict_flip *f)
{
	static const char *const names[] = { "branch", "value", "stop",	 "free",
					     "use",    "lent",	"access" };

	json_begin_object(j, NULL);
	json_str(j, "thread", f->thread);
	json_begin_object(j, "at");
	json_str(j, "file", f->file);
	json_uint(j, "line", f->line);
	json_str(j, "function", f->function);
	json_end(j);
	json_str(j, "what", names[f->change]);
	if (f->change == PREDICT_BRANCH) {
		json_uint(j, "was", f->was);
		json_uint(j, "now", f->now);
	}
	json_end(j);
}

static void json_flips(struct json *j, const char *key, const struct predict_flips *flips)
{
	json_begin_array(j, key);
	for (size_t i = 0; i < flips->len; i++)
		json_flip(j, &flips->data[i]);
	json_end(j);
}

static void json_explanation(struct json *j, const struct explanation *x)
{
	static const char *const kinds[] = BUG_KIND_NAMES;
	uint64_t flows = 0;

	json_begin_object(j, "explanation");
	json_bool(j, "confirmed", x->confirmed);
	json_str(j, "kind", kinds[x->kind]);
	json_str(j, "summary", x->summary);
	json_str(j, "advice", x->advice.text);
	json_str(j, "tried", x->tried);
	json_end(j);
	json_begin_object(j, "dpsp");
	json_begin_array(j, "events");
	json_uint(j, NULL, x->failing.events_total);
	json_uint(j, NULL, x->failing.len);
	json_end(j);
	for (size_t i = 0; i < x->nflows; i++)
		flows += x->flows[i].failing;
	json_begin_array(j, "flows");
	json_uint(j, NULL, x->failing.flows_total);
	json_uint(j, NULL, flows);
	json_end(j);
	json_end(j);
}

static void json_prediction(struct json *j, const struct predict_result *r,
			    const struct prediction *x, const struct explanation *why)
{
	const struct hunt_failure *f = &r->found.failures.data[x->failure];

	json_begin_object(j, NULL);
	json_str(j, "kind", outcome_name(f->result.outcome));
	json_outcome(j, "outcome", &f->result, f->plait);
	json_bool(j, "confirmed", f->same == f->tried);
	json_str(j, "base", x->base);
	json_flips(j, "flips", &x->flips);
	json_uint(j, "asked", x->questions);
	json_uint(j, "native_runs", x->native_runs);
	json_begin_object(j, "near");
	json_uint(j, "runs", x->near);
	json_uint(j, "of", r->recordings);
	json_end(j);
	json_uint(j, "switches", schedule_switches(&f->result.schedule));
	json_str(j, "plait", f->plait);
	json_begin_object(j, "replays");
	json_uint(j, "tried", f->tried);
	json_uint(j, "same", f->same);
	json_end(j);
	if (why)
		json_explanation(j, why);
	json_end(j);
}

static void json_race(struct json *j, const struct predicted_race *x)
{
	json_begin_object(j, NULL);
	json_str(j, "kind", "race");
	json_bool(j, "confirmed", true);
	json_str(j, "base", x->base);
	json_flips(j, "flips", &x->flips);
	json_uint(j, "asked", x->questions);
	json_uint(j, "native_runs", x->native_runs);
	json_str(j, "plait", x->plait);
	json_end(j);
}

static void json_published(struct json *j, const struct predict_published *x)
{
	json_begin_object(j, "published");
	json_uint(j, "schedules", x->schedules);
	json_bool(j, "by_schedule", x->by_schedule);
	json_uint(j, "tries", x->tries);
	json_uint(j, "synthesised", x->synthesised);
	json_begin_array(j, "sets");
	for (size_t i = 0; i < x->sets.len; i++) {
		json_begin_object(j, NULL);
		json_flips(j, "flips", &x->sets.data[i].flips);
		json_uint(j, "tries", x->sets.data[i].tries);
		json_bool(j, "fails", x->sets.data[i].fails);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void json_predict(const struct predict_result *r, struct explanation *const *why, bool published,
		  struct json *j)
{
	json_begin_object(j, NULL);
	json_int(j, "unplait", 1);
	json_uint(j, "recordings", r->recordings);
	json_uint(j, "paths", r->paths);
	json_begin_array(j, "predictions");
	for (size_t i = 0; i < r->predictions.len; i++)
		json_prediction(j, r, &r->predictions.data[i], why[i]);
	for (size_t i = 0; i < r->races.len; i++)
		json_race(j, &r->races.data[i]);
	json_end(j);
	json_begin_array(j, "unconfirmed");
	for (size_t i = 0; i < r->unconfirmed.len; i++)
		json_flips(j, NULL, &r->unconfirmed.data[i].flips);
	json_end(j);
	if (published)
		json_published(j, &r->published);
	json_begin_object(j, "questions");
	json_uint(j, "sat", r->sat);
	json_uint(j, "unsat", r->unsat);
	json_uint(j, "unknown", r->unknown);
	json_end(j);
	json_uint(j, "native_runs", r->proposals);
	json_uint(j, "followed", r->followed);
	json_uint(j, "attempts", r->native_runs);
	json_uint(j, "mixed", r->mixed);
	json_bool(j, "exhausted", r->exhausted);
	json_uint(j, "other_inputs", r->others);
	json_str(j, "other_input", r->other_input);
	json_begin_array(j, "gaps");
	for (size_t i = 0; i < r->gaps.len; i++)
		json_str(j, NULL, r->gaps.text[i]);
	json_end(j);
	json_begin_array(j, "skipped");
	for (size_t i = 0; i < r->skipped.len; i++) {
		json_begin_object(j, NULL);
		json_str(j, "path", r->skipped.data[i].path);
		json_str(j, "why", r->skipped.data[i].why);
		json_end(j);
	}
	json_end(j);
	json_uint(j, "set_aside", r->found.set_aside);
	json_uint(j, "unwanted", r->unwanted);
	json_bool(j, "interrupted", r->interrupted);
	json_begin_object(j, "seconds");
	json_real(j, "load", r->seconds_load, 3);
	json_real(j, "ask", r->seconds_ask, 3);
	json_real(j, "run", r->seconds_run, 3);
	json_end(j);
	json_end(j);
}
