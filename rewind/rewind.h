/* rewind/rewind.h - from a core dump to the last steps before it.
 *
 *	struct rewind *r;
 *	err = rewind_open("core", &options, &r);
 *	err = rewind_work(r);           walk back, run the best suffix natively, look for the cause
 *	... r->cause, r->best ...
 *	rewind_close(r);
 */
#ifndef REWIND_REWIND_H
#define REWIND_REWIND_H

#include "debug/dump.h"
#include "rewind/ask.h"
#include "rewind/cause.h"
#include "rewind/confirm.h"
#include "rewind/exploit.h"
#include "rewind/hardware.h"
#include "rewind/names.h"
#include "rewind/route.h"
#include "rewind/suffix.h"
#include "rewind/threads.h"

struct rewind_options {
	uint64_t blocks;    /* how far back; 0 = to where the bad value was made, at most 200 */
	double seconds;	    /* for all of it; 0 = 20 */
	const char *thread; /* its number in the dump; NULL = the one that failed */
	bool run;	    /* also run the dump of another user */
	bool no_run;	    /* run nothing: every suffix stays unconfirmed */
	const struct crumbs *crumbs;	  /* what else is known of the run; NULL = nothing */
	const struct question *questions; /* borrowed */
	size_t nquestions;
	struct code_tools *tools; /* borrowed, for one dump after the other; NULL = its own */
};

struct rewind {
	struct rewind_options o;
	struct dump dump;
	struct code *code;
	struct history h;
	struct tree tree;
	struct route route;	   /* route.n 0: no branch records, or */
	const char *route_problem; /* why they are not used; NULL */
	struct dump_names names;
	size_t thread;
	struct past *start; /* where the walk begins */
	bool at_call;	    /* that is a call of abort() or the like, not the dump's own pc */
	bool live; /* the process had not failed when it was dumped: there is no cause to look for */
	bool walk_all; /* so far back as was asked for, also when the bad value's chain is complete */
	bool may_run;
	const char *may_not_run; /* why */
	/* the result */
	struct node *best; /* NULL: every way contradicts the dump */
	struct confirmation confirmed;
	uint32_t tried; /* suffixes run */
	struct cause cause;
	VEC(struct cause) other_causes; /* that other suffixes have; all different */
	struct threads threads;		/* threads.mates.len 0: there was one only */
	struct hardware hardware;	/* what the machine itself said (logged.h) */
	struct exploit exploit;
	struct answers answers; /* one per question */
	uint32_t next_asked;	/* private: how far back the questions are looked at again */
	double walk_seconds, confirm_seconds;
	double step_seconds; /* processor time of a step back, in the median */
};

struct err *rewind_open(const char *core, const struct rewind_options *o, struct rewind **ret);
void rewind_close(struct rewind *r); /* NULL is fine */
struct err *rewind_work(struct rewind *r);

#endif
