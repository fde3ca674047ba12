/* sched/strategy.h - who goes on: pure choices.
 *
 * The caller (the control engine in the target, or a test) keeps one sched_task per thread, with
 * the operation the thread will perform next, and asks sched_pick() at every scheduling point. The
 * answer depends on the seed and on what was asked before, on nothing else: no clock, no memory
 * allocation, no global state. */
#ifndef SCHED_STRATEGY_H
#define SCHED_STRATEGY_H

#include "unplait/control.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHED_MAX_DEPTH 16

/* What a thread is about to do. */
struct sched_op {
	uint32_t kind; /* enum plait_event_kind */
	uint32_t site;
	uint64_t object; /* 0: conflicts with nothing */
	uint32_t size;
	bool writes; /* changes the object: conflicts with every other use of it */
	bool focus;  /* SURW: one of the operations whose order matters in this run */
};

struct sched_task {
	uint32_t id;
	uint32_t turn; /* FAIR: when it ran last */
	struct sched_op op;
	uint64_t priority;	   /* 0: not drawn yet */
	struct sched_task *parent; /* SURW: who made it; NULL: nobody */
	uint32_t rank;		   /* FOLLOW: in which turn its next event belongs */
};

struct sched_view {
	struct sched_task **tasks; /* who may run, in order of birth; never empty */
	size_t ntasks;
	struct sched_task **all; /* everybody alive, for strategies that redraw priorities */
	size_t nall;
	struct sched_task *current; /* who ran last; NULL when it has ended */
	bool current_ready;	    /* current is among tasks: choosing another preempts it */
	uint64_t point;		    /* number of this scheduling point, from 1 */
};

struct sched_params {
	uint32_t strategy; /* enum plait_strategy */
	uint32_t depth;
	uint64_t seed, length;
	/* SURW: how many operations of the focus each thread performs, by id, with those of the
	 * threads it makes */
	const uint32_t *weights;
	size_t nweights;
};

struct sched {
	struct sched_params params;
	uint64_t random;
	uint64_t turn;			  /* points since the running thread was chosen */
	uint64_t change[SCHED_MAX_DEPTH]; /* PCT: priority change points */
	uint32_t nchange;
	uint64_t low; /* PCT: the next lowest priority */
	uint32_t
		intended; /* SURW: id + 1 of who performs the next operation of the focus; 0: draw */
	uint32_t clock;
};

void sched_init(struct sched *s, const struct sched_params *params);
void sched_task_new(struct sched *s, struct sched_task *task);
/* One of v->tasks. */
struct sched_task *sched_pick(struct sched *s, const struct sched_view *v);
/* The running thread asked for others to go first (sched_yield, a spin loop). */
void sched_yielded(struct sched *s, struct sched_task *task);
/* A number below n, for decisions that are not about threads (which waiter wakes). */
uint32_t sched_choose(struct sched *s, uint32_t n);
/* True when the two operations touch the same object and one of them changes it. */
bool sched_conflict(const struct sched_op *a, const struct sched_op *b);

/* By name ("random", "pct", ...); PLAIT_STRATEGY_COUNT when there is none. */
uint32_t sched_strategy_find(const char *name);
const char *sched_strategy_name(uint32_t strategy);

/* One struct of callbacks per strategy; private to sched/. */
struct strategy {
	void (*begin)(struct sched *s);
	void (*task_new)(struct sched *s, struct sched_task *task);
	struct sched_task *(*pick)(struct sched *s, const struct sched_view *v);
	void (*yielded)(struct sched *s, struct sched_task *task);
};
extern const struct strategy strategy_random, strategy_pct, strategy_pos, strategy_fair,
	strategy_stay, strategy_follow, strategy_surw;

uint64_t sched_random(struct sched *s);
uint64_t sched_below(struct sched *s, uint64_t n);

#endif
