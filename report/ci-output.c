/* report/ci-output.c - JUnit XML and SARIF 2.1.0, from cases and their failures. */
#include "report/ci-output.h"

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "debug/names.h"
#include "run/run.h"
#include "suite/suite.h"
#include "trace/trace.h"

#include <stdio.h>
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
	if (f->plait)
		strbuf_addf(&details, "\nunplait replay %s", f->plait);
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

/* ---- JUnit ---- */

static void xml_text(struct strbuf *sb, const char *s)
{
	for (; s && *s; s++) {
		switch (*s) {
		case '<':
			strbuf_adds(sb, "&lt;");
			break;
		case '>':
			strbuf_adds(sb, "&gt;");
			break;
		case '&':
			strbuf_adds(sb, "&amp;");
			break;
		case '"':
			strbuf_adds(sb, "&quot;");
			break;
		default:
			if ((unsigned char)*s >= 0x20 || *s == '\n' || *s == '\t')
				strbuf_addc(sb, *s);
		}
	}
}

static bool has_new(const struct ci_case *c)
{
	for (size_t i = 0; i < c->failures.len; i++)
		if (!c->failures.data[i].known)
			return true;
	return false;
}

/* <tag type="..." message="...">text</tag>; type and text may be NULL. */
static void xml_element(struct strbuf *sb, const char *tag, const char *type, const char *message,
			const char *text)
{
	strbuf_addf(sb, "    <%s", tag);
	if (type) {
		strbuf_adds(sb, " type=\"");
		xml_text(sb, type);
		strbuf_addc(sb, '"');
	}
	strbuf_adds(sb, " message=\"");
	xml_text(sb, message);
	strbuf_adds(sb, "\">");
	xml_text(sb, text);
	strbuf_addf(sb, "</%s>\n", tag);
}

static void xml_case(struct strbuf *sb, const struct ci_case *c)
{
	strbuf_adds(sb, "  <testcase classname=\"unplait\" name=\"");
	xml_text(sb, c->name);
	strbuf_addf(sb, "\" time=\"%.3f\">\n", c->seconds);
	if (c->skipped)
		xml_element(sb, "skipped", NULL, c->skipped, NULL);
	for (size_t i = 0; i < c->failures.len; i++) {
		const struct ci_failure *f = &c->failures.data[i];

		xml_element(sb, f->known ? "skipped" : "failure", f->known ? NULL : f->kind,
			    f->message, f->details);
	}
	strbuf_adds(sb, "  </testcase>\n");
}

struct err *write_junit(const char *path, const char *suite, const struct ci_cases *c)
{
	_cleanup_(strbuf_deinit) struct strbuf sb = { 0 };
	size_t failing = 0, skipped = 0;
	double seconds = 0;

	for (size_t i = 0; i < c->len; i++) {
		failing += has_new(&c->data[i]);
		skipped += c->data[i].skipped || (c->data[i].failures.len && !has_new(&c->data[i]));
		seconds += c->data[i].seconds;
	}
	strbuf_adds(&sb, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"");
	xml_text(&sb, suite);
	strbuf_addf(&sb, "\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n",
		    c->len, failing, skipped, seconds);
	for (size_t i = 0; i < c->len; i++)
		xml_case(&sb, &c->data[i]);
	strbuf_adds(&sb, "</testsuite>\n");
	return file_write(path, strbuf_str(&sb), sb.len);
}

/* ---- SARIF ---- */

static void sarif_result(struct json *j, const struct ci_case *c, const struct ci_failure *f)
{
	json_begin_object(j, NULL);
	json_str(j, "ruleId", f->kind);
	json_str(j, "level", f->known ? "note" : "error");
	json_begin_object(j, "message");
	json_str(j, "text", f->message);
	json_end(j);
	json_begin_array(j, "locations");
	if (f->file) {
		json_begin_object(j, NULL);
		json_begin_object(j, "physicalLocation");
		json_begin_object(j, "artifactLocation");
		json_str(j, "uri", f->file);
		json_end(j);
		json_begin_object(j, "region");
		json_uint(j, "startLine", f->line ? f->line : 1);
		json_end(j);
		json_end(j);
		json_end(j);
	}
	json_end(j);
	json_begin_object(j, "properties");
	json_str(j, "test", c->name);
	json_str(j, "details", f->details);
	json_end(j);
	json_end(j);
}

struct err *write_sarif(const char *path, const struct ci_cases *c)
{
	struct json j;
	struct err *err;

	json_init(&j);
	json_begin_object(&j, NULL);
	json_str(&j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	json_str(&j, "version", "2.1.0");
	json_begin_array(&j, "runs");
	json_begin_object(&j, NULL);
	json_begin_object(&j, "tool");
	json_begin_object(&j, "driver");
	json_str(&j, "name", "unplait");
	json_str(&j, "version", UNPLAIT_VERSION);
	json_end(&j);
	json_end(&j);
	json_begin_array(&j, "results");
	for (size_t i = 0; i < c->len; i++)
		for (size_t n = 0; n < c->data[i].failures.len; n++)
			sarif_result(&j, &c->data[i], &c->data[i].failures.data[n]);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	err = file_write(path, strbuf_str(&j.out), j.out.len);
	json_deinit(&j);
	return err;
}
