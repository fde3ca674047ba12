/* explain/rank/candidate.h - the causes that are considered: one list, each with its evidence, ranked
 * once by one rule, told once.
 *
 * Candidates come from different places: what the failing run shows by itself (something was used
 * after its end, threads wait for each other's locks, nobody ends a wait), and what could be enforced
 * (a block, an order). Nobody who finds one decides about the others: that is done here. */
#ifndef EXPLAIN_RANK_CANDIDATE_H
#define EXPLAIN_RANK_CANDIDATE_H

#include "explain/cure/observe.h"

/* Separations from which on a cure tells failing schedules from passing ones ... */
#define SEPARATION_WEAK	      0.2 /* ... at all */
#define SEPARATION_WEAK_ORDER 0.6 /* ... for an order: nearly all who break a needed one fail */
#define SEPARATION_TELLING    0.5 /* ... hardly by chance */
#define SEPARATION_SURE	      0.9 /* ... nearly always */

enum candidate_source {
	CANDIDATE_CURE,	 /* a block or an order that can be enforced */
	CANDIDATE_GUARD, /* at the failure, one side lacks a lock that every other access holds */
	CANDIDATE_LIFETIME, /* used after its end */
	CANDIDATE_CYCLE,    /* threads wait for each other's locks */
	CANDIDATE_STUCK,    /* nobody ends a wait */
};

/* What the failing run shows without any other run. */
enum showing {
	SHOWS_NOTHING,
	SHOWS_SIGNS, /* it looks like it, but a correct program can look like that, too */
	SHOWS_ALL,   /* from its first step to the failure */
};

struct evidence {
	enum showing shows;
	struct cure_seen seen;		 /* without it; failing 0: not looked at */
	struct cure_trial before, after; /* the same schedules without and with it; after.runs 0:
					  * not tried */
	uint32_t counted; /* ways of failing (cure/faces.h) that count as this failure */
	bool wide;   /* it mends nearly every schedule that fails, in whatever way; no other does */
	bool weeded; /* a short trial was enough to see that it does not help */
	bool removes;	   /* part of the program no longer runs with it */
	bool lacks_lock;   /* one side lacks a lock that every other access holds */
	bool contradicted; /* a run that passes does the same */
	bool of_locks;	   /* an order of two acquisitions or signals, and threads wait for ever:
			    * somebody was first, and why that is bad it does not say */
};

/* What came of the trial. */
enum trial_result {
	TRIAL_PERFECT, /* nothing fails with it */
	TRIAL_GOOD,    /* what still fails cannot be blamed on it */
	TRIAL_HELPS,   /* much rarer: something else leads to the same failure */
	TRIAL_NONE,    /* not tried */
	TRIAL_FAILS,   /* as often as before, or elsewhere, or part of the program is gone */
};

/* How a candidate stands, the best first. */
enum standing {
	STANDING_SHOWN, /* the failing run shows it */
	STANDING_CURED, /* it goes with the failure, and without it nothing fails */
	STANDING_SIGNS, /* the failing run shows signs of it; no trial speaks against it */
	STANDING_HELPS, /* with it, fewer schedules fail */
	STANDING_NEAR,	/* not tried: what differs nearest to the failure */
	STANDING_WEAK,	/* it cures, but hardly goes with the failure, or says nothing about it */
	STANDING_REJECTED, /* it was tried, and does not cure; or a passing run does the same */
};

struct candidate {
	enum candidate_source source;
	enum bug_kind kind;
	struct evidence evidence;
	struct cure cure; /* nconstraints 0: none goes with it */
	size_t alternate; /* CURE: the passing run that it comes from */
	uint32_t
		plan; /* CURE: its number in the order of trials (plan.c); decides between equals */
};
struct candidates VEC_FIELDS(struct candidate);

enum trial_result evidence_result(const struct evidence *e);
/* An order has to tell failing from passing schedules better than a block. */
enum standing candidate_standing(const struct candidate *c);

/* < 0: a is the better explanation: by standing, then by whether it mends other faces, too, then by
 * what came of the trial, then by the order of trials. A total order: the answer does not depend on
 * who found what first. */
int candidate_compare(const struct candidate *a, const struct candidate *b);
/* The best first. */
void candidates_rank(struct candidates *all);

/* May the first one be told as the cause? Not when nothing but nearness speaks for it, when it was
 * rejected, or when it hardly goes with the failure. */
bool candidate_is_cause(const struct candidate *c);

/* A trial without a cure, and with it: does it only move the crash? seen NULL: nothing is known. */
bool trial_moves_crash(const struct cure_trial *with, const struct cure_trial *without,
		       const struct cure_seen *seen);

#endif
