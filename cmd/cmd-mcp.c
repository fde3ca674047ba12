/* cmd/cmd-mcp.c - `unplait mcp`: the same for agents. */
#include "base/err.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "mcp/mcp.h"

#include <stdlib.h>
#include <unistd.h>

static struct err *mcp_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	struct cmd_common common = { 0 };
	_cleanup_(xfreep) char *program = realpath("/proc/self/exe", NULL);
	struct mcp_options o = { .program = program,
				 .root = ".",
				 .seconds = 300,
				 .in = STDIN_FILENO,
				 .out = STDOUT_FILENO };
	const struct opt table[] = {
		OPT_STR(0, "root", "DIR", &o.root,
			"commands start in DIR, and source files outside of it are not shown (.)"),
		OPT_REAL(0, "timeout", "SEC", &o.seconds, "a call may take so long at most (300)"),
		OPT_END,
	};
	struct err *err = cmd_parse(cmd, table, &common, true, &argc, &argv);

	(void)status;
	if (err)
		return err;
	if (argc)
		return cmd_usage(cmd,
				 "mcp takes no words: it talks over standard input and output");
	if (o.seconds <= 0)
		return cmd_usage(cmd, "--timeout: more than 0 seconds, please");
	if (!program)
		return err_new(ERR_ENV, "cannot find this program: is /proc mounted?");
	if (access(o.root, R_OK | X_OK) < 0)
		return err_new(ERR_ENV, "cannot enter the folder %s", o.root);
	if (isatty(STDIN_FILENO))
		log_warn("this is a server for agents (Model Context Protocol): it waits for one "
			 "JSON "
			 "message per line. Ctrl-D ends it");
	return mcp_serve(&o);
}

const struct cmd cmd_mcp = {
	.name = "mcp",
	.synopsis = "[OPTION]...",
	.summary = "a Model Context Protocol server: tests, hunts and explanations for agents",
	.help = "Talks JSON-RPC over standard input and output, one message per line. Tools: test, "
		"hunt,\n"
		"replay, look, explain, races, predict, info, source. Each runs the unplait "
		"command of\n"
		"its name, so it runs programs that the agent names: let it work in a folder you "
		"trust.\n"
		"\n"
		"  {\"mcpServers\": {\"unplait\": {\"command\": \"unplait\", \"args\": "
		"[\"mcp\"]}}}\n",
	.main = mcp_main,
};
