/* cc/driver/command.h - build a command line and run it. */
#ifndef CC_DRIVER_COMMAND_H
#define CC_DRIVER_COMMAND_H

#include "base/vec.h"

struct err;

/* Words are borrowed, except those pushed with command_takef. */
struct command {
	VEC(const char *) words;
	VEC(char *) owned;
};

void command_deinit(struct command *c);
void command_push(struct command *c, const char *word);
void command_takef(struct command *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Run and wait. *status is the exit status, 128+N after signal N. When `quiet_log` is not NULL,
 * stdout and stderr of the child go to that file. */
struct err *command_run(struct command *c, const char *quiet_log, int *status);
/* Become the command; returns only on failure. */
struct err *command_exec(struct command *c);

#endif
