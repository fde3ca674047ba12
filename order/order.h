/* order/order.h - which interleavings of given per-thread traces exist?
 *
 * Build a model: objects, threads, events in program order, path conditions over what reads return,
 * and a failure condition. Then ask for a sequentially consistent total order of all events in
 * which every path condition holds and the failure happens (or does not); why a given order fails;
 * which nearby orders do not. doc/design/order.md tells the story.
 *
 *	struct order_model *m = order_model_new();
 *	uint32_t x = order_object(m, ORDER_OBJECT_CELL, "x", 32, 0);
 *	uint32_t t = order_thread(m, "0");
 *	uint32_t r = order_event(m, t, ORDER_READ, x);
 *	order_condition(m, term_binary(&m->terms, TERM_NE, order_value(m, r), ...));
 *
 * The model owns everything put into it. Answers own their arrays. */
#ifndef ORDER_ORDER_H
#define ORDER_ORDER_H

#include "order/model/term.h"

struct err;
struct strbuf;

#define ORDER_NONE UINT32_MAX

enum order_object_kind {
	ORDER_OBJECT_NONE,
	ORDER_OBJECT_CELL,  /* initial: first value; width in bits */
	ORDER_OBJECT_MUTEX, /* may be locked recursively by its owner */
	ORDER_OBJECT_RWLOCK,
	ORDER_OBJECT_SEM,     /* initial: first count */
	ORDER_OBJECT_BARRIER, /* initial: how many threads meet */
	ORDER_OBJECT_COND,
	ORDER_OBJECT_THREAD,
};

enum order_kind {
#define ORDER_KIND(id, name, object) ORDER_##id,
#include "order/model/kinds.def"
#undef ORDER_KIND
	ORDER_NKINDS
};

struct order_object {
	uint8_t kind, width;
	uint64_t initial;
	char *name;
};

struct order_event {
	uint8_t kind;
	bool synthetic; /* not in the recording: an unlock the failure prevented */
	bool aside;	/* no step of the program's: says something about the order (stuck.c) */
	uint32_t thread;
	uint32_t index;	 /* in its thread */
	uint32_t object; /* or thread, for fork and join */
	uint32_t mutex;	 /* wait and wake */
	uint32_t symbol; /* read, rmw: the symbol that stands for what was read */
	term_id value;	 /* write, rmw: what is written */
	uint64_t site;	 /* the caller's: where in the program */
};

struct order_thread {
	char *name;
	uint32_t *data; /* its events, in program order */
	size_t len, cap;
};

struct order_symbol {
	uint8_t width;
	uint32_t event; /* the read; ORDER_NONE for a free input */
	uint64_t hint;	/* free input: the value tried first */
};

/* Where a condition was decided: by this thread, behind its first `index` events. */
struct order_place {
	uint32_t thread; /* ORDER_NONE: the condition belongs to no place, it always holds */
	uint32_t index;
	uint32_t nth;	 /* among the decisions of its thread, in program order */
	bool pin;	 /* a value that became an address, not a branch */
	uint32_t was;	 /* a branch: the side that was taken; of a switch the successor */
	uint32_t bit;	 /* the caller's: which bit of its thread's path, from 1; 0: none */
	uint64_t writes; /* the caller's: what the other side alone would write */
	uint64_t node;	 /* the caller's: its thread and all that this thread has decided before */
	uint8_t doom;	 /* a branch: how near the other side is to a failure; 255: not near */
	uint64_t site;	 /* the caller's, as in order_event */
};

struct order_model {
	struct terms terms;
	VEC(struct order_object) objects;
	VEC(struct order_thread) threads;
	VEC(struct order_event) events;
	VEC(struct order_symbol) symbols;
	VEC(term_id) conditions;	/* all must hold */
	VEC(struct order_place) places; /* per condition */
	term_id failure;		/* TERM_NONE: every complete run of these traces fails */
	uint32_t failure_event;		/* where it shows; ORDER_NONE when unknown */
	size_t stuck; /* the last so many conditions say that nobody can go on (stuck.c) */
};

