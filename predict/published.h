/* predict/published.h - private to predict/: the published search, to the letter (000 section 5.2.2).
 *
 * Runs that passed are paths of their threads, strings of '0' and '1'. If no order of one run's own
 * paths fails, branches near the assertion are flipped: one, then two at a time ... up to D, the
 * nearest first. Behind a flip a thread goes on like a run that was seen, or as it might go on
 * (synthesised): up to N ways each, the shortest first. For each such execution the solver is asked
 * whether some order of it fails.
 *
 * The search knows neither programs nor solvers: a source answers its three questions. For programs
 * that is published-run.c. */
#ifndef PREDICT_PUBLISHED_H
#define PREDICT_PUBLISHED_H

#include "predict/predict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct order_model;

enum { PUBLISHED_FLIPS = 8, PUBLISHED_TRACES = 4, PUBLISHED_MOST_FLIPS = PREDICT_MOST_FLIPS };

struct published_branch {
	uint32_t thread, bit; /* of its path, from 0 */
	uint32_t condition;   /* the source's */
};
struct published_branches VEC_FIELDS(struct published_branch);

struct published_path {
	uint32_t thread;
	const char *bits;
};
struct published_texts VEC_FIELDS(char *);

struct published_source {
	void *arg;
	/* The branches of a passing order, nearest to the assertion first, at most so many. */
	struct err *(*branches)(void *arg, size_t most, struct published_branches *ret);
	/* The path that a thread took. */
	const char *(*path)(void *arg, uint32_t thread);
	/* Up to n whole paths of a thread that begin like this, shortest first. The caller frees. */
	struct err *(*find)(void *arg, uint32_t thread, const char *prefix, size_t n,
			    struct published_texts *ret);
	/* Has the execution with these paths instead of its own an order that fails? flips: the set
	 * that led to it, as in struct published_set. */
	struct err *(*fails)(void *arg, uint32_t flips, const struct published_path *paths,
			     size_t n, bool *ret);
	/* Is it enough? May be NULL. */
	bool (*over)(void *arg);
};

struct published_set {
	uint32_t flips; /* bit i: branches.data[i] */
	uint32_t tries; /* executions asked about */
	bool fails;
};

struct published {
	struct published_branches branches;
	VEC(struct published_set) sets; /* in the order they were tried; the last may fail */
	uint64_t tries;
	bool fails;
};
void published_deinit(struct published *r);

/* published-model.c: what the published formulas are of a model.
 *
 * Does the other side of this decision fail at once? Then it is an assertion. */
bool published_is_assertion(const struct order_model *m, uint32_t condition);
/* Phi_fail: all threads run to their ends, but the assertion is false. The caller frees it. */
struct order_model *published_failing(const struct order_model *m, uint32_t assertion);
/* Of an order that passes: branches before the last assertion, the nearest first, then those behind
 * it. Without an assertion the end counts. Places that have no bit cannot be flipped. */
void published_nearest(const struct order_model *m, const uint32_t *order, size_t len, size_t most,
		       struct published_branches *ret);

/* All sets of 1 to d branches: few first, then by total distance, then by position. The number of
 * sets; *ret is the caller's to free. */
size_t published_sets(size_t d, uint32_t **ret);

/* Until an execution fails. d: at most PUBLISHED_MOST_FLIPS. */
struct err *published_search(const struct published_source *source, size_t d, size_t n,
			     struct published *ret);

#endif
