#include "cmd/cmd.h"

#include "base/file.h"
#include "base/printable.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void print_help(const struct cmd *cmd, const struct opt *table, const struct opt *common)
{
	struct strbuf sb = { 0 };

	strbuf_addf(&sb, "usage: unplait %s %s\n\n%s\n\n", cmd->name, cmd->synopsis, cmd->summary);
	if (table->type != OPT_IS_END)
		opt_help(table, &sb);
	opt_help(common, &sb);
	if (cmd->help)
		strbuf_addf(&sb, "\n%s", cmd->help);
	fputs(strbuf_str(&sb), stdout);
	strbuf_deinit(&sb);
}

static struct err *apply_common(const struct cmd_common *common)
{
	log_set_level(common->quiet ? -1 : common->verbose);
	log_set_debug(common->debug);
	if (!color_set(common->color ? common->color : "auto"))
		return err_new(ERR_USAGE, "--color is auto, always or never, not '%s'",
			       common->color);
	return NULL;
}

struct err *cmd_parse(const struct cmd *cmd, const struct opt *table, struct cmd_common *common,
		      bool mixed, int *argc, char ***argv)
{
	const struct opt common_table[] = {
		OPT_OPTSTR(0, "json", "FILE", &common->json,
			   "print JSON (to FILE) instead of text"),
		OPT_FLAG('q', "quiet", &common->quiet, "print results and errors only"),
		OPT_FLAG('v', "verbose", &common->verbose, "say what is being done"),
		OPT_STR(0, "color", "WHEN", &common->color, "auto (default), always or never"),
		OPT_STR(0, "debug", "DOMAINS", &common->debug, "debug lines, e.g. run:2,trace"),
		OPT_FLAG('h', "help", &common->help, "show this help"),
		OPT_END,
	};
	VEC(struct opt) all = { 0 };
	struct err *err;

	for (const struct opt *o = table; o->type != OPT_IS_END; o++)
		vec_push(&all, *o);
	for (size_t i = 0; i < ARRAY_SIZE(common_table); i++)
		vec_push(&all, common_table[i]);
	err = mixed ? opt_parse_mixed(all.data, argc, argv) : opt_parse(all.data, argc, argv);
	vec_deinit(&all);
	if (common->help) {
		err_free(err);
		print_help(cmd, table, common_table);
		exit(0);
	}
	if (err)
		return err_wrap(err, "unplait %s", cmd->name);
	return apply_common(common);
}

struct err *cmd_write_json(const struct cmd_common *common, struct json *j)
{
	struct err *err = cmd_write_report(common, &j->out);

	json_deinit(j);
	return err;
}

struct err *cmd_write_report(const struct cmd_common *common, const struct strbuf *report)
{
	_cleanup_(strbuf_deinit) struct strbuf text = { 0 };

	if (common->json && *common->json)
		return file_write(common->json, strbuf_str(report), report->len);
	if (!common->json)
		strbuf_add_printable_report(&text, strbuf_str(report));
	fputs(strbuf_str(common->json ? report : &text), stdout);
	return NULL;
}

unsigned cmd_terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 60)
		return size.ws_col > 140 ? 140 : size.ws_col;
	return 100;
}

struct err *cmd_usage(const struct cmd *cmd, const char *what)
{
	return err_new(ERR_USAGE, "%s\nusage: unplait %s %s", what, cmd->name, cmd->synopsis);
}
