#include "cc/driver/process.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
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

static _Noreturn void child(struct command *c, const char *quiet_log)
{
	if (quiet_log) {
		int fd = open(quiet_log, O_WRONLY | O_CREAT | O_TRUNC, 0666);

		if (fd >= 0) {
			dup2(fd, 1);
			dup2(fd, 2);
			close(fd);
		}
	}
	execvp(c->words.data[0], (char **)c->words.data);
	dprintf(2, "unplait: cannot run %s: %s\n", c->words.data[0], strerror(errno));
	_exit(127);
}

struct err *command_run(struct command *c, const char *quiet_log, int *status)
{
	int st;
	pid_t pid;

	vec_push(&c->words, NULL);
	c->words.len--;
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return err_errno(errno, "cannot start %s", c->words.data[0]);
	if (pid == 0)
		child(c, quiet_log);
	while (waitpid(pid, &st, 0) < 0)
		if (errno != EINTR)
			return err_errno(errno, "cannot wait for %s", c->words.data[0]);
	*status = WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
	return NULL;
}
