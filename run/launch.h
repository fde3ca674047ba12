/* run/launch.h - start a target in a recording mode.
 *
 * A launch is one process (base/process.h) with the runtime in it and the variables that tell the
 * runtime what to do. It has a group of processes of its own, so that a timeout or Ctrl-C ends
 * whatever it started, too. */
#ifndef RUN_LAUNCH_H
#define RUN_LAUNCH_H

#include <stdbool.h>

struct err;
struct process;

struct launch_options {
	char *const *command;	 /* NULL-terminated */
	const char *mode;	 /* $UNPLAIT_MODE */
	const char *dir;	 /* $UNPLAIT_DIR, absolute */
	const char *options;	 /* $UNPLAIT_OPTIONS; NULL = none */
	char *const *env;	 /* its environment, without those three; NULL = ours */
	double timeout;		 /* seconds; 0 = none */
	const char *stdout_path; /* where its output goes; NULL = ours, "" = our stderr */
	const char *stderr_path; /* NULL = ours */
	const char *stdin_path;	 /* NULL = ours */
	bool takes_signals;	 /* as in base/process.h */
};

struct err *launch_start(const struct launch_options *o, struct process *ret);

#endif
