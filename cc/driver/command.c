/* cc/driver/command.c - a command line, word by word. */
#include "cc/driver/command.h"

#include "base/err.h"
#include "base/process.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

void command_deinit(struct command *c)
{
	for (size_t i = 0; i < c->owned.len; i++)
		free(c->owned.data[i]);
	vec_deinit(&c->owned);
	vec_deinit(&c->words);
}

void command_push(struct command *c, const char *word)
{
	vec_push(&c->words, word);
}

void command_takef(struct command *c, const char *fmt, ...)
{
	va_list ap;
	char *word;

	va_start(ap, fmt);
	word = xvasprintf(fmt, ap);
	va_end(ap);
	vec_push(&c->owned, word);
	vec_push(&c->words, word);
}

struct err *command_exec(struct command *c)
{
	vec_push(&c->words, NULL);
	execvp(c->words.data[0], (char **)c->words.data);
	return err_errno(errno, "cannot run %s", c->words.data[0]);
}

struct err *command_run(struct command *c, const char *quiet_log, int *status)
{
	struct process_options o = { .out = quiet_log, .err = quiet_log };
	struct process p;
	struct err *err;

	vec_push(&c->words, NULL);
	c->words.len--;
	o.argv = (char *const *)c->words.data;
	err = process_run(&o, &p);
	if (!err)
		*status = p.signal ? 128 + p.signal : p.exit_code;
	return err;
}
