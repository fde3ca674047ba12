/* cmd/main.c - find the command, run it, print its error once, pick the exit status. */
#include "cmd/cmd.h"
#include "cmd/manual.h"

#include "base/words.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct cmd *const commands[] = {
#define CMD(id, name) &cmd_##id,
#include "cmd/commands.def"
#undef CMD
};

static const struct cmd *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

/* The command that a slip of the fingers may have meant; NULL: none is near. */
static const char *nearest_command(const char *name)
{
	size_t least = MIN(strlen(name) / 2 + 1, 3);
	const char *nearest = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		size_t d = word_distance(name, strlen(name), commands[i]->name);

		if (d < least) {
			least = d;
			nearest = commands[i]->name;
		}
	}
	return nearest;
}

static struct err *help_main(const struct cmd *self, int argc, char **argv, int *status)
{
	(void)self;
	if (argc > 0) {
		const struct cmd *cmd = find_command(argv[0]);
		char *args[] = { "--help", NULL };

		if (cmd)
			return cmd->main(cmd, 1, args, status);
		if (manual_print(argv[0]))
			return NULL;
		return err_new(
			ERR_USAGE,
			"no command or task '%s'; `unplait help` lists the commands, `unplait "
			"help manual` the tasks",
			argv[0]);
	}
	puts("unplait finds, records, replays, isolates and explains concurrency bugs.\n\n"
	     "usage: unplait COMMAND [OPTION]... [--] [PROGRAM [ARG]...]\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	puts("\n`unplait help COMMAND` says more, `unplait help tutorial` begins, `unplait help "
	     "manual` "
	     "lists the tasks.\nA first try:\n"
	     "    CC=\"unplait cc\" make          # build your program\n"
	     "    unplait hunt -o fail.plait -- ./your-test\n"
	     "    unplait explain fail.plait");
	return NULL;
}

const struct cmd cmd_help = {
	.name = "help",
	.synopsis = "[COMMAND|TASK]",
	.summary = "list the commands, describe one, or print a page of the manual",
	.main = help_main,
};

static struct err *version_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	const struct opt none[] = { OPT_END };
	struct cmd_common common = { 0 };
	struct err *err = cmd_parse(cmd, none, &common, true, &argc, &argv);

	(void)status;
	if (err)
		return err;
	if (common.json) {
		struct json j;

		json_init(&j);
		json_begin_answer(&j);
		json_str(&j, "version", UNPLAIT_VERSION);
		json_end(&j);
		return cmd_write_json(&common, &j);
	}
	puts("unplait " UNPLAIT_VERSION);
	return NULL;
}

const struct cmd cmd_version = {
	.name = "version",
	.synopsis = "",
	.summary = "print the version",
	.main = version_main,
};

static void nothing(int signal)
{
	(void)signal;
}

/* Whatever a careless parent left us: descriptors 0 to 2 are open, so that no file of ours gets their
 * numbers, and a file that reaches RLIMIT_FSIZE is an error of write(), which says so, instead of
 * our end. The programs that we start have their own way again: exec resets handlers. */
static void settle(void)
{
	struct sigaction old, act = { .sa_handler = nothing, .sa_flags = SA_RESTART };
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	if (sigaction(SIGXFSZ, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &act, NULL);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "help";
	const struct cmd *cmd;
	struct err *err;
	int status = 0;

	settle();
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	cmd = find_command(name);
	if (!cmd) {
		const char *nearest = nearest_command(name);

		if (nearest)
			log_error("no command '%s'; do you mean `unplait %s`?", name, nearest);
		else
			log_error("no command '%s'; `unplait help` lists them", name);
		return ERR_USAGE;
	}
	err = cmd->main(cmd, argc > 2 ? argc - 2 : 0, argc > 2 ? argv + 2 : argv + argc, &status);
	progress_done();
	if (!err && (fflush(stdout) != 0 || ferror(stdout)))
		err = err_new(ERR_ENV, "cannot write the result to stdout");
	if (!err)
		return status;
	log_error("%s", err_message(err));
	status = err_kind(err);
	err_free(err);
	return status;
}
