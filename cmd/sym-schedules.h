/* cmd/sym-schedules.h - `unplait sym schedules`. */
#ifndef CMD_SYM_SCHEDULES_H
#define CMD_SYM_SCHEDULES_H

#include <stdbool.h>

struct cmd_common;
struct err;
struct sym_config;
struct sym_path;
struct sym_program;

struct sym_schedules_options {
	const struct sym_config *config;
	char **argv;	    /* the native program and its arguments */
	const char *input;  /* file for standard input; NULL */
	const char *output; /* plait of the first confirmed failure; NULL = none */
	bool no_confirm;
};

struct err *sym_schedules_show(const struct sym_schedules_options *o, struct sym_program *p,
			       const struct cmd_common *common, int *status);

/* A failure that explore met under a schedule of its own, in a program built with `unplait cc` (argv0): look
 * through the schedules of this path's input for the same failure, and carry it out natively. The path says
 * whether that confirmed it. */
struct err *sym_schedules_confirm(struct sym_program *p, const char *argv0,
				  const struct sym_config *config, struct sym_path *path);

#endif
