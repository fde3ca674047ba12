/* run/session.h - private to run/: what a session is made of.
 *
 * A session owns a control area and asks a driver to get the runs done. There are two real drivers
 * (run/server.c): one forks every run from a server that stands before main, the other starts the
 * program anew for each run. Unit tests bring a third that starts nothing. */
#ifndef RUN_SESSION_H
#define RUN_SESSION_H

#include "run/area.h"
#include "run/run.h"
#include "run/runtime.h"

#include "base/process.h"

struct session_driver {
	/* Begin the run that the control area describes. */
	struct err *(*start)(struct session *s);
	/* Wait for its end. *status: as waitpid() gives it. *timed_out: we ended it. */
	struct err *(*finish)(struct session *s, int *status, bool *timed_out);
	/* Leave nothing running. */
	void (*close)(struct session *s);
};

struct session {
	const struct target *target; /* borrowed */
	const struct session_driver *driver;
	void *context; /* of a driver that a test brings */
	struct area area;
	struct runtime runtime;
	char *dir, *out, *errors; /* a folder of ours; what the last run printed */
	/* The same two files, open for reading. They stay open: ext4 writes a file to the disk when
	 * it is closed after it was emptied, which every run does. -1 = not yet looked at. */
	int out_fd, errors_fd;
	char *input; /* file for standard input */
	char *note;
	bool early;		       /* its constructors start threads */
	struct process target_process; /* the server, or the run itself */
	int socket;		       /* to the server; -1 = none */
	bool running;		       /* a run was begun and has not ended */
	bool moving;		       /* it made steps until its time was over */
	double deadline;	       /* when a run is cut off, as clock_seconds(); 0 = never */
	bool cut;		       /* the last run was */
	struct run_request request;    /* of that run */
	uint64_t run_number;
	uint64_t longest;	       /* points of the longest run that ended */
	struct modules *modules;       /* for names in reports; NULL = none was needed yet */
	off_t out_shown, errors_shown; /* target->live: bytes that were copied so far */
};

/* Runs forked from a server. session_open uses it unless the target says otherwise. */
extern const struct session_driver server_driver;
/* Runs that are started one by one. */
extern const struct session_driver exec_driver;

/* Start the server now, so that a program that cannot be controlled is known at once. Changes the
 * driver when the program's constructors start threads, since it cannot be forked then. */
struct err *server_open(struct session *s);

/* A session with a driver of the caller's, and no program. */
struct err *session_open_with(const struct target *target, const struct session_driver *driver,
			      void *context, struct session **ret);

/* Write the request into the control area, without starting anything. */
struct err *session_write_request(struct session *s, const struct run_request *req);
/* target->live: copy what the run has printed since the last look. */
void session_show_output(struct session *s);
/* Is the deadline over? Then the driver ends its run and returns session_cut_off(). */
bool session_is_late(const struct session *s);
struct err *session_cut_off(struct session *s);
/* Seconds of real time that a run may take. */
double session_timeout(const struct session *s);

#endif
