/* solve/load.h - a recording into an order model, by way of the symbolic machine.
 *
 * What the machine cannot follow, or terms cannot express, is counted and named; the caller decides
 * whether to go on with it. */
#ifndef SOLVE_LOAD_H
#define SOLVE_LOAD_H

#include "base/map.h"
#include "base/strbuf.h"
#include "order/model/build.h"

struct err;
struct sym_detour;
struct sym_program;
struct trace;

/* What a thread had decided before each of its steps, as a hash: two runs in which a thread has
 * decided the same have the same steps up to there. One more entry than steps. */
struct load_trail VEC_FIELDS(uint64_t);

struct loaded {
	struct order_built built;
	struct load_trail *trails; /* per thread */
	size_t ntrails;
	struct strbuf
		*paths;	   /* per thread: the sides of its branches, '0' or '1' per recorded bit */
	bool open_path;	   /* the bits of a detour ended before its thread did: there is no model */
	struct map sides;  /* load_side() of every branch taken -> 1 */
	bool open_results; /* calls were made whose result another order could change: tries, once */
	/* thread of the failure, recorded or of a detour; ORDER_NONE: a deadlock, or no failure */
	uint32_t failing;
	const char *condition; /* what the failure was taken to be, in words */
	struct names gaps;     /* what was left out or assumed, in words */
	char *unsupported;     /* why there is no model; NULL = there is one */
	bool stuck;	       /* a deadlock, and a choice of where the threads wait */
	uint64_t steps, symbols, conditions;
	double seconds; /* of following the paths */
};
void loaded_deinit(struct loaded *l);
/* A side of the branch at a node, as a key. */
uint64_t load_side(uint64_t node, uint64_t side);

struct load_options {
	double seconds; /* limit on following the paths; 0 = none */
	unsigned skip;	/* a deadlock: that many choices of where the threads wait led nowhere */
	/* Threads that take other sides than recorded (sym/sym.h). There is a model only when all of
	 * them end, by themselves or by a failure that is not the side of a branch of their bits
	 * (an assertion is asked about on the side on which it holds). */
	const struct sym_detour *detours;
	size_t ndetours;
	bool keep;		     /* decisions that nothing can change on these paths, too */
	struct sym_program *program; /* of the recording's binary, already open; NULL = open it */
};

/* ERR_ENV when the recording is no path recording of a binary that is still there. */
struct err *load_recording(struct trace *t, const struct load_options *options, struct loaded *ret);

/* What a native run counts as a step, which order_built.step counts by thread. The main thread is
 * there from the beginning. */
bool load_is_step(uint32_t event, uint32_t thread);

/* load-values.c: the same of a recording that has every read and write, without following it: each
 * read is a condition that it sees the recorded value. */
bool load_has_values(const struct trace *t);
struct err *load_values(struct trace *t, struct loaded *ret);

#endif
