/* explain/dynamic/job.h - what the parts of the explanation by native runs share: one job, from a
 * plait to an answer. Only explain/dynamic.c and the files of this folder include it. */
#ifndef EXPLAIN_DYNAMIC_JOB_H
#define EXPLAIN_DYNAMIC_JOB_H

#include "explain/cure/advise.h"
#include "explain/explain.h"
#include "explain/find/gone.h"
#include "explain/native.h"
#include "explain/show/stacks.h"

struct found;

struct job {
	const struct explain_options *options;
	struct explanation *x;
	struct target target;
	struct session *session;
	double seconds, end; /* real time for all of it; clock_seconds() when it is over */
	struct run_result failing;
	struct native native;
	struct explain_runner runner;
	struct steps steps;
	struct trace *trace;	     /* recording of the failing run */
	char *copy_dir, *trace_copy; /* its folder's name is reused: the trace is sealed here */
	struct stacks stacks;	     /* call stacks of steps that are told */
	struct gone gone;	     /* what was used after its end; kind BUG_UNKNOWN: nothing */
	struct alternates alternates;
	struct alternate alternate; /* the one that is reported: borrowed from those */
};

/* ---- failing.c: the run that is explained ---- */

/* Find the failing run: replay it or adopt what was found, with fewer switches if that fails too. */
struct err *job_find_failing(struct job *j);
/* Record it with all events, and say how it ended. */
struct err *job_record_failing(struct job *j);
/* The thread that failed; STEP_NONE when no single one did (a deadlock, a hang). */
uint32_t job_failed_thread(const struct job *j);
/* Every access is a point, as it will be in the runs that vary this one. */
struct run_request job_replay_of(const struct schedule *s);
/* A step that never happened, at the end of the failing run. Returns its number. */
uint32_t job_add_pending(struct job *j, struct step e);

/* ---- passing.c: the nearest run that passes ---- */

struct err *job_find_passing(struct job *j);

/* ---- frames.c: call stacks of steps ---- */

/* Replay the failing run and note the stacks of the steps that the first few candidates, what was found,
 * this cure and this projection tell of; each may be NULL. */
struct err *job_find_stacks(struct job *j, const struct candidates *all, size_t most,
			    const struct found *found, const struct cure *earlier,
			    const struct projection *p);

/* ---- conclude.c: what differs, and what would cure it ---- */

struct err *job_conclude(struct job *j);

#endif
