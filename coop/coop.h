/* coop/coop.h - cooperative record and replay: many partial logs in, one replayable order out.
 *
 * An *access vector* is the order in which threads accessed one element. A *log* is what one
 * instance recorded: vectors for the elements of its profile, and how its run ended. The vectors of
 * many failing logs are merged into a candidate that covers every element; the oracle (a controlled
 * run that obeys the vectors) says whether it fails in the same way.
 *
 *	struct coop c = { 0 };
 *	coop_begin_log(&c, "host-17", signature);
 *	coop_add(&c, element, runs, nruns); ...
 *	coop_end_log(&c);
 *	coop_choose(&c, signature);                   // dispersion, over its failing logs
 *	coop_rank(&c, COOP_SGM, COOP_DSIM, &ranking);
 *	coop_merge(&c, &options, oracle, context, &result);
 *
 * Definitions: Machado's thesis, sections 3.2 to 3.4. Everything is owned by struct coop (arena).
 */
#ifndef COOP_COOP_H
#define COOP_COOP_H

#include "unplait/vectors.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct json;
struct strbuf;

#define COOP_NONE UINT32_MAX

/* `count` accesses in a row by one thread (an id in coop.threads): a word of a log. */
struct coop_run {
	uint32_t thread : PLAIT_VECTORS_THREAD_BITS;
	uint32_t count : 32 - PLAIT_VECTORS_THREAD_BITS;
};
_Static_assert(sizeof(struct coop_run) == 4, "a log has words");

/* Stored once, however many logs and elements have it. */
struct coop_vector {
	uint64_t hash;
	uint64_t accesses;
	uint32_t nruns;
	const struct coop_run *runs;
};

struct coop_entry {
	uint32_t element; /* index into coop.elements */
	uint32_t vector;  /* index into coop.vectors */
};

struct coop_log {
	const char *name;
	uint32_t signature; /* index into coop.signatures; COOP_NONE: it passed */
	uint32_t n;
	size_t first; /* its entries are entries[first .. first + n), by element */
};

struct coop_element {
	uint32_t id;	   /* what the binary calls it */
	const char *name;  /* what a person calls it; "" = unknown */
	uint32_t distinct; /* different vectors in the chosen logs: #AV*_s */
	uint32_t recorded; /* chosen logs that recorded it: #AV_s */
};

struct coop {
	struct names threads;	 /* "0.1" */
	struct names signatures; /* of failures */
	VEC(struct coop_element) elements;
	VEC(struct coop_vector) vectors;
	VEC(struct coop_entry) entries;
	VEC(struct coop_log) logs;
	struct arena arena;
	VEC(void *) taken; /* long vectors; the others are in the arena */
	/* where the logs come from: all of one build and scheme */
	char build[41];
	uint32_t mode; /* enum plait_mode: order or block; 0 = not known yet */
	/* the logs that count: coop_choose */
	uint32_t signature;
	VEC(uint32_t) chosen; /* indices into logs */
	uint64_t distinct;    /* #AV*: sum of the elements' distinct */
	/* private */
	struct map vector_ids, element_ids;
	struct map counts; /* element and vector -> how many chosen logs have the pair */
	struct map passed; /* ... and how many passing ones */
};

void coop_deinit(struct coop *c);

/* ---- logs ---- */

/* The element with that number in the binary; added when new. */
uint32_t coop_element(struct coop *c, uint32_t id, const char *name);
/* signature: NULL = the run passed. */
void coop_begin_log(struct coop *c, const char *name, const char *signature);
/* Add a run to an array of `len` runs; returns how many there are now. There must be room for one
 * more, and for those that a count beyond the limit of one run needs. */
size_t coop_push_run(struct coop_run *out, size_t len, uint32_t thread, uint64_t count);
/* Neighbouring runs of one thread are joined; an empty vector is a fact too ("never accessed"). */
void coop_add(struct coop *c, uint32_t element, const struct coop_run *runs, size_t nruns);
/* The same, adopting malloced runs that are joined already; a long vector is not copied. */
void coop_take(struct coop *c, uint32_t element, struct coop_run *runs, size_t nruns);
/* Sorts the entries. False (and the log is dropped) when it has two vectors for one element. */
bool coop_end_log(struct coop *c);
uint32_t coop_vector(struct coop *c, const struct coop_run *runs, size_t nruns);
static inline const struct coop_entry *coop_entries(const struct coop *c, uint32_t log)
{
	static const struct coop_entry none;

	assert(log < c->logs.len);
	return c->entries.len ? &c->entries.data[c->logs.data[log].first] : &none;
}
/* The vector of an element in a log; COOP_NONE when it was not recorded. */
uint32_t coop_find(const struct coop *c, uint32_t log, uint32_t element);

