/* suite/result.c - verdicts, and how they follow from what `unplait hunt` and `unplait explain` wrote. */
#include "suite/result.h"

#include "base/err.h"
#include "base/file.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "suite/framework.h"
#include "suite/read.h"

#include <ctype.h>
#include <inttypes.h>

/* ---- verdicts ---- */

static const struct {
	const char *name, *text;
} verdicts[] = {
#define VERDICT(id, name, text) { name, text },
#include "suite/verdicts.def"
#undef VERDICT
};

const char *verdict_name(enum verdict v)
{
	return verdicts[v].name;
}

const char *verdict_text(enum verdict v)
{
	return verdicts[v].text;
}

/* ---- reading what the commands wrote ---- */

static char *copy_text(const cJSON *object, const char *key)
{
	const char *text = get_text(object, key);

	return text && *text ? xstrdup(text) : NULL;
}

/* The last line that a command wrote on its standard error, without its name. */
static char *last_complaint(const char *path)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	const char *line;

	err_free(file_read(path, &text));
	while (text.len && isspace((unsigned char)text.data[text.len - 1]))
		text.data[--text.len] = 0;
	if (!text.len)
		return NULL;
	line = strrchr(text.data, '\n');
	line = line ? line + 1 : text.data;
	return xstrdup(strncmp(line, "unplait: ", 9) == 0 ? line + 9 : line);
}

static void set_text(char **to, char *text)
{
	if (!text)
		return;
	free(*to);
	*to = text;
}

static void take_place(struct suite_result *r, const cJSON *at)
{
	if (!get_text(at, "file"))
		return;
	set_text(&r->file, copy_text(at, "file"));
	r->line = (unsigned)get_number(at, "line");
}

enum { CALLERS = 3 };

static bool is_place(const cJSON *at, const char *file, unsigned line)
{
	return file && !strcmp(get_text(at, "file"), file) && get_number(at, "line") == line;
}

/* Who called the place that failed, in the program's own files. */
static void take_callers(struct suite_result *r, const cJSON *stack)
{
	struct strbuf text = { 0 };
	const cJSON *at;
	unsigned n = 0;
	bool reached = false;

	cJSON_ArrayForEach(at, stack)
	{
		const char *file = get_text(at, "file");

		if (!file || !*file)
			continue;
		if (reached && n++ < CALLERS)
			strbuf_addf(&text, "%s%s:%u", text.len ? ", " : "", file,
				    (unsigned)get_number(at, "line"));
		reached |= is_place(at, r->file, r->line);
	}
	if (text.len)
		set_text(&r->callers, xstrdup(strbuf_str(&text)));
	strbuf_deinit(&text);
}

/* What the test itself says tells more than an exit status. */
static void take_output(struct suite_result *r, const cJSON *outcome)
{
	const char *printed[] = { get_text(outcome, "stdout"), get_text(outcome, "stderr") };

	for (size_t i = 0; i < ARRAY_SIZE(printed); i++) {
		char *message, *file;

		if (!framework_said(r->test->framework, printed[i], &message, &file, &r->line))
			continue;
		set_text(&r->message, message);
		set_text(&r->file, file);
		return;
	}
}

static void take_failure(struct suite_result *r, const cJSON *json)
{
	const cJSON *outcome = get(json, "outcome"), *replays = get(json, "replays");

	r->replays = (unsigned)get_number(replays, "tried");
	r->same = (unsigned)get_number(replays, "same");
	r->verdict = r->same == r->replays ? VERDICT_FAILS : VERDICT_UNSTEADY;
	set_text(&r->kind, copy_text(outcome, "kind"));
	set_text(&r->message, copy_text(outcome, "message"));
	set_text(&r->plait, copy_text(json, "plait"));
	take_place(r, get(outcome, "at"));
	take_callers(r, get(outcome, "stack"));
	if (r->kind && !strcmp(r->kind, "exit"))
		take_output(r, outcome);
	if (r->test->skip_status && r->kind && !strcmp(r->kind, "exit") &&
	    get_number(outcome, "exit") == (uint64_t)r->test->skip_status)
		r->verdict = VERDICT_SKIPPED;
	if (!r->message && r->kind && !strcmp(r->kind, "exit"))
		r->message = xasprintf("it exits with status %llu",
				       (unsigned long long)get_number(outcome, "exit"));
}

