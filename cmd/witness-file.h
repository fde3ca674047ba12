/* cmd/witness-file.h - violation witnesses in commands: written beside a finding, and replayed. */
#ifndef CMD_WITNESS_FILE_H
#define CMD_WITNESS_FILE_H

struct cmd;
struct cmd_common;
struct err;
struct hunt_result;
struct target;

#define WITNESS_HELP "also write the first failure as an SV-COMP violation witness"

/* The saved plait of the first failure as a witness. path: NULL = not wanted. What the format
 * cannot say is a warning: the finding stands. */
struct err *witness_save(const struct hunt_result *r, const char *path);

/* `unplait replay witness.yml PROGRAM`: search along the witness. output: where to save the failing
 * run; NULL = nowhere. */
struct err *witness_replay(const char *path, const struct target *target, const char *output,
			   const struct cmd_common *common, int *status);

#endif