/* From now on the failing logs with this signature count (COOP_NONE: the passing ones). */
void coop_choose(struct coop *c, uint32_t signature);
/* The signature with the most logs; COOP_NONE when no log failed. */
uint32_t coop_main_signature(const struct coop *c);
/* How many chosen logs have this vector for this element. */
uint32_t coop_count(const struct coop *c, uint32_t element, uint32_t vector);

/* ---- how alike, how telling ---- */

enum coop_metric { COOP_PSIM, COOP_DSIM, COOP_DHS };
enum coop_heuristic { COOP_SGM, COOP_DGM, COOP_1SPE };

/* Equation 3.2 and 3.10, over the chosen logs. */
double coop_overall_dispersion(const struct coop *c, uint32_t element);
double coop_individual_dispersion(const struct coop *c, uint32_t element);
/* Equations 3.1, 3.3, 3.4. */
double coop_similarity(const struct coop *c, enum coop_metric metric, uint32_t a, uint32_t b);
/* Share of equal positions; the shorter vector counts as different beyond its end. */
double coop_hamming(const struct coop *c, uint32_t a, uint32_t b);
/* Equations 3.7 to 3.9: F(v) among the failing logs with the chosen signature, S(v) among those
 * that passed. */
double coop_correlation(const struct coop *c, uint32_t element, uint32_t vector);

/* ---- ranking ---- */

/* A vector for an element that the base log lacks. */
struct coop_fill {
	uint32_t element, vector;
	uint32_t from; /* the log it comes from */
	double similarity;
};

struct coop_ranked {
	uint32_t log;
	double relevance;
	size_t first; /* its fills: ranking.fills[first .. first + n); SGM only */
	uint32_t n;
};

struct coop_ranking {
	VEC(struct coop_ranked) logs; /* most relevant first; ties: the earlier log */
	VEC(struct coop_fill) fills;
};

struct coop_rank_options {
	enum coop_heuristic heuristic;
	enum coop_metric metric;
	/* Up to that many logs the answer is exact; with more, the search for the neighbours of a
	 * log ends after an eighth of it. 0 = 2048. */
	uint32_t scan;
};

void coop_rank(const struct coop *c, const struct coop_rank_options *o, struct coop_ranking *ret);
void coop_ranking_deinit(struct coop_ranking *r);
/* The nearest neighbours of one log: a fill per missing element, in element order. */
struct coop_search;
struct coop_search *coop_search_new(const struct coop *c, enum coop_metric metric, uint32_t scan);
void coop_search_free(struct coop_search *s);
void coop_search_fills(struct coop_search *s, uint32_t log, struct coop_ranking *ret);

/* ---- merging ---- */

#define COOP_HARD UINT32_MAX

struct coop_choice {
	uint32_t element, vector;
	uint32_t from;	   /* log; COOP_NONE for 1SPE */
	uint32_t strength; /* COOP_HARD: must be obeyed; else the weakest gives way first */
};

struct coop_candidate {
	uint32_t base;			   /* log; COOP_NONE for 1SPE */
	const struct coop_choice *choices; /* one per element that anybody recorded */
	size_t n;
	bool brute; /* made by the brute-force fallback */
	bool open;  /* the base log alone: what it lacks is left to the scheduler */
	uint64_t hash;
};

enum coop_verdict {
	COOP_REPRODUCED,
	COOP_OTHER_END, /* obeyed, but it passed or failed otherwise */
	COOP_INFEASIBLE,
};

/* One attempt. `seed` differs from attempt to attempt. */
typedef struct err *coop_oracle(void *context, const struct coop_candidate *c, uint64_t seed,
				enum coop_verdict *ret);

struct coop_merge_options {
	enum coop_heuristic heuristic;
	enum coop_metric metric;
	uint32_t limit; /* attempts; 0 = 500 */
	uint64_t seed;
	/* Candidates to pass over, by hash; those that fail here are added. NULL = none. */
	struct map *tried;
	double seconds; /* stop after that long; 0 = never */
};

struct coop_merge_result {
	bool reproduced;
	uint32_t attempts;		     /* the last one is the successful one */
	uint32_t infeasible, other, skipped; /* attempts that failed, and candidates passed over */
	uint32_t base;
	bool brute;
	VEC(struct coop_choice) choices; /* of the successful candidate */
};

struct err *coop_merge(const struct coop *c, const struct coop_merge_options *o,
		       coop_oracle *oracle, void *context, struct coop_merge_result *ret);
void coop_merge_result_deinit(struct coop_merge_result *r);

const char *coop_metric_name(enum coop_metric m);
const char *coop_heuristic_name(enum coop_heuristic h);
/* False when there is no such name. */
bool coop_metric_find(const char *name, enum coop_metric *ret);
bool coop_heuristic_find(const char *name, enum coop_heuristic *ret);

#endif
