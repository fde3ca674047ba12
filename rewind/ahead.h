/* rewind/ahead.h - private to rewind/: run one thread forwards, from its start routine to its end or to where the
 * dump has it (001 section 5.5, the first two passes).
 *
 * What the thread reads from memory that other threads write is a fresh symbol each time. What comes out are
 * its tracks: the ways it can have taken, each with its reads, writes and locks in program order and
 * with conditions on what it read. */
#ifndef REWIND_AHEAD_H
#define REWIND_AHEAD_H

#include "base/vec.h"
#include "rewind/past.h"

struct mates;

enum ahead_kind { AHEAD_READ, AHEAD_WRITE, AHEAD_LOCK, AHEAD_UNLOCK, AHEAD_FORK, AHEAD_JOIN };

struct ahead_event {
	uint8_t kind; /* enum ahead_kind */
	uint8_t w;    /* bits */
	bool atomic;  /* one step with the event before it: a locked instruction */
	bool future;  /* it has not happened yet: the dump has the thread before it */
	uint64_t insn;
	uint32_t step;	  /* instructions of the thread before it */
	uint64_t address; /* of the memory, or of the mutex; fork and join: number of the mate */
	expr_id value;	  /* read (a symbol) or written */
	expr_id guard; /* it happens only if this bit is 1; 0: always. One access whose address depends on
			     a value that was read has one event for each address that it can have */
};

/* Which values a place in shared memory can have while the threads run. */
struct possible {
	uint64_t address;
	uint8_t w;	/* bits */
	bool any;	/* not known: every value */
	size_t settled; /* private to threads.c: values known before this round */
	VEC(uint64_t) values;
};
struct possibles VEC_FIELDS(struct possible);

/* A call that was not entered: what the thread got from it. */
struct ahead_call {
	uint32_t step; /* of the call or jump */
	expr_id result;
	expr_id sp;    /* behind it */
	uint64_t back; /* where the thread goes on */
};

struct ahead_condition {
	expr_id bit;	/* must be 1 */
	uint32_t after; /* how many events come before it */
};

struct track {
	VEC(struct ahead_event) events;
	VEC(struct ahead_condition) conditions;
	VEC(struct ahead_call) calls;
	VEC(uint64_t) path;  /* program counters */
	VEC(expr_id) blocks; /* addresses that malloc returned: all different */
	expr_id start[LIFT_REGISTERS];
	expr_id end[16];  /* registers where the dump has the thread, as the thread computed them */
	uint32_t decided; /* conditions of its own branches; the rest compares it with the dump */
	uint64_t home;	  /* where its start routine returns to */
	bool ended;	  /* it returned */
	bool fits;	  /* private: it can be where the dump has it */
};

struct tracks {
	VEC(struct track *) all;
	VEC(struct track *) dropped; /* some of the ways that led nowhere */
	bool complete;		     /* there are no other ways */
	const char *why;	     /* not complete: a constant */
	uint64_t where;
	VEC(struct ahead_event)
	reads; /* the first of each place, also on a way that leads nowhere */
	struct map
		written; /* addresses of bytes that some way writes, also one that leads nowhere */
	bool asks;	 /* it used a value as a pointer, and nobody knows yet what that can be */
	struct map
		unresolved; /* addresses near writes whose address depends on what was read, when nobody
				  knows yet what that can be */
};

/* Where the thread is in the dump. */
struct ahead_end {
	bool is_set; /* else: it has ended */
	uint64_t pc;
	uint64_t regs[16];
	bool known[16]; /* which of them must be so */
	bool in_call;	/* pc is a call of libc that has not returned: did it take effect? */
	uint32_t tid;
};

/* Run mate number n. sp: its stack pointer in its start routine. deadline: of work_seconds(). possible: what is known about values in shared memory so far. NULL: scout, that is find out what the
 * thread may write, on the dump's values, both sides of each branch, and never mind failures. */
void ahead_run(struct history *h, const struct mates *mates, size_t n, uint64_t sp,
	       const struct ahead_end *end, const struct possibles *possible, double deadline,
	       struct tracks *ret);
/* Does this function of a library end the program? */
bool ahead_ends_program(const char *name);
void tracks_deinit(struct tracks *t);

#endif
