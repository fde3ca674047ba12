/* cmd/cmd-seal.c - a run folder into a plait: for runs that nobody watched, and after kill -9. */
#include "base/strbuf.h"
#include "cmd/cmd.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *default_name(const char *dir)
{
	size_t len = strlen(dir);

	while (len > 1 && dir[len - 1] == '/')
		len--;
	return xasprintf("%.*s.plait", (int)len, dir);
}

static struct err *seal_main(const struct cmd *cmd, int argc, char **argv, int *status)
{
	const char *output = NULL;
	_cleanup_(xfreep) char *path = NULL;
	struct cmd_common common = { 0 };
	const struct opt table[] = {
		OPT_STR('o', "output", "FILE", &output, "the plait to write (default DIR.plait)"),
		OPT_END,
	};
	struct trace *t;
	struct err *err = cmd_parse(cmd, table, &common, true, &argc, &argv);

	(void)status;
	if (err)
		return err;
	if (argc != 1)
		return cmd_usage(cmd, "one run folder, please");
	path = output ? xstrdup(output) : default_name(argv[0]);
	err = trace_seal(argv[0], NULL, path);
	if (!err)
		err = trace_open(path, &t);
	if (err)
		return err;
	if (common.json) {
		struct json j;

		json_init(&j);
		json_begin_answer(&j);
		json_str(&j, "plait", path);
		json_uint(&j, "threads", trace_meta(t)->nthreads);
		json_uint(&j, "events", trace_meta(t)->nevents);
		json_uint(&j, "lost", trace_meta(t)->lost);
		json_str(&j, "outcome", outcome_name(trace_meta(t)->outcome.kind));
		json_end(&j);
		err = cmd_write_json(&common, &j);
	} else {
		printf("%s: %s, %zu threads, %llu events, %llu lost\n", path,
		       outcome_name(trace_meta(t)->outcome.kind), trace_meta(t)->nthreads,
		       (unsigned long long)trace_meta(t)->nevents,
		       (unsigned long long)trace_meta(t)->lost);
	}
	trace_close(t);
	return err;
}

const struct cmd cmd_seal = {
	.name = "seal",
	.synopsis = "[-o FILE] DIR",
	.summary = "turn a run folder, even of a killed program, into a plait",
	.help = "A program built with unplait records without this command when it is started "
		"with\n"
		"UNPLAIT_MODE=full (or path) and UNPLAIT_DIR=an empty folder; seal makes the "
		"plait.\n",
	.main = seal_main,
};
