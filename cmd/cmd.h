/* cmd/cmd.h - what a command is.
 * A command parses its options, calls a library, prints, and says which exit status it wants:
 * 0 nothing found or success, 1 finding, 2 usage, 3 environment or bad input, 4 inconclusive. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "base/err.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"

#include <stdbool.h>
#include <stdint.h>

struct cmd {
	const char *name;
	const char *synopsis; /* what follows "unplait NAME" */
	const char *summary;  /* one line, lower case, no full stop */
	const char
		*help; /* printed after the options: examples, what the status means; may be NULL */
	/* argv[0..argc) are the words after the command's name. */
	struct err *(*main)(const struct cmd *cmd, int argc, char **argv, int *status);
};

/* Options that every command understands. */
struct cmd_common {
	const char *json;  /* NULL = text, "" = stdout, else a file */
	const char *color; /* auto, always, never */
	const char *debug;
	bool quiet, verbose, help;
};

/* Parse `table` plus the common options. Handles --help (prints it and exits 0).
 * mixed: options may follow words (not for commands that take a target command line). */
struct err *cmd_parse(const struct cmd *cmd, const struct opt *table, struct cmd_common *common,
		      bool mixed, int *argc, char ***argv);
/* Write the finished JSON to where --json said, and let go of it. */
struct err *cmd_write_json(const struct cmd_common *common, struct json *j);
/* Print a finished report, or write it to where --json said. */
struct err *cmd_write_report(const struct cmd_common *common, const struct strbuf *report);
/* Columns of the terminal, within reason. */
unsigned cmd_terminal_width(void);
/* err_new(ERR_USAGE, ...) naming the command's synopsis. */
struct err *cmd_usage(const struct cmd *cmd, const char *what);

#define CMD(id, name) extern const struct cmd cmd_##id;
#include "cmd/commands.def"
#undef CMD

#endif
