/* deadlock/launch.h - run a program with the watch library and look after it. */
#ifndef DEADLOCK_LAUNCH_H
#define DEADLOCK_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct snapshot;
struct deadlock;

enum watch_why {
	WATCH_WHY_DEADLOCK, /* a cycle of locks */
	WATCH_WHY_STUCK,    /* nobody moves */
	WATCH_WHY_REQUEST,  /* SIGUSR1, or the user interrupted */
	WATCH_WHY_DEATH,    /* the process was killed by a signal */
};

enum watch_action { WATCH_KILL, WATCH_ABORT, WATCH_LEAVE };

struct watch_opts {
	char **argv;	     /* the program, NULL-terminated */
	const char *library; /* path of libplait-watch.so */
	uint64_t history;
	double stuck_after; /* seconds without any movement; 0 = never report stuck */
	double timeout;	    /* end the program after so many seconds; 0 = never */
	enum watch_action action;
	/* Called for everything there is to report. */
	struct err *(*report)(void *context, enum watch_why why, const struct snapshot *s,
			      const struct deadlock *d);
	void *context;
};

struct watch_result {
	int wait_status; /* of the program; meaningless when it was left running */
	bool ended;
	unsigned areas;	   /* processes that had one */
	unsigned findings; /* deadlocks and stuck processes */
};

struct err *watch_run(const struct watch_opts *o, struct watch_result *ret);

/* Two samples of a running process, `wait` seconds apart, and what follows from them. When nobody
 * moves it samples again until stuck_after seconds have passed. The caller frees both results. */
struct err *watch_sample(int pid, double wait, double stuck_after, struct snapshot *s,
			 struct deadlock *d);

#endif
