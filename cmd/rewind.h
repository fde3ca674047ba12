/* cmd/rewind.h - the parts of `unplait rewind`. */
#ifndef CMD_REWIND_H
#define CMD_REWIND_H

#include "cmd/cmd.h"

struct crumbs;
struct hardware;
struct rewind_options;
struct strings;

/* argv[0..argc) are the words behind "check" and "triage". */
struct err *rewind_check_main(const struct cmd *cmd, int argc, char **argv, int *status);
struct err *rewind_triage_main(const struct cmd *cmd, int argc, char **argv, int *status);

/* "hardware: certain: ..." and what speaks against it. */
void show_hardware(const struct hardware *w, struct strbuf *out);
/* Become gdb, with `unplait rewind --gdb` and these options as its target. extra: commands for gdb, which then ends. */
struct err *rewind_start_gdb(const char *core, const struct rewind_options *o,
			     const struct strings *crumbs, const struct strings *extra);

/* Read crumbs. Those that rewind cannot use yet are named by a warning. */
struct err *rewind_read_crumbs(struct crumbs *c, const struct strings *files);

void json_hardware(struct json *j, const struct hardware *w);

#endif
