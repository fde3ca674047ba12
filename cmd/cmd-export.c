/* cmd/cmd-export.c - a plait in another format. */
#include "base/file.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "cmd/pinned.h"
#include "report/export.h"
#include "witness/witness.h"

#include <stdio.h>
#include <string.h>

static struct err *write_to(const char *path, struct trace *t, struct symbols *symbols,
			    const struct export_format *format)
{
	_cleanup_(file_out_deinit) struct file_out out = { 0 };
	struct err *err;

	if (!path)
		return export_run(t, symbols, format, NULL, stdout);
	err = file_out_open(path, &out);
	if (!err)
		err = export_run(t, symbols, format, NULL, out.stream);
	return err ? err : file_out_commit(&out);
}

/* Not a walk over all events: a format of its own. */
static struct err *write_witness(const char *path, struct trace *t)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };
	struct err *err = witness_write(t, &text);

	if (err)
		return err;
	if (path)
		return file_write(path, strbuf_str(&text), text.len);
	fwrite(strbuf_str(&text), 1, text.len, stdout);
	return NULL;
}

static struct err *export_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	const char *name = NULL, *output = NULL;
	const struct export_format *format;
	struct cmd_common common = { 0 };
	bool witness;
	const struct opt table[] = {
		OPT_STR('f', "format", "FORMAT", &name,
			"json, csv, std, perfetto, text or witness"),
		OPT_STR('o', "output", "FILE", &output, "write to FILE instead of stdout"),
		OPT_END,
	};
	struct trace *t = NULL;
	struct symbols *symbols = NULL;
	struct err *err = cmd_parse(cmd, table, &common, true, &argc, &argv);

	(void)status;
	if (err)
		return err;
	if (argc != 1)
		return cmd_usage(cmd, "one plait, please");
	witness = name && strcmp(name, "witness") == 0;
	format = export_find(name ? name : "json");
	if (!format && !witness)
		return err_new(ERR_USAGE,
			       "--format is json, csv, std, perfetto, text or witness, not '%s'",
			       name);
	err = pinned_to_look(argv[0]);
	if (!err)
		err = trace_open(argv[0], &t);
	if (!err && witness) {
		err = write_witness(output, t);
		trace_close(t);
		return err;
	}
	if (!err && (err = symbols_open(t, &symbols))) {
		log_warn("%s; numbers instead of names", err_message(err));
		err_free(err);
		err = NULL;
	}
	if (!err)
		err = write_to(output, t, symbols, format);
	symbols_close(symbols);
	trace_close(t);
	return err;
}

const struct cmd cmd_export = {
	.name = "export",
	.synopsis = "--format FORMAT [-o FILE] PLAIT",
	.summary = "write the events of a plait in another format",
	.help = "json      every field of every event (the default)\n"
		"csv       a table, one event per line\n"
		"std       thread|operation(operand)|location, for predictors of races and "
		"deadlocks\n"
		"perfetto  for ui.perfetto.dev and chrome://tracing\n"
		"text      lines for reading\n"
		"witness   a violation witness of SV-COMP (YAML 2.2)\n",
	.main = export_main,
};
