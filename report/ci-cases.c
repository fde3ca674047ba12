/* report/ci-cases.c - the results of a hunt and of a suite as cases and their failures. */
#include "report/ci-cases.h"

#include "base/err.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "debug/names.h"
#include "report/report.h"
#include "run/run.h"
#include "suite/suite.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

void ci_cases_deinit(struct ci_cases *c)
{
	for (size_t i = 0; i < c->len; i++) {
		struct ci_case *k = &c->data[i];

		for (size_t n = 0; n < k->failures.len; n++) {
			struct ci_failure *f = &k->failures.data[n];

			free(f->kind);
			free(f->message);
			free(f->details);
			free(f->file);
		}
		vec_deinit(&k->failures);
		free(k->name);
		free(k->skipped);
	}
	vec_deinit(c);
}

/* ---- from a hunt ---- */

/* Where it failed, from the saved plait; nothing when that cannot be told. */
static void find_place(const struct hunt_failure *f, struct ci_failure *ret)
{
	struct trace *t = NULL;
	struct symbols *s = NULL;
	struct code_point p = { 0 };
	struct err *err = f->plait ? trace_open(f->plait, &t) : NULL;

	if (t && !err)
		err = symbols_open(t, &s);
	for (uint32_t i = 0; s && i < f->result.failure.nframes; i++) {
		/* a frame is a return address: the call is before it */
		if (!symbols_pc(s, f->result.failure.frames[i] - 1, &p) || !p.file[0] ||
		    !strncmp(p.file, "rt/", 3))
			continue;
		ret->file = xstrdup(p.file);
		ret->line = p.line;
		break;
	}
	err_free(err);
	symbols_close(s);
	trace_close(t);
}

static void add_hunt_failure(struct ci_case *c, const struct hunt_failure *f)
{
	struct ci_failure *ret = vec_add(&c->failures);
	const char *kind = outcome_name(f->result.outcome);
	struct strbuf details = { 0 };

	ret->kind = xstrdup(kind);
	ret->message = f->result.text ? xasprintf("%s: %s", kind, f->result.text) : xstrdup(kind);
	strbuf_addf(&details, "run %llu, replayed %u of %u times", (unsigned long long)f->run,
		    f->same, f->tried);
	if (f->plait) {
		strbuf_adds(&details, "\nunplait replay ");
		strbuf_add_shell(&details, f->plait);
	}
	ret->details = strbuf_detach(&details);
	find_place(f, ret);
}

void ci_from_hunt(const struct hunt_options *o, const struct hunt_result *r, struct ci_cases *ret)
{
	struct ci_case *c = vec_add(ret);
	struct strbuf name = { 0 };

	for (size_t i = 0; o->target.argv[i]; i++)
		strbuf_addf(&name, "%s%s", i ? " " : "", o->target.argv[i]);
	c->name = strbuf_detach(&name);
	c->seconds = r->seconds;
	for (size_t i = 0; i < r->failures.len; i++)
		add_hunt_failure(c, &r->failures.data[i]);
}

/* ---- from a suite ---- */

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static void add_suite_failure(struct ci_case *c, const struct suite_result *r)
{
	struct ci_failure *ret = vec_add(&c->failures);
	struct strbuf details = { 0 };

	ret->kind = xstrdup(r->kind ? r->kind : "failure");
	ret->message = r->message ? xasprintf("%s: %s", ret->kind, r->message) : xstrdup(ret->kind);
	ret->file = copy(r->file);
	ret->line = r->line;
	ret->known = r->known;
	if (r->cause)
		strbuf_addf(&details, "cause: %s\n", r->cause);
	if (r->advice)
		strbuf_addf(&details, "advice: %s\n", r->advice);
	if (r->tried)
		strbuf_addf(&details, "tried: %s\n", r->tried);
	strbuf_addf(&details, "replayed %u of %u times\n", r->same, r->replays);
	if (r->plait)
		suite_command(r, "replay", &details);
	ret->details = strbuf_detach(&details);
}

void ci_from_suite(const struct suite_results *r, struct ci_cases *ret)
{
	for (size_t i = 0; i < r->len; i++) {
		const struct suite_result *x = &r->data[i];
		struct ci_case *c = vec_add(ret);

		c->name = xstrdup(x->test->name);
		c->seconds = x->seconds;
		if (x->verdict == VERDICT_FAILS || x->verdict == VERDICT_UNSTEADY)
			add_suite_failure(c, x);
		else if (x->verdict == VERDICT_SKIPPED || x->verdict >= VERDICT_UNCONTROLLED)
			c->skipped = xasprintf("%s%s%s", verdict_text(x->verdict),
					       x->why ? ": " : "", x->why ? x->why : "");
	}
}

struct err *ci_cases_write(const struct ci_cases *c, const char *suite,
			   const struct report_format *format, const char *path)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };

	if (!path)
		return NULL;
	format->cases(c, suite, &out);
	return file_write(path, strbuf_str(&out), out.len);
}
