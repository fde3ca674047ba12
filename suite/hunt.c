/* suite/hunt.c - all tests of a suite, several at a time, each with a fair share of the time.
 *
 * A test goes through two commands: `unplait hunt`, and if that fails, `unplait explain`. Both write
 * JSON, which we read. The share of a test is decided when it begins: the time that is left, times
 * the tests that run at once, divided by the tests that have not begun. What a quick test does not
 * use goes to those after it. */
#define LOG_DOMAIN "suite"
#include "suite/suite.h"

#include "base/environment.h"
#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/map.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "suite/framework.h"
#include "suite/read.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	GRACE = 60,	     /* seconds beyond its share until a hunt is given up */
	EXPLAIN_SECONDS = 5, /* for the search of explain */
	EXPLAIN_LIMIT = 60,  /* for all of it */
	EXPLAIN_RUNS = 200,  /* schedules that test the advice */
};

struct slot {
	struct suite_result *result;
	bool explaining;
	char *json, *complaints; /* files */
};

struct hunt {
	const struct suite_options *o;
	const char *self; /* this program */
	char *dir;
	char output[PATH_MAX]; /* of the options, absolute: for tests that run elsewhere */
	struct suite_results *results;
	struct names baseline;
	size_t next, told;
	double start;
	unsigned nslots;
	struct slot *slots;
	struct process *processes; /* one per slot; `ended` when the slot is free */
};

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

/* NULL when the command ended before it wrote anything. */
static cJSON *read_answer(const char *path)
{
	cJSON *json = NULL;

	err_free(read_json(path, &json));
	return json;
}

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
	if (r->test->skip_status && r->kind && !strcmp(r->kind, "exit") &&
	    get_number(outcome, "exit") == (uint64_t)r->test->skip_status)
		r->verdict = VERDICT_SKIPPED;
	if (!r->message && r->kind && !strcmp(r->kind, "exit"))
		r->message = xasprintf("it exits with status %llu",
				       (unsigned long long)get_number(outcome, "exit"));
}

/* Only its children have threads, maybe: say what this framework can do about it. */
static void take_children(struct suite_result *r)
{
	const struct framework *f = r->test->framework;

	r->verdict = VERDICT_UNCONTROLLED;
	set_text(&r->why, xasprintf("it forks, and its children are not under control%s%s",
				    f && f->forks ? "; " : "", f && f->forks ? f->forks : ""));
}

static void take_hunt(struct suite_result *r, const cJSON *json)
{
	const char *uncontrolled = get_text(json, "uncontrolled");
	bool exhausted = cJSON_IsTrue(get(json, "exhausted"));

	r->runs = get_number(json, "runs");
	r->threads = get_number(json, "threads");
	r->why = copy_text(json, "uncontrolled");
	r->note = copy_text(json, "note");
	if (cJSON_IsTrue(get(json, "found")))
		take_failure(r, json);
	else if (r->threads == 1 && uncontrolled && strstr(uncontrolled, "forked"))
		take_children(r);
	else if (r->threads == 1)
		r->verdict = VERDICT_SINGLE;
	else
		r->verdict = exhausted ? VERDICT_EXPLORED : VERDICT_PASSED;
}

static void take_explanation(struct suite_result *r, const cJSON *json)
{
	set_text(&r->cause, copy_text(json, "summary"));
	set_text(&r->advice, copy_text(json, "advice"));
	r->explained = cJSON_IsTrue(get(json, "confirmed"));
	if (!r->file)
		take_place(r, get(json, "outcome"));
}

/* ---- commands ---- */

static struct err *start(struct hunt *h, struct slot *slot, struct words *command, double timeout)
{
	const struct suite_test *t = slot->result->test;
	struct environment env = { 0 };
	struct process_options o = { .argv = command->data,
				     .folder = t->folder,
				     .in = "/dev/null",
				     .out = "/dev/null",
				     .err = slot->complaints,
				     .timeout = timeout,
				     .own_group = true };
	struct err *err;

