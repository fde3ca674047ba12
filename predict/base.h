/* predict/base.h - private to predict/: a run that passed, as something to ask about. */
#ifndef PREDICT_BASE_H
#define PREDICT_BASE_H

#include "order/reach/reach.h"
#include "predict/predict.h"
#include "solve/load.h"

struct err;
struct sym_detour;
struct sym_program;
struct trace;

enum { MAX_GOALS = 16 };

/* Something that may lead to a failure: a decision that could be taken otherwise, or threads that
 * could stop each other. */
struct chance {
	uint32_t target;    /* enum predict_target; 0: a decision, which leads to any of them */
	uint64_t key;	    /* of no decision: equal ones are asked a few times only; 0: always */
	bool asked_for;	    /* at the place that the user names */
	bool loose;	    /* values that became addresses need not be what they were */
	uint32_t condition; /* of the base's model: to be taken otherwise; ORDER_NONE: none */
	uint32_t behind;    /* events of its thread behind it */
	uint64_t writes;    /* elements (sym_writes) that are about to be written */
	uint32_t ngoals;    /* where threads must come */
	struct order_goal goals[MAX_GOALS];
};
struct chances VEC_FIELDS(struct chance);

struct base {
	bool mixed;	 /* one of its threads goes as in another run: this is no run (mix.c) */
	char *plait;	 /* its recording */
	char *recording; /* the user's recording that it came from */
	struct trace *trace;
	struct symbols *symbols; /* NULL: no names */
	struct loaded l;
	struct order_reach *reach;
	/* The same without what was recorded of values that became addresses. An answer "yes" is
	 * worth a run, "no" says nothing. NULL: nothing was recorded. */
	struct order_model *loose_model;
	struct order_reach *loose;
	uint64_t path; /* of all threads */
	struct chances chances;
	struct predict_flips flips; /* that lead here from `recording` */
	uint64_t *writes;	    /* per thread: elements (sym_writes) that it writes */
	uint64_t wanted; /* elements (sym_writes) that a decision near a failure depends on */
	bool may_stick;	 /* threads may stop each other in ways that were not asked about */
	bool frees;	 /* it gives memory back while several threads live */
};

/* detour: a thread that goes another way than recorded; NULL = none. o: targets, a place, and whether conditions are kept that nothing changes (published). program: of
 * the recordings' binary. Where the threads cannot be followed, l.unsupported says so and nothing else
 * is there. */
struct err *base_open(const char *plait, const char *recording, struct sym_program *program,
		      double seconds, const struct predict_options *o,
		      const struct sym_detour *detour, struct base *ret);
void base_close(struct base *b);

/* What a person sees of a chance, added to *ret. */
void base_describe(const struct base *b, const struct chance *c, struct predict_flips *ret);
void flips_deinit(struct predict_flips *f);
void flips_copy(struct predict_flips *to, const struct predict_flips *from);

/* Is this the place that the user names? True when the user names no place. */
bool predict_is_at(const struct predict_options *o, const char *file, uint32_t line);

/* Has this condition more than two outcomes: a value, a switch? */
bool base_is_many(const struct base *b, uint32_t condition);

/* Chances that are no decisions, of the kinds asked for, added to b->chances. targets.c: threads that
 * stop each other; meetings.c: two accesses that should not come in this order, or not at once. */
void targets_find(struct base *b, uint32_t targets);
void meetings_find(struct base *b, uint32_t targets);

#endif
