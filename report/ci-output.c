/* report/ci-output.c - JUnit XML (one test case per hunt, a failure per finding) and SARIF 2.1.0. */
#include "report/ci-output.h"

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "run/run.h"
#include "debug/names.h"
#include "trace/trace.h"

#include <string.h>

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

static void message(const struct hunt_failure *f, struct strbuf *sb)
{
	strbuf_addf(sb, "%s%s%s", outcome_name(f->result.outcome), f->result.text ? ": " : "",
		    f->result.text ? f->result.text : "");
}

struct err *write_junit(const char *path, const struct hunt_options *o, const struct hunt_result *r)
{
	struct strbuf sb = { 0 }, text = { 0 };
	struct err *err;
	size_t i;

	strbuf_addf(&sb,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"unplait hunt\" "
		    "tests=\"1\" failures=\"%d\" time=\"%.3f\">\n  <testcase classname=\"unplait\" "
		    "name=\"",
		    r->failures.len > 0, r->seconds);
	for (i = 0; o->target.argv[i]; i++) {
		if (i)
			strbuf_addc(&sb, ' ');
		xml_text(&sb, o->target.argv[i]);
	}
	strbuf_addf(&sb, "\" time=\"%.3f\">\n", r->seconds);
	for (i = 0; i < r->failures.len; i++) {
		const struct hunt_failure *f = &r->failures.data[i];

		strbuf_clear(&text);
		message(f, &text);
		strbuf_addf(&sb, "    <failure type=\"%s\" message=\"",
			    outcome_name(f->result.outcome));
		xml_text(&sb, strbuf_str(&text));
		strbuf_addf(&sb, "\">run %llu, replayed %u of %u times", (unsigned long long)f->run,
			    f->same, f->tried);
		if (f->plait) {
			strbuf_adds(&sb, "\nunplait replay ");
			xml_text(&sb, f->plait);
		}
		strbuf_adds(&sb, "</failure>\n");
	}
	strbuf_adds(&sb, "  </testcase>\n</testsuite>\n");
	err = file_write(path, strbuf_str(&sb), sb.len);
	strbuf_deinit(&sb);
	strbuf_deinit(&text);
	return err;
}

/* Where it failed, from the saved plait; nothing when that cannot be told. */
static void sarif_location(struct json *j, const struct hunt_failure *f)
{
	struct trace *t = NULL;
	struct symbols *s = NULL;
	struct code_point p = { 0 };
	struct err *err = NULL;
	uint32_t i;

	json_begin_array(j, "locations");
	if (f->plait)
		err = trace_open(f->plait, &t);
	if (t && !err)
		err = symbols_open(t, &s);
	for (i = 0; s && i < f->result.failure.nframes; i++) {
		/* a frame is a return address: the call is before it */
		if (!symbols_pc(s, f->result.failure.frames[i] - 1, &p) || !p.file[0] ||
		    !strncmp(p.file, "rt/", 3))
			continue;
		json_begin_object(j, NULL);
		json_begin_object(j, "physicalLocation");
		json_begin_object(j, "artifactLocation");
		json_str(j, "uri", p.file);
		json_end(j);
		json_begin_object(j, "region");
		json_uint(j, "startLine", p.line ? p.line : 1);
		json_end(j);
		json_end(j);
		json_end(j);
		break;
	}
	json_end(j);
	err_free(err);
	symbols_close(s);
	trace_close(t);
}

struct err *write_sarif(const char *path, const struct hunt_options *o, const struct hunt_result *r)
{
	struct strbuf text = { 0 };
	struct json j;
	struct err *err;
	size_t i;

	(void)o;
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
	for (i = 0; i < r->failures.len; i++) {
		const struct hunt_failure *f = &r->failures.data[i];

		strbuf_clear(&text);
		message(f, &text);
		json_begin_object(&j, NULL);
		json_str(&j, "ruleId", outcome_name(f->result.outcome));
		json_str(&j, "level", "error");
		json_begin_object(&j, "message");
		json_str(&j, "text", strbuf_str(&text));
		json_end(&j);
		sarif_location(&j, f);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	err = file_write(path, strbuf_str(&j.out), j.out.len);
	json_deinit(&j);
	strbuf_deinit(&text);
	return err;
}