	environment_copy(&env);
	for (size_t i = 0; i < t->environment.len; i++)
		environment_put(&env, t->environment.data[i]);
	o.env = env.data;
	remove(slot->json);
	err = process_start(&o, &h->processes[slot - h->slots]);
	environment_deinit(&env);
	words_deinit(command);
	return err;
}

/* A file name that looks like the name of the test. */
static char *plait_path(const struct hunt *h, const struct suite_test *t)
{
	const char *folder = t->folder ? h->output : h->o->output;
	char *path = xasprintf("%s/%s.plait", folder, t->name);

	for (char *c = path + strlen(folder) + 1; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-+=", *c))
			*c = '_';
	return path;
}

static double share(const struct hunt *h)
{
	double left = h->o->seconds - (clock_seconds() - h->start);
	size_t waiting = h->results->len - h->next;

	return MAX(left, 0.01) * MIN(h->nslots, waiting) / (double)waiting;
}

static struct err *start_hunt(struct hunt *h, struct slot *slot)
{
	const struct suite_options *o = h->o;
	struct suite_result *r = slot->result;
	double seconds = o->seconds > 0 ? share(h) : 0;
	struct words c = { 0 };

	r->plait = plait_path(h, r->test);
	slot->explaining = false;
	words_push(&c, h->self);
	words_push(&c, "hunt");
	words_push(&c, "--fail-on");
	words_push(&c, "exit");
	words_take(&c, xasprintf("--json=%s", slot->json));
	words_take(&c, xasprintf("--seed=%llu", (unsigned long long)o->seed));
	if (o->runs)
		words_take(&c, xasprintf("--runs=%llu", (unsigned long long)o->runs));
	if (seconds > 0)
		words_take(&c, xasprintf("--time=%.3f", seconds));
	if (o->timeout > 0)
		words_take(&c, xasprintf("--timeout=%g", o->timeout));
	words_take(&c, xasprintf("--output=%s", r->plait));
	words_push(&c, "--");
	words_copy(&c, &r->test->command);
	return start(h, slot, &c, seconds > 0 ? seconds + GRACE : 0);
}

static struct err *start_explain(struct hunt *h, struct slot *slot)
{
	struct words c = { 0 };

	slot->explaining = true;
	words_push(&c, h->self);
	words_push(&c, "explain");
	words_take(&c, xasprintf("--json=%s", slot->json));
	words_take(&c, xasprintf("--time=%d", EXPLAIN_SECONDS));
	words_take(&c, xasprintf("--runs=%d", EXPLAIN_RUNS));
	words_push(&c, slot->result->plait);
	return start(h, slot, &c, EXPLAIN_LIMIT);
}

/* ---- the loop ---- */

/* No plait was written unless it failed. */
static void hunt_ended(struct slot *slot, const struct process *p)
{
	struct suite_result *r = slot->result;
	cJSON *json = p->timed_out ? NULL : read_answer(slot->json);

	r->seconds += p->seconds;
	free(r->plait);
	r->plait = NULL;
	if (json) {
		take_hunt(r, json);
	} else {
		r->verdict = VERDICT_UNCONTROLLED;
		set_text(&r->why, p->timed_out ? xstrdup("the hunt did not come to an end")
					       : last_complaint(slot->complaints));
	}
	cJSON_Delete(json);
}

static void explain_ended(struct slot *slot, const struct process *p)
{
	cJSON *json = p->timed_out ? NULL : read_answer(slot->json);

	slot->result->seconds += p->seconds;
	if (json)
		take_explanation(slot->result, json);
	cJSON_Delete(json);
}

static void tell(struct hunt *h)
{
	for (; h->told < h->next && h->told < h->results->len; h->told++) {
		struct suite_result *r = &h->results->data[h->told];

		for (unsigned i = 0; i < h->nslots; i++)
			if (h->slots[i].result == r)
				return;
		r->known = baseline_knows(&h->baseline, r);
		if (h->o->tell)
			h->o->tell(h->o->arg, r);
	}
}

static struct err *end_of_command(struct hunt *h, struct slot *slot)
{
	const struct process *p = &h->processes[slot - h->slots];

	if (slot->explaining)
		explain_ended(slot, p);
	else
		hunt_ended(slot, p);
	if (!slot->explaining && slot->result->verdict == VERDICT_FAILS && !h->o->no_explain)
		return start_explain(h, slot);
	slot->result = NULL;
	return NULL;
}

/* A test that cannot be hunted has its verdict at once. */
static struct err *fill(struct hunt *h, struct slot *slot)
{
	struct err *err = NULL;

	while (!err && !slot->result && h->next < h->results->len) {
		struct suite_result *r = &h->results->data[h->next];

		if (r->test->unable) {
			r->verdict = VERDICT_UNCONTROLLED;
			r->why = xstrdup(r->test->unable);
		} else {
			slot->result = r;
			err = start_hunt(h, slot);
		}
		h->next++;
	}
	return err;
}

static bool busy(const struct hunt *h)
{
	for (unsigned i = 0; i < h->nslots; i++)
		if (h->slots[i].result)
			return true;
	return false;
}

static struct err *loop(struct hunt *h)
{
	struct err *err = NULL;
	size_t i;

	for (i = 0; !err && i < h->nslots; i++)
		err = fill(h, &h->slots[i]);
	while (!err && busy(h)) {
		progress("%zu of %zu tests", h->told, h->results->len);
		err = process_wait(h->processes, h->nslots, &i);
		if (!err)
			err = end_of_command(h, &h->slots[i]);
		if (!err)
			err = fill(h, &h->slots[i]);
		tell(h);
	}
	tell(h);
	progress_done();
	return err;
}

static struct err *open_slots(struct hunt *h)
{
	struct err *err = file_temp_dir(&h->dir);

	h->nslots = h->o->jobs ? h->o->jobs : 1;
	h->slots = xcalloc(h->nslots, sizeof(*h->slots));
	h->processes = xcalloc(h->nslots, sizeof(*h->processes));
	for (unsigned i = 0; !err && i < h->nslots; i++) {
		h->processes[i].ended = true;
		h->slots[i].json = xasprintf("%s/%u.json", h->dir, i);
		h->slots[i].complaints = xasprintf("%s/%u.txt", h->dir, i);
	}
	return err;
}

static void close_slots(struct hunt *h)
{
	for (unsigned i = 0; i < h->nslots; i++) {
		process_kill(&h->processes[i]);
		free(h->slots[i].json);
		free(h->slots[i].complaints);
	}
	free(h->slots);
	free(h->processes);
	if (h->dir)
		file_remove_tree(h->dir);
	free(h->dir);
}

struct err *suite_hunt(const struct suite *s, const struct suite_options *o,
		       struct suite_results *ret, bool *interrupted_ret)
{
	_cleanup_(xfreep) char *self = file_self();
	struct hunt h = { .o = o, .self = self, .results = ret, .start = clock_seconds() };
	struct err *err = file_make_dirs(o->output);

	interrupt_catch();
	for (size_t i = 0; i < s->tests.len; i++)
		vec_push(ret, (struct suite_result){ .test = &s->tests.data[i],
						     .verdict = VERDICT_NOT_RUN });
	if (!err && !realpath(o->output, h.output))
		err = err_errno(errno, "%s", o->output);
	if (!err && o->baseline)
		err = baseline_load(o->baseline, &h.baseline);
	if (!err)
		err = open_slots(&h);
	if (!err)
		err = loop(&h);
	close_slots(&h);
	names_deinit(&h.baseline);
	*interrupted_ret = interrupted() != 0;
	if (*interrupted_ret) {
		err_free(err);
		err = NULL;
	}
	return err;
}

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
		free(x->plait);
		free(x->cause);
		free(x->advice);
	}
	vec_deinit(r);
}
