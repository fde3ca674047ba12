/* base/process.h - start a process, wait for it, end it. The one way to do so in the whole tool.
 *
 *	struct process_options o = { .argv = words, .out = log, .err = log, .timeout = 10 };
 *	struct process p;
 *
 *	err = process_run(&o, &p);              // starts it and waits for its end
 *	if (!err && p.exit_code != 0)
 *		...
 *
 * process_start() returns when the program runs: a program that cannot be executed is an error
 * there, with the kernel's reason, never an exit status of 127 later.
 *
 * The process dies with us unless `survives` is set. Waiting ends early when Ctrl-C or SIGTERM has
 * come (base/interrupt.h). */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;

/* A descriptor of ours that the process gets under another number. */
struct process_fd {
	int ours, theirs;
};

enum { PROCESS_FDS = 4 };

struct process_options {
	char *const *argv;   /* NULL-terminated */
	const char *program; /* the file to execute; NULL = argv[0], looked up in $PATH */
	char *const *env;    /* the whole environment, NULL-terminated; NULL = ours */
	const char *folder;  /* to start in; NULL = ours */
	const char *in;	     /* file for standard input; NULL = ours */
	const char *out;     /* file for standard output, emptied first; NULL = ours */
	const char *err;     /* file for standard error; may be the same as `out` */
	bool out_to_err;     /* standard output goes where our standard error goes */
	struct process_fd fds[PROCESS_FDS]; /* more descriptors; both 0 = unused */
	double timeout;			    /* seconds until it is killed; 0 = none */
	const sigset_t *mask;		    /* signals blocked in it; NULL = as in us */
	bool own_group;			    /* of processes: ended together with all it started */
	bool survives;			    /* it may live longer than we do */
	bool fixed_addresses;		    /* no address space randomisation */
	bool no_core;			    /* no core dump */
	bool traced;			    /* by us: it stops when it has been loaded */
	bool takes_signals;		    /* what we catch is for it, not for us */
	bool cleans_up;			    /* after SIGTERM: it is sent that before it is killed */
};

struct process {
	pid_t pid;
	int pidfd;
	bool own_group, takes_signals, cleans_up;
	double started, deadline; /* of clock_seconds(); deadline 0 = none */
	/* after its end */
	bool ended, timed_out;
	int status;    /* as waitpid() gives it */
	int exit_code; /* -1 = did not exit */
	int signal;    /* 0 = none */
	double seconds;
};

struct err *process_start(const struct process_options *o, struct process *ret);
/* A copy of this process that runs work(arg) and exits with its result. */
struct err *process_fork(int (*work)(void *arg), void *arg, struct process *ret);

/* Wait until one of n processes that have not ended does; *ret is its index. A process whose time
 * is over is killed and counts as ended (`timed_out`). After Ctrl-C: all of them are killed, and
 * the result is an error; a single one that takes signals gets this one instead. At least one must
 * not have ended. */
struct err *process_wait(struct process *all, size_t n, size_t *ret);
/* Wait at most so long for this one; true when it has ended. Kills nothing. Returns early when we
 * are interrupted. */
bool process_wait_for(struct process *p, double seconds);
/* Wait for its end, however long, Ctrl-C or not: for a program that has the terminal. */
void process_wait_end(struct process *p);
/* Kill it and its group, and reap it. One that cleans up is first given a moment to do so. Does nothing when it has ended. */
void process_kill(struct process *p);

/* start and wait */
struct err *process_run(const struct process_options *o, struct process *ret);

#endif
