/* cmd/rewind-triage.c - `unplait rewind triage`: many dumps, sorted by cause. */
#include "cmd/rewind.h"

#include "base/file.h"
#include "base/interrupt.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "report/ci-cases.h"
#include "report/report.h"
#include "rewind/triage.h"

#include <stdio.h>
#include <stdlib.h>

static void show(const struct triage *t, struct strbuf *out)
{
	uint32_t failed = 0;

	for (size_t i = 0; i < t->buckets.len; i++) {
		const struct bucket *b = &t->buckets.data[i];
		const struct triaged *d = &t->dumps.data[b->smallest];

		strbuf_addf(out, "%5u  ", b->count);
		strbuf_add_printable(out, b->name, "");
		strbuf_adds(out, "\n       e.g. ");
		strbuf_add_printable(out, d->path, "");
		strbuf_adds(out, ": ");
		strbuf_add_printable(out, d->text, "");
		strbuf_addc(out, '\n');
	}
	for (size_t i = 0; i < t->dumps.len; i++)
		if (t->dumps.data[i].problem) {
			failed++;
			strbuf_adds(out, "not sorted: ");
			strbuf_add_printable(out, t->dumps.data[i].path, "");
			strbuf_addf(out, ": %s\n", t->dumps.data[i].problem);
		}
	strbuf_addf(out, "%zu dumps, %zu buckets, %u not sorted", t->dumps.len, t->buckets.len,
		    failed);
	if (t->known)
		strbuf_addf(out, ", %u known from before", t->known);
	strbuf_addc(out, '\n');
}

static void json_dump(struct json *j, const struct triage *t, const struct triaged *d)
{
	json_begin_object(j, NULL);
	json_str(j, "path", d->path);
	json_uint(j, "size", d->size);
	json_int(j, "changed", d->changed);
	if (d->problem) {
		json_str(j, "problem", d->problem);
	} else {
		json_str(j, "bucket", t->buckets.data[d->bucket].name);
		json_str(j, "kind", d->kind);
		json_str(j, "function", d->function);
		json_str(j, "object", d->object);
		json_str(j, "file", d->file);
		json_uint(j, "line", d->line);
		json_str(j, "text", d->text);
		json_str(j, "input", d->input);
		json_str(j, "gdb_exploitable", d->gdb_exploitable);
		json_str(j, "casr", d->casr);
	}
	json_end(j);
}

static void json_triage(struct json *j, const struct triage *t)
{
	json_begin_answer(j);
	json_begin_array(j, "buckets");
	for (size_t i = 0; i < t->buckets.len; i++) {
		json_begin_object(j, NULL);
		json_str(j, "name", t->buckets.data[i].name);
		json_bool(j, "annotated", t->buckets.data[i].annotated);
		json_uint(j, "count", t->buckets.data[i].count);
		json_str(j, "smallest", t->dumps.data[t->buckets.data[i].smallest].path);
		json_end(j);
	}
	json_end(j);
	json_begin_array(j, "dumps");
	for (size_t i = 0; i < t->dumps.len; i++)
		json_dump(j, t, &t->dumps.data[i]);
	json_end(j);
	json_end(j);
}

/* One case per bucket. */
static struct err *write_sarif(const struct triage *t, const char *path)
{
	struct ci_cases cases = { 0 };
	struct err *err;

	for (size_t i = 0; i < t->buckets.len; i++) {
		const struct triaged *d = &t->dumps.data[t->buckets.data[i].smallest];
		struct ci_case c = { .name = xstrdup(t->buckets.data[i].name) };
		struct ci_failure f = { .kind = xstrdup(d->kind),
					.message = xasprintf("%s (%u dumps)", d->text,
							     t->buckets.data[i].count),
					.file = *d->file ? xstrdup(d->file) : NULL,
					.line = d->line };

		vec_push(&c.failures, f);
		vec_push(&cases, c);
	}
	err = ci_cases_write(&cases, "unplait rewind triage", &report_sarif, path);
	ci_cases_deinit(&cases);
	return err;
}

static struct err *write_html(const struct triage *t, const char *path)
{
	_cleanup_(strbuf_deinit) struct strbuf page = { 0 };

	report_triage_html(t, &page);
	return file_write(path, page.data, page.len);
}

/* Where the results go beside the terminal; NULL = nowhere. */
struct files {
	const char *index, *sarif, *html;
};

static struct err *print(const struct cmd_common *common, const struct triage *t,
			 const struct files *files)
{
	_cleanup_(strbuf_deinit) struct strbuf sb = { 0 }, saved = { 0 };
	struct err *err = NULL;
	struct json j;

	if (!common->json || *common->json) {
		show(t, &sb);
		fputs(strbuf_str(&sb), stdout);
	}
	if (files->index) {
		json_init(&j);
		json_triage(&j, t);
		json_finish(&j, &saved);
		err = file_write(files->index, saved.data, saved.len);
	}
	if (!err && files->sarif)
		err = write_sarif(t, files->sarif);
	if (!err && files->html)
		err = write_html(t, files->html);
	if (err || !common->json)
		return err;
	json_init(&j);
	json_triage(&j, t);
	return cmd_write_json(common, &j);
}

struct err *rewind_triage_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct cmd_common common = { 0 };
	struct triage_options o = { .jobs = 2, .seconds = 2 };
	struct files files = { 0 };
	const struct opt table[] = {
		OPT_STR(0, "annotations", "FILE", &o.annotations, "names for buckets"),
		OPT_STR('o', "output", "FILE", &o.index,
			"keep the index there; dumps that it has are not read again"),
		OPT_STR(0, "sarif", "FILE", &files.sarif, "also write SARIF, a result per bucket"),
		OPT_STR(0, "html", "FILE", &files.html, "also write a page, all in one file"),
		OPT_COUNT('j', "jobs", "N", &o.jobs, "so many dumps at a time (2)"),
		OPT_REAL(0, "time", "SEC", &o.seconds, "for each dump (2)"),
		OPT_END,
	};
	struct err *err = cmd_parse(cmd, table, &common, true, &argc, &argv);
	struct triage t;

	if (err)
		return err;
	if (argc < 1)
		return cmd_usage(cmd, "rewind triage: which dumps or folders?");
	if (o.jobs < 1 || o.jobs > 256)
		return cmd_usage(cmd, "--jobs is 1 to 256");
	files.index = o.index;
	interrupt_catch();
	err = triage_run(argv, (size_t)argc, &o, &t);
	if (!err)
		err = print(&common, &t, &files);
	*status = t.buckets.len ? 1 : 0;
	triage_deinit(&t);
	return err;
}
