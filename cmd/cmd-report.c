/* cmd/cmd-report.c - one page over all findings of a folder. */
#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "report/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Ask explain about one finding; it leaves its page and its answer beside the plait. */
static struct err *explain(const char *program, const char *folder, const struct index_entry *f)
{
	_cleanup_(xfreep) char *path = xasprintf("%s/%s", folder, f->plait);
	_cleanup_(xfreep) char *page = index_beside(path, ".html");
	_cleanup_(xfreep) char *json = index_beside(path, ".json");
	_cleanup_(xfreep) char *to_json = xasprintf("--json=%s", json);
	_cleanup_(xfreep) char *to_page = xasprintf("--html=%s", page);
	char *argv[] = { (char *)program, "explain", "-q", to_json, to_page, "--", path, NULL };
	struct process_options o = { .argv = argv,
				     .program = program,
				     .in = "/dev/null",
				     .out = "/dev/null",
				     .own_group = true,
				     .cleans_up = true };
	struct process p;
	struct err *err = process_run(&o, &p);

	if (!err && p.exit_code != 1)
		log_warn("%s: explain ended with status %d", f->plait, p.exit_code);
	return err;
}

/* Those that fail, were made here, and have no page yet. */
static struct err *explain_all(const char *folder, const struct report_index *x)
{
	_cleanup_(xfreep) char *program = realpath("/proc/self/exe", NULL);
	struct err *err = NULL;

	for (size_t i = 0; i < x->entries.len && !err; i++) {
		const struct index_entry *f = &x->entries.data[i];

		if (!index_entry_fails(f) || f->page)
			continue;
		if (!f->made_here) {
			log_warn("%s was not made here by you: not explained", f->plait);
			continue;
		}
		log_note("explaining %s (%zu of %zu)", f->plait, i + 1, x->entries.len);
		err = explain(program, folder, f);
	}
	return err;
}

static struct err *write_page(const struct report_index *x, const char *folder, const char *path)
{
	_cleanup_(strbuf_deinit) struct strbuf page = { 0 };

	report_index_html(x, folder, &page);
	return file_write(path, strbuf_str(&page), page.len);
}

static struct err *answer(const struct cmd_common *common, const struct report_index *x,
			  const char *folder, const char *path)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct json j;

	if (common->json) {
		json_init(&j);
		report_index_json(x, folder, &j);
		return cmd_write_json(common, &j);
	}
	report_index_term(x, &text);
	fputs(strbuf_str(&text), stdout);
	printf("%zu finding%s: %s\n", x->entries.len, x->entries.len == 1 ? "" : "s", path);
	return NULL;
}

static struct err *report_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct cmd_common common = { 0 };
	struct report_index x = { 0 };
	const char *output = NULL, *folder;
	bool ask = false;
	const struct opt table[] = {
		OPT_STR('o', "output", "FILE", &output, "the page to write (DIR/index.html)"),
		OPT_FLAG(0, "explain", &ask,
			 "explain the failing ones first, which runs their programs"),
		OPT_END,
	};
	_cleanup_(xfreep) char *path = NULL;
	struct err *err = cmd_parse(cmd, table, &common, true, &argc, &argv);

	if (err)
		return err;
	if (argc != 1)
		return cmd_usage(cmd, "which folder?");
	folder = argv[0];
	path = output ? xstrdup(output) : xasprintf("%s/index.html", folder);
	interrupt_catch();
	err = report_index_gather(folder, &x);
	if (!err && !x.entries.len)
		err = err_new(ERR_ENV,
			      "there is no plait in %s: hunt --all, test, races and predict "
			      "leave some",
			      folder);
	if (!err && ask)
		err = explain_all(folder, &x);
	if (!err && ask) {
		report_index_deinit(&x);
		err = report_index_gather(folder, &x);
	}
	if (!err)
		err = write_page(&x, folder, path);
	if (!err)
		err = answer(&common, &x, folder, path);
	*status = 0;
	report_index_deinit(&x);
	return err;
}

const struct cmd cmd_report = {
	.name = "report",
	.synopsis = "[OPTION]... DIR",
	.summary = "one page over all findings of a folder",
	.help = "DIR holds plaits: what hunt --all, test, races, predict or record left there, in "
		"any\n"
		"folders below. The page lists them with filters and links to their "
		"explanations.\n",
	.main = report_main,
};
