/* cmd/cmd-export.c - a plait in another format. */
#include "base/file.h"
#include "cmd/cmd.h"
#include "report/export.h"

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

static struct err *export_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	const char *name = NULL, *output = NULL;
	const struct export_format *format;
	struct cmd_common common = { 0 };
	const struct opt table[] = {
		OPT_STR('f', "format", "FORMAT", &name, "json, csv, std, perfetto or text"),
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
	format = export_find(name ? name : "json");
	if (!format)
		return err_new(ERR_USAGE, "--format is json, csv, std, perfetto or text, not '%s'",
			       name);
	err = trace_open(argv[0], &t);
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
		"text      lines for reading\n",
	.main = export_main,
};
