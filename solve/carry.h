/* solve/carry.h - carry out a proposed schedule in a native run.
 *
 * The proposer (the order engine, the symbolic machine) says who does what next, operation by
 * operation. The control engine counts the steps of native runs, and some steps the proposer does
 * not know (a lock inside stdio). So: run, record, see which native step each operation was,
 * correct the counts, run again, until the run does what was asked or comes no closer. */
#ifndef SOLVE_CARRY_H
#define SOLVE_CARRY_H

#include "run/run.h"

struct err;

/* This thread does its next operation. */
struct carry_op {
	uint32_t thread; /* by birth, as in native runs */
	uint32_t site;	 /* PLAIT_ANY: at any place */
	uint32_t kind;	 /* enum plait_event_kind; PLAIT_EV_NONE: any step at that place */
	bool expires;	 /* its time-out must expire first */
	bool gives_up;	 /* nothing but that: the operation itself comes later */
	uint32_t choice, nchoices; /* a signal: which waiter wakes, by thread; of how many */
	/* steps of its thread up to and with it, as far as the proposer knows; 0: not known */
	uint64_t count;
};

struct carry_schedule {
	struct carry_op *ops;
	size_t n;
	bool skips_alone; /* what a thread does while no other lives is not among the operations */
	bool stops_at_release; /* the moment before a lock is given back is a place to switch */
};

/* What happens behind the schedule: who goes on, and how. */
struct carry_end {
	uint32_t last;	   /* thread that goes on; PLAIT_ANY: the one that ran last */
	uint32_t strategy; /* enum plait_strategy, for the rest of the run; FOLLOW: no preemption */
	uint64_t seed;
};

struct carried {
	struct run_result run; /* the last one; its schedule replays it */
	bool followed;	       /* every operation happened, in the order asked for */
	size_t matched;	       /* of them seen, in order, before the first that was not */
	uint64_t *clock;       /* per operation: its clock in the run, 0 = did not happen */
	unsigned runs;
};
void carried_deinit(struct carried *c);

struct err *carry_out(struct session *session, const struct carry_schedule *schedule,
		      const struct carry_end *end, struct carried *ret);

#endif
