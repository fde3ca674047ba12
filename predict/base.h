/* predict/base.h - private to predict/: a run that passed, as something to ask about. */
#ifndef PREDICT_BASE_H
#define PREDICT_BASE_H

#include "order/reach/reach.h"
#include "predict/predict.h"
#include "solve/load.h"

struct err;
struct sym_program;
struct trace;

/* A decision of a base that was not, or not in every way, taken yet. */
struct chance {
	uint32_t condition; /* of the base's model */
	uint64_t node;	    /* its thread and all that this thread did and decided before */
	uint32_t behind;    /* events of its thread behind it */
};
struct chances VEC_FIELDS(struct chance);

struct base {
	char *plait;	 /* its recording */
	char *recording; /* the user's recording that it came from */
	struct trace *trace;
	struct symbols *symbols; /* NULL: no names */
	struct loaded l;
	struct order_reach *reach;
	uint64_t path; /* of all threads */
	struct chances chances;
	struct predict_flips flips; /* that lead here from `recording` */
};

/* program: of the recordings' binary. Where the threads cannot be followed, l.unsupported says so
 * and nothing else is there. */
struct err *base_open(const char *plait, const char *recording, struct sym_program *program,
		      double seconds, struct base *ret);
void base_close(struct base *b);

/* What a person sees of a decision; its strings are the caller's. now: the side it takes. */
void base_flip(const struct base *b, uint32_t condition, bool now, struct predict_flip *ret);
void flip_deinit(struct predict_flip *f);
struct predict_flip flip_copy(const struct predict_flip *f);

#endif
