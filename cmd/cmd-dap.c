/* cmd/cmd-dap.c - `unplait dap`: a replay in an editor. */
#include "base/file.h"
#include "cmd/cmd.h"
#include "cmd/trust.h"
#include "dap/dap.h"
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* gdb, and the program with it, until the client has enough. */
static struct err *debug(const struct dap *d, const char *dir)
{
	_cleanup_(words_deinit) struct words extra = { 0 };
	struct target target = { 0 };
	struct schedule schedule = { 0 };
	struct session *session = NULL;
	struct run_request req;
	bool replaced = d->program.data[0] != NULL;
	int status;
	struct err *err = schedule_load(d->plait, &schedule);

	if (!err)
		err = trust_check(d->plait, replaced, d->trust);
	if (!err)
		err = target_from_plait(&target, d->plait, d->program.data);
	if (!err)
		err = session_open(&target, &session);
	if (!err)
		err = dap_gdb_arguments(d, dir, &extra);
	if (!err) {
		req = schedule_request(&schedule);
		err = session_debug(session, &req, extra.data, &status);
	}
	session_close(session);
	target_deinit(&target);
	schedule_deinit(&schedule);
	return err;
}

/* The client's descriptors get other numbers: 0 and 1 belong to gdb and the program from now on. */
static struct err *move_aside(struct dap *d)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	d->in = dup(STDIN_FILENO);
	d->out = dup(STDOUT_FILENO);
	if (nothing < 0 || d->in < 0 || d->out < 0)
		return err_errno(errno, "cannot copy a descriptor");
	dup2(nothing, STDIN_FILENO);
	dup2(nothing, STDOUT_FILENO);
	close(nothing);
	return NULL;
}

static struct err *serve(struct dap *d, const char *dir)
{
	for (;;) {
		struct err *err = dap_wait_for_launch(d);

		if (err || !d->request)
			return err;
		err = debug(d, dir);
		if (!err) {
			dap_say_end(d);
			return NULL;
		}
		dap_refuse(d, err);
	}
}

static struct err *dap_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct cmd_common common = { 0 };
	const struct opt table[] = { OPT_END };
	struct dap d = { 0 };
	char *dir = NULL;
	struct err *err = cmd_parse(cmd, table, &common, true, &argc, &argv);

	(void)status;
	if (err)
		return err;
	if (argc)
		return cmd_usage(cmd, "dap takes no words: the editor says which plait to replay");
	if (isatty(STDIN_FILENO))
		log_warn("this is a server for editors (Debug Adapter Protocol); see unplait help "
			 "editor. Ctrl-D ends it");
	err = file_temp_dir(&dir);
	if (!err)
		err = move_aside(&d);
	if (!err)
		err = serve(&d, dir);
	dap_deinit(&d);
	if (dir)
		file_remove_tree(dir);
	free(dir);
	return err;
}

const struct cmd cmd_dap = {
	.name = "dap",
	.synopsis = "[OPTION]...",
	.summary = "a Debug Adapter Protocol server: replays in VS Code, Neovim and other editors",
	.help = "Talks over standard input and output. The editor's launch configuration names the "
		"plait:\n"
		"\n"
		"  {\"type\": \"unplait\", \"request\": \"launch\", \"name\": \"replay\",\n"
		"   \"plait\": \"${workspaceFolder}/fail.plait\"}\n"
		"\n"
		"The replay stops at the failure. Step back goes to the previous switch of "
		"threads.\n",
	.main = dap_main,
};
