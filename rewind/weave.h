/* rewind/weave.h - private to rewind/: the third pass over threads (001 section 5.5). One track of each thread, the
 * memory before and behind them: is there an interleaving, and which?
 *
 * Everything becomes a model of the order engine (order/order.h). Places in shared memory are its
 * cells; what nobody knows is an input. */
#ifndef REWIND_WEAVE_H
#define REWIND_WEAVE_H

#include "order/order.h"
#include "rewind/ahead.h"

struct err;

/* A place in shared memory. Accesses that overlap share one place. */
struct unit {
	uint64_t address;
	uint8_t bytes;
	uint32_t cell; /* of the model */
};

/* What an event of the model is in the tracks. */
struct woven {
	uint32_t track, event;
	uint32_t unit;
};

/* What is given. */
struct weave_input {
	struct history *h;
	const struct track *const *tracks;
	uint32_t n;
	const struct past *begin; /* before the threads; NULL: not known */
	const struct past *end;	  /* behind them */
	const struct past *knows; /* whose bindings hold for both */
};

/* What is asked for beside the tracks themselves. */
struct weave_question {
	bool dump; /* it ends in the memory behind the threads, and each is where the dump has it */
	/* this is bad: no memory lies there; 0 = not asked. A value of a track, or the one in memory */
	expr_id bad;
	uint64_t bad_at;
	uint8_t bad_w;
	uint64_t offset; /* that is added to it before use */
	uint32_t
		permission; /* PF_R, PF_W or PF_X; 0: it is no address. It is bad because it is `value` */
	uint64_t value;
	/* track number + 1: that thread comes to a call that ends the program. Its conditions say so already */
	uint32_t reaches;
	/* nobody comes between these two instructions of one thread, as far as the places that they
	 * access are concerned; 0 = not asked. last 0: to the end of the thread */
	uint64_t first, last;
	uint64_t places[2]; /* addresses */
	bool every_place;   /* instead of `places`: no access of another thread at all */
	uint32_t
		only; /* number of the track whose accesses first and last are, + 1; 0 = of every track */
	/* the first event comes before the second; only the first `nedges` are asked for */
	struct weave_edge {
		uint32_t track, event, to_track, to_event;
	} edges[2];
	uint32_t nedges;
};

struct weave {
	struct order_model *m;
	struct order_answer answer;
	VEC(struct unit) units;
	VEC(struct woven) woven; /* by event of the model; track UINT32_MAX: not of a track */
	struct map symbols;	 /* number of an expression's symbol -> term */
	const char *problem;	 /* why there is no answer; NULL */
};

/* answer.status: ORDER_UNKNOWN also when something cannot be put into a model. */
struct err *weave_solve(const struct weave_input *in, const struct weave_question *q,
			double seconds, struct weave *ret);
void weave_deinit(struct weave *w);

/* Did the event happen in the answer's order (its guard holds)? */
bool weave_happens(const struct weave *w, uint32_t event);

#endif