struct order_model *order_model_new(void);
void order_model_free(struct order_model *m);
/* For _cleanup_. */
void order_model_freep(struct order_model **m);

uint32_t order_object(struct order_model *m, enum order_object_kind kind, const char *name,
		      unsigned width, uint64_t initial);
uint32_t order_thread(struct order_model *m, const char *name);
/* Append an event to a thread. A read gets its symbol here; a write starts out writing 0. */
uint32_t order_event(struct order_model *m, uint32_t thread, enum order_kind kind, uint32_t object);
uint32_t order_write(struct order_model *m, uint32_t thread, uint32_t cell, term_id value);
/* Wait, wake or wake-timeout on a condition variable with its mutex. */
uint32_t order_wait(struct order_model *m, uint32_t thread, enum order_kind kind, uint32_t cond,
		    uint32_t mutex);
/* The term for what a read (or rmw) event returned. */
term_id order_value(struct order_model *m, uint32_t event);
/* A value nobody recorded, the same in every interleaving. */
term_id order_input(struct order_model *m, unsigned width, uint64_t hint);
void order_condition(struct order_model *m, term_id condition);
void order_condition_at(struct order_model *m, term_id condition, const struct order_place *at);
void order_failure(struct order_model *m, uint32_t event, term_id condition);
/* Which lock does an event take (1) or give back (-1)? 0: none. */
int order_lock_effect(const struct order_event *e, uint32_t *lock);
/* Does a thread hold a lock at its end? Add an unlock for each (000 section 4.2.2). */
bool order_thread_holds(const struct order_model *m, uint32_t thread);
void order_close_thread(struct order_model *m, uint32_t thread);
/* Every trace is complete, and the threads that end in a wait (or in a semaphore's failed try that
 * stands aside) wait for ever: add what that means for those who could help them. Events keep their
 * numbers, not their places. */
void order_model_stick(struct order_model *m);
struct order_model *order_model_copy(const struct order_model *m);
/* A copy in which blocked locks were granted and every thread released what it held: the world in
 * which a recorded deadlock did not happen. Old events keep their numbers. */
struct order_model *order_model_unblocked(const struct order_model *m);

/* A condition that depends on nothing but what one thread read, and the last read it needs. */
struct order_decision {
	uint32_t condition; /* of the model */
	uint32_t index;	    /* of that read, in its thread */
};
struct order_decisions VEC_FIELDS(struct order_decision);
/* The decisions of a thread, latest first. */
void order_decisions(const struct order_model *m, uint32_t thread, struct order_decisions *ret);
/* A copy in which the thread's trace ends at a decision and the failure is that it was taken as
 * recorded; NULL when others cannot do without what comes behind. Events keep their numbers, those
 * left out are synthetic. An order of m that fails is one of the copy, unless somebody observes
 * what was left out. */
struct order_model *order_model_cut(const struct order_model *m, uint32_t thread,
				    const struct order_decision *at);

/* Is the model well formed? Everything below asks first. */
struct err *order_model_check(const struct order_model *m);
const char *order_kind_name(enum order_kind kind);
enum order_object_kind order_kind_object(enum order_kind kind);
/* "T0.1 write x at 12", for messages. */
void order_event_print(const struct order_model *m, uint32_t event, struct strbuf *out);

/* ---- answers ---- */

enum order_want { ORDER_PASS, ORDER_FAIL, ORDER_ANY };
enum order_status { ORDER_UNKNOWN, ORDER_SAT, ORDER_UNSAT };

struct order_budget {
	double seconds; /* 0: no limit */
	uint64_t
		decisions; /* of the clause learner; 0: no limit. Unlike seconds, the same however busy the machine is */
	uint64_t seed;
	bool no_search;	  /* leave the forward search out: slower, but the same answer every time */
	bool no_learning; /* leave the clause learner out */
};

