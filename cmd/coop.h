/* cmd/coop.h - private to `unplait coop`: its options, and its five subcommands. */
#ifndef CMD_COOP_H
#define CMD_COOP_H

#include "cmd/cmd.h"

#include "coop/program.h"
#include "run/run.h"

struct coop_options {
	struct cmd_common common;
	const char *share, *mode, *heuristic, *metric, *output, *store, *plan, *scheduler, *fail_on;
	uint64_t instances, seed, attempts, jobs;
	bool informed, at_start, again;
	struct target target;
	/* derived */
	enum plait_mode plait_mode;
	struct plan_options choose;
	struct coop_merge_options merge;
	char **command; /* behind --; NULL = none */
};

/* argv: the words behind the subcommand, without the program. */
struct err *coop_cmd_plan(const struct cmd *cmd, struct coop_options *o, int argc, char **argv);
struct err *coop_cmd_record(const struct cmd *cmd, struct coop_options *o, int *status);
struct err *coop_cmd_add(const struct cmd *cmd, struct coop_options *o, int argc, char **argv);
struct err *coop_cmd_merge(const struct cmd *cmd, struct coop_options *o, int argc, char **argv,
			   int *status);
struct err *coop_cmd_stats(const struct cmd *cmd, int argc, char **argv, int *status);

/* The elements of `binary` and, if there is a command, a session that runs it. */
struct err *coop_open_program(struct coop_options *o, const char *binary, struct coop_program **p,
			      struct session **s);
struct err *coop_add_to_store(const char *path, const struct coop *c, uint64_t *added);

#endif
