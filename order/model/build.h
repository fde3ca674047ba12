/* order/model/build.h - per-thread symbolic traces, step by step, into an order model.
 *
 * The caller, who follows recorded paths, tells us what each thread did: thread by thread or all
 * mixed, each thread in its own order. A step is one event of a native run (enum order_step_kind).
 * A read answers with a term for the unknown value; conditions and written values are terms over
 * those. Places are 64-bit names that mean the same in every thread, consecutive bytes having
 * consecutive names.
 *
 *	struct order_build *b = order_build_new();
 *	uint32_t t = order_build_thread(b, "0");
 *	term_id v = order_build_step(b, t, &(struct order_step){ .kind = ORDER_STEP_READ,
 *	                                                          .address = x, .bits = 32 });
 *	order_build_condition(b, term_binary(order_build_terms(b), TERM_NE, v, zero));
 *	err = order_build_finish(b, &memory, &built);      built.m goes to order_solve
 *
 * Steps that no other thread can notice leave no event in the model; built.step still says
 * which step of its thread each event is, and a schedule of a native run needs just that. */
#ifndef ORDER_MODEL_BUILD_H
#define ORDER_MODEL_BUILD_H

#include "base/strbuf.h"
#include "order/order.h"

struct order_build;

/* What a thread did. Calls that can fail say so in `result`. */
enum order_step_kind {
	ORDER_STEP_LOCAL, /* nothing that another thread could notice */
	ORDER_STEP_READ,
	ORDER_STEP_WRITE,
	ORDER_STEP_RMW, /* an atomic read-modify-write */
	ORDER_STEP_LOCK,
	ORDER_STEP_UNLOCK,
	ORDER_STEP_RDLOCK,
	ORDER_STEP_WRLOCK,
	ORDER_STEP_RWUNLOCK,
	ORDER_STEP_WAIT,  /* gives the mutex back and waits for the condition variable */
	ORDER_STEP_WOKEN, /* has the mutex again; result not 0: nobody signalled */
	ORDER_STEP_SIGNAL,
	ORDER_STEP_BROADCAST,
	ORDER_STEP_SEM_INIT,
	ORDER_STEP_SEM_WAIT,
	ORDER_STEP_SEM_POST,
	ORDER_STEP_BARRIER_ENTER,
	ORDER_STEP_BARRIER_LEAVE,
	ORDER_STEP_ONCE_BEGIN, /* runs the routine of a pthread_once ... */
	ORDER_STEP_ONCE_END,
	ORDER_STEP_ONCE_PASS, /* ... finds that it had been run */
	ORDER_STEP_FORK,
	ORDER_STEP_START,
	ORDER_STEP_EXIT,
	ORDER_STEP_JOIN,
	ORDER_STEP_FREE, /* memory is given back, or a lock destroyed; other: so many bytes */
	ORDER_STEP_INEXPRESSIBLE, /* no model has this: order_build_finish fails */
};

struct order_step {
	enum order_step_kind kind;
	uint32_t site;	  /* the caller's, kept as order_event.site */
	uint64_t address; /* memory, lock, condition variable, semaphore, barrier, once */
	uint64_t mutex;	  /* wait, woken */
	uint32_t bits;	  /* memory: width of the access, a multiple of 8 up to 64 */
	uint32_t other;	  /* fork, join: the thread; barrier: how many meet; semaphore: its count;
			   * free: bytes, 0 of a lock */
	int result;	  /* of try and timed calls: 0 or an errno */
	bool blocked;	  /* the recording ends while the thread waits to do this */
	term_id value;	  /* write; for a read-modify-write see order_build_value */
	/* read: what it sees when no other thread writes there, as far as the caller knows better
	 * than the steps say (not every write is a step); TERM_NONE otherwise */
	term_id held;
};

/* Where initial values and names come from; either function may be NULL. */
struct order_memory {
	/* The bytes at a place before any thread wrote there, as a little-endian number. */
	uint64_t (*initial)(void *arg, uint64_t address, unsigned bytes);
	/* "queue.filled"; written to `out`. */
	void (*name)(void *arg, uint64_t address, struct strbuf *out);
	void *arg;
};

/* One thread uses memory that another one gives back: two events of the model. In the recorded run
 * the use came first. */
struct order_use {
	uint32_t free, use;
};
struct order_uses VEC_FIELDS(struct order_use);

struct order_built {
	struct order_model *m;
	uint32_t *step;		/* per event of the model: which step of its thread it is, from 0 */
	uint32_t *nsteps;	/* per thread */
	struct order_uses uses; /* of memory that another thread gives back */
	size_t split;		/* accesses that became several events: other widths meet there */
	size_t local_steps;	/* steps that no other thread can notice */
	size_t contradicted;	/* recorded values that were left out */
};
void order_built_deinit(struct order_built *b);

struct order_build *order_build_new(void);
void order_build_free(struct order_build *b); /* NULL is fine */
struct terms *order_build_terms(struct order_build *b);

uint32_t order_build_thread(struct order_build *b, const char *name);
/* The next step of a thread. Reads and read-modify-writes answer with their value's term, all
 * others with TERM_NONE. */
term_id order_build_step(struct order_build *b, uint32_t thread, const struct order_step *s);
/* Follow-up to the thread's latest step: more bytes of one access (a range, a structure), no new
 * step of the native run. */
term_id order_build_more(struct order_build *b, uint32_t thread, const struct order_step *s);
/* What the thread's latest step, a read-modify-write, stores. */
void order_build_value(struct order_build *b, uint32_t thread, term_id value);
/* A value from outside, the same in every interleaving. */
term_id order_build_input(struct order_build *b, unsigned bits, uint64_t hint);
/* How many steps (and follow-ups) of a thread there are; forget all behind the first n. With
 * `blocked`, the last one left is one the thread waits to do. */
size_t order_build_position(const struct order_build *b, uint32_t thread);
void order_build_cut(struct order_build *b, uint32_t thread, size_t n, bool blocked);
/* What a thread decided. */
struct order_taken {
	uint32_t thread;
	size_t position; /* behind so many steps and follow-ups (order_build_position) */
	uint64_t site;
	uint32_t was, bit; /* as in struct order_place */
	uint64_t node, writes;
	uint8_t doom;
};
/* The path was taken, so this is true. */
void order_build_condition(struct order_build *b, term_id condition, const struct order_taken *at);
/* The same about a value that was recorded besides: where the model knows better (nobody else
 * writes there, and what its thread wrote is another number for the same thing), it is left out. */
void order_build_recorded(struct order_build *b, term_id condition, const struct order_taken *at);
/* Keep conditions that nothing can change on these paths: on others something might. */
void order_build_keep(struct order_build *b);
/* The failure shows at the end of this thread, when the condition is true (TERM_NONE: whenever the
 * recorded steps are all done, as in a deadlock). */
void order_build_failure(struct order_build *b, uint32_t thread, term_id condition);

/* The model. Fails with ERR_ENV, saying why, when the steps cannot be expressed. b stays usable for
 * nothing but order_build_free. */
struct err *order_build_finish(struct order_build *b, const struct order_memory *memory,
			       struct order_built *ret);

#endif