/* Its threads are all in children: say what this framework can do about it. */
static void take_children(struct suite_result *r)
{
	const struct framework *f = r->test->framework;

	r->verdict = VERDICT_UNCONTROLLED;
	set_text(&r->why, xasprintf("%s threads are in forked children%s%s",
				    r->threads > 1 ? "some of its" : "all its",
				    f && f->forks ? "; " : "", f && f->forks ? f->forks : ""));
}

/* A run that was cut off has not passed. */
static void take_unfinished(struct suite_result *r)
{
	r->verdict = VERDICT_UNFINISHED;
	set_text(&r->why,
		 xasprintf("%" PRIu64 " cut off; give more by --time and --timeout", r->runs));
}

static void take_passed(struct suite_result *r, const cJSON *json)
{
	const char *uncontrolled = get_text(json, "uncontrolled");

	r->unfinished = MIN(get_number(json, "unfinished"), r->runs);
	if (!r->runs)
		r->verdict = VERDICT_NOT_RUN;
	else if (r->unfinished == r->runs)
		take_unfinished(r);
	else if (uncontrolled && strstr(uncontrolled, "threads of forked children"))
		take_children(r);
	else if (r->threads > 1)
		r->verdict =
			cJSON_IsTrue(get(json, "exhausted")) ? VERDICT_EXPLORED : VERDICT_PASSED;
	else
		r->verdict = VERDICT_SINGLE;
}

static void take_json(struct suite_result *r, const cJSON *json)
{
	r->runs = get_number(json, "runs");
	r->threads = get_number(json, "threads");
	set_text(&r->why, copy_text(json, "uncontrolled"));
	set_text(&r->note, copy_text(json, "note"));
	if (cJSON_IsTrue(get(json, "found")))
		take_failure(r, json);
	else
		take_passed(r, json);
}

/* NULL when there is none: the command was killed, or ended before it wrote any. */
static cJSON *read_answer(const struct process *p, const char *path)
{
	cJSON *json = NULL;

	if (!p->timed_out)
		err_free(read_json(path, &json));
	return json;
}

void result_take_hunt(struct suite_result *r, const struct process *p, const char *path,
		      const char *complaints)
{
	cJSON *json = read_answer(p, path);

	r->seconds += p->seconds;
	free(r->plait); /* where it was to be written */
	r->plait = NULL;
	if (json) {
		take_json(r, json);
	} else {
		r->verdict = VERDICT_UNCONTROLLED;
		set_text(&r->why, p->timed_out ? xstrdup("the hunt did not come to an end")
					       : last_complaint(complaints));
	}
	cJSON_Delete(json);
}

void result_take_explanation(struct suite_result *r, const struct process *p, const char *path)
{
	cJSON *json = read_answer(p, path);

	r->seconds += p->seconds;
	set_text(&r->cause, copy_text(json, "summary"));
	set_text(&r->advice, copy_text(json, "advice"));
	set_text(&r->tried, copy_text(json, "tried"));
	r->explained = cJSON_IsTrue(get(json, "confirmed"));
	if (!r->file)
		take_place(r, get(json, "outcome"));
	cJSON_Delete(json);
}

/* ---- all of them ---- */

int suite_status(const struct suite_results *r)
{
	bool open = false;

	for (size_t i = 0; i < r->len; i++) {
		enum verdict v = r->data[i].verdict;

		if (v == VERDICT_FAILS && !r->data[i].known)
			return 1;
		if (v >= VERDICT_UNSTEADY && !r->data[i].known)
			open = true;
	}
	return open ? 4 : 0;
}

void suite_results_deinit(struct suite_results *r)
{
	for (size_t i = 0; i < r->len; i++) {
		struct suite_result *x = &r->data[i];

		free(x->why);
		free(x->note);
		free(x->kind);
		free(x->message);
		free(x->file);
		free(x->callers);
		free(x->plait);
		free(x->cause);
		free(x->advice);
		free(x->tried);
	}
	vec_deinit(r);
}