struct order_stats {
	uint64_t nodes, dead_ends;			       /* forward search */
	uint64_t decisions, conflicts, rounds, atoms, clauses; /* clause learning */
	uint64_t unique_reads, reads, edges, passes;	       /* saturation */
	double seconds;
	const char *how; /* "search", "learning", "saturation", "reference" */
};

struct order_answer {
	enum order_status status;
	uint32_t *order; /* when satisfiable: every event once */
	size_t len;
	uint64_t *values; /* when satisfiable: by symbol, reads and inputs */
	struct order_stats stats;
};

void order_answer_deinit(struct order_answer *a);

/* Find a total order. An answer that says SAT has passed order_validate. */
struct err *order_solve(const struct order_model *m, enum order_want want,
			const struct order_budget *budget, struct order_answer *ret);

/* The referee: is `order` a sequentially consistent run of the model with the wanted outcome?
 * Linear time, shares nothing with the solver but the terms. values: by symbol; inputs are taken
 * from it, reads are filled in (NULL: use the hints). why may be NULL. */
bool order_validate(const struct order_model *m, enum order_want want, const uint32_t *order,
		    size_t len, uint64_t *values, struct strbuf *why);

/* The same about a prefix: these events have happened, the rest has not. A condition must hold when
 * its thread has done an event behind it. values: of reads that have not happened: anything. */
bool order_validate_prefix(const struct order_model *m, const uint32_t *order, size_t len,
			   uint64_t *values, struct strbuf *why);

size_t order_count_switches(const struct order_model *m, const uint32_t *order, size_t len);

/* Fewer context switches, same outcome (000 algorithm 6). Changes `order`; returns how many
 * candidate orders were tried. */
struct err *order_reduce_switches(const struct order_model *m, enum order_want want,
				  uint32_t *order, size_t len, double seconds, size_t *ret);

/* ---- why ---- */

/* "Event `before` comes before event `after`": two conflicting accesses, or the release of one
 * critical section and the acquisition of the next. */
struct order_edge {
	uint32_t before, after;
};

struct order_core {
	enum order_status status; /* UNSAT: the edges alone imply the outcome */
	bool irreducible;	  /* no edge can be left out */
	VEC(struct order_edge) edges;
	size_t considered; /* edges of the whole order */
	struct order_stats stats;
};

void order_core_deinit(struct order_core *core);

/* Which of the cross-thread edges of this order make the outcome opposite to `avoid` certain?
 * (Avoid PASS: why does it always fail.) `minimal` asks for an irreducible set. */
struct err *order_core(const struct order_model *m, enum order_want avoid, const uint32_t *order,
		       size_t len, bool minimal, const struct order_budget *budget,
		       struct order_core *ret);

struct order_alternate {
	struct order_edge flipped; /* the pair that was inverted */
	uint32_t *order;
	size_t len;
};

struct order_alternates {
	VEC(struct order_alternate) found;
	size_t pairs_tried;
	bool complete; /* everything asked for was decided within the budget */
	struct order_stats stats;
};

void order_alternates_deinit(struct order_alternates *a);

/* Orders near `order` with outcome `want`, each inverting one edge of the core, nearest to the
 * failure first; at most `max` of them (0: one for each edge that can be flipped). When no edge
 * of the core can be flipped there is no such order at all. A few more are looked for than asked
 * for; those that change the data flow least come first. */
struct err *order_alternates(const struct order_model *m, enum order_want want,
			     const uint32_t *order, size_t len, const struct order_core *core,
			     size_t max, const struct order_budget *budget,
			     struct order_alternates *ret);

/* ---- the published encoding ---- */

struct order_reference {
	size_t constraints, variables; /* counted as the paper counts them */
	enum order_status status;
	uint32_t *order;
	uint64_t *values;
	double seconds;
};

void order_reference_deinit(struct order_reference *r);
/* 000 section 4.1.3 handed to Z3. count_only: do not solve. */
struct err *order_reference(const struct order_model *m, enum order_want want, double seconds,
			    bool count_only, struct order_reference *ret);

#endif
