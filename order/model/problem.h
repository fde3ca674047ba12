/* order/model/problem.h - an order model lowered to the few notions the solvers know.
 *
 * Private to order/. Events are renumbered thread by thread (`first[t] + index`), so comparing two
 * numbers of one thread compares program order. Every kind of event becomes a combination of
 *   - a memory part: reads a symbol from a cell, writes a term to it, or both in one atomic step;
 *   - a lock part: opens or closes a critical section (exclusive or shared);
 *   - a condition-variable part: signal, broadcast, or a wake that needs one of them;
 * plus order edges that always hold (fork, join). Semaphores, barriers and failed lock attempts are
 * memory: a semaphore is a counter that may not be taken below zero, a barrier a counter of
 * arrivals, "the lock was taken" a cell that lock and unlock write. */
#ifndef ORDER_MODEL_PROBLEM_H
#define ORDER_MODEL_PROBLEM_H

#include "order/order.h"

#define NONE ORDER_NONE

enum cond_part { COND_NOTHING, COND_WAIT, COND_WAKE, COND_SIGNAL, COND_BROADCAST };

struct ev {
	uint32_t thread, index;
	uint32_t model;		/* event of the model */
	uint32_t cell;		/* memory part, NONE */
	uint32_t symbol;	/* what is read, NONE */
	term_id value;		/* what is written, TERM_NONE */
	uint32_t opens, closes; /* critical section, NONE */
	uint32_t cond;		/* condition variable */
	uint8_t cond_part;
};

struct section {
	uint32_t open, close; /* events; close NONE: held to the end */
	uint32_t thread, lock;
	bool shared;
};

struct condition {
	term_id term;
	uint32_t symbol; /* the only symbol in it, NONE when several */
	bool outcome;	 /* the failure condition or its opposite */
	bool cross;	 /* reads of several threads */
};

struct edge {
	uint32_t from, to;
};

struct term_info {
	uint32_t last;	 /* last read (event) below it, NONE */
	uint32_t symbol; /* the only symbol below it; NONE: none; MANY: several */
	bool cross;	 /* reads of several threads below it */
};
#define MANY (UINT32_MAX - 1)

/* Lists by key in one array: items of k are item[first[k]] .. item[first[k + 1] - 1]. */
struct lists {
	uint32_t *first, *item;
};

struct problem {
	const struct order_model *m;
	struct terms terms;
	uint32_t nt, ne, ncells, nlocks, nconds, nsymbols;
	struct ev *ev;
	uint32_t *first;    /* per thread, nt + 1 entries */
	uint32_t *of_model; /* event of the model -> ours */
	uint64_t *initial;  /* per cell */
	uint8_t *cell_width;
	uint32_t *reader; /* per symbol: event, NONE for an input */
	uint64_t *input;  /* per symbol: value of a free input */
	VEC(struct section) sections;
	VEC(struct condition) conditions;
	VEC(struct edge) edges;		   /* always hold, program order left out */
	struct term_info *info;		   /* per term */
	struct lists writes;		   /* per cell, ascending */
	struct lists held;		   /* per event: sections it is in, outermost first */
	struct lists checks;		   /* per event: conditions that may become known there */
	struct lists unary;		   /* per event: conditions on what it alone reads */
	uint32_t *next_write, *prev_write; /* per event: same thread, same cell */
	int32_t *clock;			   /* ne * nt: how many events of t come no later than e */
	bool impossible;		   /* a constant condition is false */
	const char *impossible_why;
};

/* Lower a model. The model must have passed order_model_check and outlive the problem. inputs:
 * values of free inputs by symbol, NULL for the hints. */
struct err *problem_init(struct problem *p, const struct order_model *m, enum order_want want,
			 const uint64_t *inputs);
void problem_deinit(struct problem *p);

/* Put the values of pinned reads (by event) into the terms that also have other reads; each such
 * read gets a condition of its own that it returns its value. False: there was nothing to do. */
bool problem_fold(struct problem *p, const uint8_t *pinned, const uint64_t *pin);

/* Recompute the clocks from program order and p->edges; false when they form a cycle. */
bool problem_clocks(struct problem *p);

/* Where between 0 and 1 an event will probably lie, judged by how many events must come before it
 * and how many after. By event; the caller frees it. */
float *problem_estimate(const struct problem *p);

/* Does a certainly come before b? */
static inline bool must_precede(const struct problem *p, uint32_t a, uint32_t b)
{
	return a != b && p->clock[(size_t)b * p->nt + p->ev[a].thread] > (int32_t)p->ev[a].index;
}

/* Does every unary condition on read r accept this value? */
bool unary_accepts(const struct problem *p, uint32_t r, uint64_t value);
/* The value of a term with one symbol. */
uint64_t unary_eval(const struct problem *p, term_id id, uint64_t symbol_value);

/* Two sections of different threads that exclude each other and contain a and b. */
bool common_lock(const struct problem *p, uint32_t a, uint32_t b, uint32_t *sa, uint32_t *sb);

/* Index into writes.item of the first write to cell at or after event e. */
uint32_t write_at_or_after(const struct problem *p, uint32_t cell, uint32_t e);

static inline bool last_of_thread(const struct problem *p, uint32_t e)
{
	return e + 1 == p->first[p->ev[e].thread + 1];
}

#endif
