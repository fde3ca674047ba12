/* witness/visits.h - private to witness/: a recorded run as statements.
 *
 * A visit is one execution of a statement by a thread, as far as events show: its events of one
 * line, up to the first that does the same to the same object again (not: at the same site, since an
 * unrolled loop has a site for each turn). */
#ifndef WITNESS_VISITS_H
#define WITNESS_VISITS_H

#include "base/vec.h"
#include "debug/names.h"
#include "run/run.h"

struct err;
struct trace;

enum { VISIT_EVENTS = 16 };

struct visit {
	uint32_t thread;
	struct code_point at; /* strings of the symbols */
	uint32_t child;	      /* the thread that it makes; PLAIT_ANY = none */
	uint64_t first, last; /* steps of the thread up to and with its first and its last event */
	struct {
		uint32_t kind;
		uint64_t address;
	} events[VISIT_EVENTS];
	size_t nevents;
};

/* In the order in which they begin. */
struct visits VEC_FIELDS(struct visit);

/* schedule: of that run; NULL: `first` and `last` are not wanted. */
struct err *visits_of(struct trace *t, struct symbols *symbols, const struct schedule *schedule,
		      struct visits *ret);

#endif
