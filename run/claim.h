/* run/claim.h - what a search has covered: the one place that knows whether "every schedule was
 * explored" may be said.
 *
 * A search comes to its end, or it does not. If it does, that is everything only if nothing the
 * program did was left out. Each thing that may be left out is a gap, and the sentence names it. */
#ifndef RUN_CLAIM_H
#define RUN_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

struct run_result;
struct strbuf;

enum claim_gap {
	CLAIM_BOUND = 1,	/* only so many preemptions */
	CLAIM_UNCONTROLLED = 2, /* something was not under control (enum plait_uncontrolled) */
	CLAIM_TIMERS = 4,	/* timers that begin again */
	CLAIM_CLOCK = 8,	/* the program looked at the clock */
	CLAIM_BUDGET = 16,	/* a run was given up before its end */
	CLAIM_UNSEEN = 32,	/* code that was not built by us: its accesses are not seen */
	CLAIM_GUARDS = 256,	/* timeouts of a second or more */
	CLAIM_SPINS = 512,	/* loops that wait, and may count where nobody looks */
	CLAIM_COPIES = 1024,	/* accesses of more than a word at once */
	CLAIM_REUSE = 2048,	/* addresses that malloc gives out again */
	CLAIM_ALIASES = 4096,	/* memory that is mapped at two addresses */
	CLAIM_UNKNOWN = 64,	/* functions outside that nobody looked into: `unknown` */
};

struct claim {
	bool ended;    /* the search has nothing left to try */
	uint32_t gaps; /* enum claim_gap */
	char *unknown; /* names of functions, or NULL; owned */
};

void claim_deinit(struct claim *c);
/* What the table of the program's binary says about code that is not seen. */
void claim_look_at(struct claim *c, const char *program);
/* A native run that was part of the search. */
void claim_add_run(struct claim *c, const struct run_result *r);
/* May it be said? */
bool claim_is_complete(const struct claim *c);
/* "every schedule was explored", or what of it is true. Nothing if the search did not end. */
void claim_describe(const struct claim *c, struct strbuf *out);
/* The gaps, one sentence each, separated by `between`. */
void claim_describe_gaps(const struct claim *c, const char *between, struct strbuf *out);

#endif
