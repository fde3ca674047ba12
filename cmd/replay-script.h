/* cmd/replay-script.h - replay of a plait that has a script for a binary as it is (run/script.h). */
#ifndef CMD_REPLAY_SCRIPT_H
#define CMD_REPLAY_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

struct cmd_common;
struct err;
struct script;
struct target;

/* The plait's script; *has: there is one. */
struct err *script_load(const char *plait, struct script *ret, bool *has);
/* Perform it and print what happened. */
struct err *script_replay(const struct script *s, const struct target *t, uint64_t times,
			  const struct cmd_common *common, int *status);

#endif
