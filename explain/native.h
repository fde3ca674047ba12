/* explain/native.h - the real runner: a session that keeps the target's fork server alive. */
#ifndef EXPLAIN_NATIVE_H
#define EXPLAIN_NATIVE_H

#include "explain/runner.h"
#include "run/run.h"

struct native {
	struct session *session;	  /* borrowed */
	const struct run_result *failing; /* the failure being explained; borrowed */
	struct turns turns;		  /* of `failing`, for FOLLOW */
	struct run_result last;		  /* of the latest run */
	char *dir;			  /* for recordings; owned */
	double spent, begin;		  /* seconds of work; clock_seconds() at the beginning */
	double end;			  /* clock_seconds(): everything is spent by then */
};

/* Runs count as the same failure when their signature is that of `failing`. end: clock_seconds() at
 * which all budgets are used up, whatever they have left. */
struct err *native_init(struct native *n, struct session *session, const struct run_result *failing,
			double end);
/* Has the time run out? */
bool native_expired(const struct native *n);
void native_deinit(struct native *n);
struct explain_runner native_runner(struct native *n);

/* Record the run of a request; *ret is an open trace of n->dir, valid until the next recording. */
struct trace;
struct err *native_record(struct native *n, const struct run_request *request, struct trace **ret);

#endif
