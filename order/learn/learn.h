/* order/learn/learn.h - clause learning over orders: the complete half of the solver. Private to order/.
 *
 * Keeps a total order of all events (the witness, in `topology`) and a set of atoms about it:
 * who comes first, what a read observes, what value it sees. Atoms exist only once a lemma has
 * mentioned them. See learn.c for the search, check.c for where lemmas come from,
 * values.c for explanations of values. */
#ifndef ORDER_LEARN_LEARN_H
#define ORDER_LEARN_LEARN_H

#include "order/search/topology.h"
#include "order/model/problem.h"
#include "order/learn/sat.h"
#include "order/search/saturate.h"

enum atom_kind {
	ATOM_ORDER,    /* event a before event b */
	ATOM_SECTION,  /* critical section a before critical section b */
	ATOM_SOURCE,   /* read a observes write b (or INITIAL) */
	ATOM_OTHER,    /* read a observes a write that has no atom yet (b counts batches) */
	ATOM_MATCH,    /* wake a uses signal b */
	ATOM_VALUE,    /* read a returns v */
	ATOM_AT_LEAST, /* read a returns at least v (signed, no overflow possible) */
};

struct atom {
	enum atom_kind kind;
	uint32_t a, b;
	uint64_t v;
};

/* The alternatives of a read or a wake: exactly one atom is true. */
struct choice {
	bool exists, complete;
	lit other;		 /* ATOM_OTHER of the last batch, LIT_FALSE when all are listed */
	uint32_t batches, taken; /* variable that is true, NONE */
	struct VEC_FIELDS(uint32_t) vars;
	struct VEC_FIELDS(uint32_t) rest; /* sources not yet listed, best last */
	double activity;
	uint32_t place; /* in the heap, NONE */
};

struct heap VEC_FIELDS(uint32_t);

struct learner {
	const struct problem *p;
	const struct facts *f;
	struct sat sat;
	struct topology topology;
	uint32_t *thread;	/* by event */
	VEC(struct atom) atoms; /* by variable */
	struct map index;	/* hash -> variable, chained */
	VEC(uint32_t) chain;
	struct choice *choices; /* by event */
	struct heap choice_heap, order_heap;
	VEC(double) activity; /* of order variables */
	VEC(uint32_t) order_place;
	uint8_t *wanted; /* by variable: an order atom to be decided */
	size_t wanted_cap;
	double step;
	VEC(size_t) marks; /* topology marks by level */
	uint32_t *used_by; /* by signal event: variable of the match that uses it, NONE */
	/* the witness, simulated */
	uint32_t *source; /* by read: the write it observes, INITIAL */
	uint64_t *seen;	  /* by read: the value */
	uint8_t *taint;	  /* by event: depends on a read that will change anyway */
	struct map done;  /* lemmas that exist: (variable or read, write) */
	struct learner_check *check;
	struct learner_values *values;
	uint64_t rounds, lemmas;
};

struct learner *learner_new(const struct problem *p, const struct facts *f);
void learner_free(struct learner *l);

/* Start from this total order (it respects p->edges). Only between solves. */
void learner_set_witness(struct learner *l, const uint32_t *order);
/* The witness; a solution after learner_solve said yes. */
const uint32_t *learner_witness(const struct learner *l);

enum sat_result learner_solve(struct learner *l, const lit *assumptions, size_t n, double deadline);

/* Atoms. */
uint32_t learner_atom(struct learner *l, enum atom_kind kind, uint32_t a, uint32_t b, uint64_t v,
		      bool create);
lit order_lit(struct learner *l, uint32_t a, uint32_t b);
lit section_lit(struct learner *l, uint32_t i, uint32_t j);
lit source_lit(struct learner *l, uint32_t r, uint32_t w);
void want_order(struct learner *l, lit z);
/* Make sure the choice of a read exists; list more sources of it. */
void need_choice(struct learner *l, uint32_t r);
void list_more(struct learner *l, uint32_t r);
void add_match(struct learner *l, uint32_t wake, uint32_t signal);

/* check.c */
enum sat_final learner_final(void *ctx);
void learner_check_init(struct learner *l);
void learner_check_deinit(struct learner *l);
/* values.c */
void learner_values_init(struct learner *l);
void learner_values_deinit(struct learner *l);
/* Add a clause that this condition, false in the witness, forces on the choices made. */
void explain_condition(struct learner *l, uint32_t condition);

#endif
