/* coop/program.h - the elements of a binary, profiles, and logs from and to files. */
#ifndef COOP_PROGRAM_H
#define COOP_PROGRAM_H

#include "coop/coop.h"
#include "unplait/abi.h"

struct run_result;
struct session;
struct trace;
struct trace_outcome;

/* ---- the elements of a binary ---- */

struct coop_program_element {
	uint32_t id;
	char *name;	   /* "queue.filled", "main.c:41", "lock" */
	uint32_t nsites;   /* 0: a synchronisation object */
	uint64_t accesses; /* in the pilot runs */
	double dispersion; /* individual, over the pilot runs; 1 = always different */
	bool seen;
};

struct coop_program {
	char *path;
	char build[41];
	enum plait_mode mode;
	VEC(struct coop_program_element) elements;
	uint32_t *of_site; /* index of the element, by site; COOP_NONE */
	uint32_t nsites;
};

/* mode: order (elements are variables) or block (basic blocks). */
struct err *coop_program_open(const char *binary, enum plait_mode mode, struct coop_program **ret);
void coop_program_close(struct coop_program *p);
/* Index of an element; COOP_NONE when absent. */
uint32_t coop_program_find(const struct coop_program *p, uint32_t id);
/* A synchronisation object, by element number; its name comes from the symbol table. */
uint32_t coop_program_add_sync(struct coop_program *p, uint32_t id);

/* ---- profiles ---- */

/* chosen: one flag per element; NULL = all, and all synchronisation objects. */
void profile_write(const struct coop_program *p, const bool *chosen, struct strbuf *out);
/* The elements that a profile names; an error when it is of another build or scheme. */
struct err *profile_read(const char *path, struct coop_program *p, bool **ret);

struct plan_options {
	double share;	    /* of the elements, 0 .. 1; 0 = a single one */
	uint32_t instances; /* how many profiles */
	uint64_t seed;
	bool informed;
};
/* Flags per element for one instance. */
void plan_choose(const struct coop_program *p, const struct plan_options *o, uint32_t instance,
		 bool *ret);
/* The chance that nobody records a given element. */
double plan_miss(const struct coop_program *p, const struct plan_options *o);
/* Over the first profiles: how many used elements one has, and its share of all accesses. */
void plan_load(const struct coop_program *p, const struct plan_options *o, double *elements,
	       double *accesses);
/* How many elements a uniform profile has. */
uint32_t plan_size(const struct coop_program *p, const struct plan_options *o);

/* ---- logs ---- */

/* Add the log in a plait. *why is set (and nothing added) when it cannot be used: owned. */
struct err *coop_load(struct coop *c, const char *path, struct coop_program *p, char **why);
/* The same from an open trace; chosen restricts it (NULL = all it has), outcome overrides the
 * trace's own (NULL). */
struct err *coop_load_trace(struct coop *c, struct trace *t, struct coop_program *p,
			    const bool *chosen, const struct trace_outcome *outcome, char **why);
/* The same from a section of vectors alone (unplait/vectors.h), with the names of its threads.
 * NULL, or what is wrong with it. */
const char *coop_load_section(struct coop *c, const char *name, const char *signature,
			      const char *const *threads, uint32_t nthreads, const void *data,
			      size_t len);
/* "assert: ...", "signal 11 in worker", "stuck"; NULL when the run passed. load: where the binary
 * was loaded. Owned. */
char *coop_signature(const struct trace_outcome *o, const char *binary, uint64_t load);

/* ---- the fleet ---- */

/* One controlled run under `strategy`, as an instance that records `chosen` (NULL = everything). */
struct err *fleet_run(struct session *s, struct coop_program *p, uint32_t strategy, uint64_t seed,
		      const bool *chosen, struct coop *ret);
/* Controlled runs, three strategies in turn, until there are that many failing and passing logs
 * or the time is over. Only runs that are wanted are recorded, by replaying them. */
struct err *fleet_collect(struct session *s, struct coop_program *p, uint32_t failing,
			  uint32_t passing, double seconds, uint64_t seed, struct coop *ret);
/* A few controlled runs that tell which elements are used, how much and how alike. */
struct err *fleet_pilot(struct session *s, struct coop_program *p, uint32_t runs, uint64_t seed);

/* ---- the oracle ---- */

struct coop_replay {
	struct session *session;
	const struct coop *coop;
	const struct coop_program *program;
	struct run_result *result; /* of the last attempt; zeroed at first */
	uint32_t dropped;	   /* soft vectors that gave way in it */
};
coop_oracle coop_replay_oracle;

#endif
