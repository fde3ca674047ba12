/* run/launch.h - start a target, wait for it, judge how it ended.
 *
 * A launch is one process: started in its own process group (so that a timeout or Ctrl-C ends
 * whatever it started), killed by the kernel if we die first. */
#ifndef RUN_LAUNCH_H
#define RUN_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;
struct trace_outcome;

struct launch_options {
	char *const *command;	  /* NULL-terminated */
	const char *mode;	  /* $UNPLAIT_MODE; NULL = off */
	const char *dir;	  /* $UNPLAIT_DIR, absolute; NULL = none */
	const char *options;	  /* $UNPLAIT_OPTIONS; NULL = none */
	char *const *environment; /* more "NAME=value", NULL-terminated; may be NULL */
	double timeout;		  /* seconds; 0 = none */
	const char *stdout_path;  /* where its output goes; NULL = ours, "" = our stderr */
	const char *stderr_path;  /* NULL = ours */
	const char *stdin_path;	  /* NULL = ours */
	bool no_aslr;
	bool preload; /* libplait.so: for programs that were not built with unplait */
};

struct launch {
	pid_t pid;
	int pidfd;
	bool own_group;
	double started, deadline; /* of clock_seconds(); deadline 0 = none */
	/* after its end */
	bool ended, timed_out;
	int exit_code; /* -1 = did not exit */
	int signal;    /* 0 = none */
	double seconds;
};

struct err *launch_start(const struct launch_options *o, struct launch *ret);
/* Wait until one of n launches that have not ended does; *ret is its index. Times out those that
 * are due. An error (and all of them killed) after Ctrl-C. */
struct err *launch_wait(struct launch *launches, size_t n, size_t *ret);
/* Kill the process and its group, and reap it. */
void launch_kill(struct launch *l);
/* start and wait */
struct err *launch_run(const struct launch_options *o, struct launch *ret);

/* Ctrl-C and the like no longer end us at once: whoever waits looks, cleans up and says so. */
void launch_catch_interrupts(void);
/* The signal that came, or 0. */
int launch_interrupted(void);

/* Does the program contain libplait? False also when it cannot be read. */
bool launch_has_libplait(const char *program);
/* Can libplait be loaded into a program that does not contain it? The error says why not. */
struct err *launch_check_preload(const char *program);

struct judge_options {
	bool fail_on_exit;
	const char *oracle; /* shell command; NULL = none */
	const char *expect; /* file; NULL = none */
};

/* What the end of the process means. Paths: where its output was kept (NULL = not kept; needed for
 * oracle and expect). ret is filled in; its message is owned by the caller. */
struct err *launch_judge(const struct launch *l, const struct judge_options *o,
			 const char *stdout_path, const char *stderr_path,
			 struct trace_outcome *ret);

#endif
