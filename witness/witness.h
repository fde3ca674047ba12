/* witness/witness.h - SV-COMP's violation witnesses (YAML, format 2.2): written, read, followed.
 *
 * A witness names, segment by segment, the statements that a failing execution comes to, each with
 * the thread that executes it (`thread_id`, new in 2.2), and last the place of the failure. Thread 0
 * is main; the k-th waypoint `function_enter` at a call that makes a thread gives that thread the
 * number k.
 *
 * What it cannot say: a switch of threads inside a statement (between the read and the write of
 * `n++`), which waiter a signal wakes, when a time-out expires. So a witness is guidance, and
 * following one is a small search; the failure it leads to is shown by a native run, as ever. */
#ifndef WITNESS_WITNESS_H
#define WITNESS_WITNESS_H

#include "base/vec.h"
#include "run/run.h"

#include <stdint.h>

struct err;
struct strbuf;
struct trace;

enum waypoint_type {
	WAYPOINT_PASS,	 /* the thread executes this statement */
	WAYPOINT_CREATE, /* ... and makes the next thread (function_enter) */
	WAYPOINT_TARGET, /* here it fails */
};

struct waypoint {
	enum waypoint_type type;
	uint32_t thread;       /* as the witness counts; PLAIT_ANY: it does not say */
	char *file, *function; /* "" = not said */
	uint32_t line, column; /* column 0 = not said */
};

struct witness {
	char *specification; /* "CHECK( init(main()), LTL(G ! call(reach_error())) )" */
	VEC(struct waypoint) waypoints;
};

void witness_deinit(struct witness *w);

/* The failing run of a plait as a witness, as text. An error where the format cannot say what
 * failed: deadlocks, exit statuses, C++. */
struct err *witness_write(struct trace *t, struct strbuf *ret);

/* A witness from a file. The first entry of type violation_sequence counts. */
struct err *witness_read(const char *path, struct witness *ret);
struct err *witness_parse(const void *text, size_t len, struct witness *ret);
/* Does the file look like one? */
bool witness_is(const char *path);

struct followed {
	struct run_result run; /* the one that failed, or the last one */
	size_t passed;	       /* waypoints that it came to, in order */
	unsigned runs;
	bool failed;
};
void followed_deinit(struct followed *f);

/* Search for a failing run along the witness, of at most so many runs. */
struct err *witness_follow(struct session *s, const struct witness *w, unsigned runs,
			   struct followed *ret);

#endif
