/* cmd/sym-schedules.h - `unplait sym schedules`. */
#ifndef CMD_SYM_SCHEDULES_H
#define CMD_SYM_SCHEDULES_H

#include <stdbool.h>

struct cmd_common;
struct err;
struct sym_config;
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

#endif
