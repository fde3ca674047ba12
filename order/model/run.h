/* order/model/run.h - an interleaving as it unfolds: execute events one by one, take them back.
 *
 * Private to order/. The state of a partial run of a problem: positions, memory, locks, pending
 * signals, values. run_event executes the next event of a thread when it can happen now and breaks
 * no condition; run_undo returns to an earlier length. "Step" is the caller's number for a group of
 * events; the run remembers which step last touched each cell, lock and condition variable, so that
 * a dead end can be blamed on somebody. */
#ifndef ORDER_MODEL_RUN_H
#define ORDER_MODEL_RUN_H

#include "order/model/eval.h"
#include "order/model/problem.h"

enum run_result {
	RUN_OK,
	RUN_EARLIER,	 /* something must come first */
	RUN_LOCKED,	 /* run.blamed: the lock */
	RUN_UNSIGNALLED, /* run.blamed: the condition variable */
	RUN_CONDITION,	 /* run.blamed: the condition that would break */
};

struct run_undo {
	uint8_t what;
	uint32_t index, index2;
	uint64_t old;
};

struct run_mark {
	size_t log, order, eval;
	uint64_t hash;
};

struct signals {
	int64_t *data; /* when each unused signal happened, -1 once used */
	size_t len, cap;
};

struct run {
	const struct problem *p;
	struct eval ev;
	uint32_t *pos;	      /* per thread: events done */
	uint64_t *mem;	      /* per cell */
	uint32_t *owner;      /* per lock: thread in an exclusive section, NONE */
	uint32_t *readers;    /* per lock: shared sections open */
	int64_t *waits_since; /* per thread */
	int64_t *broadcast;   /* per condition variable: when last, -1 */
	struct signals *signals;
	uint32_t *touched; /* step that last wrote: cells, then condition variables, then locks */
	uint32_t *step_of; /* per event */
	VEC(struct run_undo) log;
	VEC(uint32_t) order;
	uint8_t *hashed; /* per cell: part of the state hash */
	struct lists
		classes; /* per cell: conditions that tell its values apart; none: all differ */
	uint64_t hash;
	uint32_t step, blamed;
	uint8_t force; /* 1: let conditions break; 2: locks and signals too */
};

void run_init(struct run *r, const struct problem *p);
void run_deinit(struct run *r);
void run_reset(struct run *r);

/* Execute event e, the next one of its thread. */
enum run_result run_event(struct run *r, uint32_t e);

static inline struct run_mark run_mark(const struct run *r)
{
	return (struct run_mark){ r->log.len, r->order.len, eval_mark(&r->ev), r->hash };
}
void run_undo(struct run *r, struct run_mark mark);

static inline uint32_t run_next(const struct run *r, uint32_t t)
{
	uint32_t e = r->p->first[t] + r->pos[t];

	return e < r->p->first[t + 1] ? e : NONE;
}

/* Has the wake e of a waiting thread its signal? */
bool run_signalled(struct run *r, uint32_t e);

/* Keys of run.touched. */
static inline uint32_t touch_cond(const struct run *r, uint32_t cond)
{
	return r->p->ncells + cond;
}
static inline uint32_t touch_lock(const struct run *r, uint32_t lock)
{
	return r->p->ncells + r->p->nlocks + lock;
}

#endif
