/* rewind/threads.h - several threads: what they did before the dump, in which order, and whether that order is the cause
 * (001 section 5.5).
 *
 * Each thread that a start routine began is run forwards (ahead.h), also those that have ended. The first
 * thread is walked back, to the moment before it started them. Between both lies the window: the order
 * engine finds an interleaving in which the threads' steps lead from the memory before to the memory behind
 * (weave.h). */
#ifndef REWIND_THREADS_H
#define REWIND_THREADS_H

#include "rewind/ahead.h"
#include "rewind/mates.h"
#include "rewind/suffix.h"
#include "rewind/weave.h"

struct rewind;
struct strbuf;

enum { MOST_THREADS = 64 }; /* mates.c finds no more */

/* Two accesses of one thread, or the first and the last write of an update, and somebody between them. Or, of kind
 * CAUSE_WRONG_ORDER, x of a before y of b, and no z. */
struct between {
	uint8_t kind;		/* enum cause_kind */
	uint32_t a, b;		/* whose; numbers of mates */
	uint64_t x, y, z;	/* instructions: x and z of a, y of b */
	uint64_t y2;		/* another one of b; 0 = none */
	uint64_t place, place2; /* addresses; place2 0 = one place only */
	uint32_t order;		/* private to between.c */
	uint32_t nth_x, nth_y;	/* wrong order: accesses of the same instruction before them */
	bool writes;		/* wrong order: x does */
	bool future;		/* z had not happened yet */
};

struct symbol_values VEC_FIELDS(uint64_t);

struct threads {
	struct mates mates;
	struct tracks *tracks; /* per mate */
	struct tree tree;      /* the first thread, back from the dump */
	struct past *start;    /* where its walk begins */
	bool at_call;
	bool is_main; /* it is the thread that failed */
	const struct past *begin, *end, *knows;
	bool whole;	       /* the first thread's walk comes to the beginning of main() */
	struct map mains;      /* address -> 1: main() begins there; 0: it does not */
	bool with_first;       /* the first thread is run forwards, too: the last of the mates */
	size_t failed;	       /* number of the mate that failed, or MATE_ENDED */
	bool asks;	       /* what failed is known, so an order can be the cause */
	unsigned bad_register; /* whose value it could not use */
	struct possibles possible;
	struct symbol_values scratch; /* zeroes, one of which is a value for a moment */
	struct weave weave;	      /* the interleaving that was found */
	const struct track **chosen;  /* per mate */
	uint64_t combinations, refuted;
	bool found;	 /* there is an interleaving */
	bool complete;	 /* nothing was left out */
	bool certain;	 /* no order without the cause leads to the dump */
	const char *why; /* what was left out, or why there is no answer; NULL = nothing */
	uint64_t where;
	struct between cause;	   /* cause.x 0: no order is the cause */
	bool confirmed;		   /* run natively */
	const char *not_confirmed; /* why not; NULL */
	double seconds;
};

/* Before the walk back of the thread that failed: which memory do threads share? */
void threads_prepare(struct rewind *r, double deadline);
/* How far back the thread that failed is worth walking. */
void threads_limit(struct rewind *r, struct suffix_options *o);
/* Behind it. Fills in r->cause when the order is what made it fail. */
struct err *threads_work(struct rewind *r, double deadline);
void threads_deinit(struct threads *t);

/* What to call a mate: "thread 2", "the first thread". */
void threads_add_name(const struct threads *t, uint32_t mate, struct strbuf *out);

/* For further questions to the order engine. Borrows the tracks, one of each mate. */
struct weave_input threads_input(struct rewind *r, const struct track *const *tracks);
/* The next combination of tracks, at[i] of mate number i; false: that was the last. */
bool threads_next(const struct threads *t, uint32_t *at);

#endif
