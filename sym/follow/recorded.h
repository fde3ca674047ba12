/* sym/follow/recorded.h - private to sym/: what a plait says about each thread, as queues that following
 * the thread empties at its own pace.
 *
 * A path recording holds the decisions: branch bits, switch successors, values that became
 * addresses, inputs, allocations, births. A full recording holds the same decisions (bits or, under
 * control, events of their own) and besides every access with its value, which is what a symbolic
 * trace can be checked against. */
#ifndef SYM_FOLLOW_RECORDED_H
#define SYM_FOLLOW_RECORDED_H

#include "base/vec.h"
#include "debug/names.h"
#include "trace/trace.h"

struct rec_value {
	uint64_t value;
	uint64_t clock, until; /* it was read between these */
};

/* Values of mode path: bytes one after the other, read between this clock and the next piece's. */
struct rec_piece {
	size_t first;
	uint64_t clock;
};

struct rec_input {
	uint32_t site;
	uint64_t value, clock;
	uint32_t first, len; /* bytes it filled, in the pool */
};

/* A heap block of the run. */
struct rec_block {
	uint64_t address, size;
	uint64_t born, died; /* clocks; died UINT64_MAX = never */
	uint32_t thread, site;
	uint64_t object; /* the machine's address of it, 0 = not made yet */
};

/* fork, join, once: an event with a clock, consumed in order. */
struct rec_mark {
	uint8_t kind; /* enum plait_event_kind */
	uint32_t site, other;
	uint64_t clock;
};

struct rec_thread {
	VEC(uint64_t) bits; /* 64 at a time, lowest first */
	uint64_t nbits, bit;
	uint64_t leaves; /* a detour: the first bit that differs; UINT64_MAX = none does */
	bool left;	 /* it has taken that one: nothing recorded counts from there on */
	VEC(uint32_t) arms;
	size_t arm;
	VEC(struct rec_value) values; /* of a full recording */
	size_t value;		      /* used up; in mode path, too */
	VEC(uint8_t) raw;	      /* of a path recording */
	VEC(struct rec_piece) pieces;
	size_t raw_at, piece; /* used up */
	bool raw_open;	      /* its last piece was not closed: zeros may be missing at its end */
	VEC(struct rec_input) inputs;
	size_t input;
	VEC(uint32_t) blocks; /* indices into recorded.blocks */
	size_t block;
	VEC(struct rec_mark) marks;
	size_t mark;
	VEC(struct event) events; /* full recordings: what to check against, bytes dropped */
	size_t event;
	uint64_t lost;
	uint64_t last_clock; /* of its last record */
	bool ended;	     /* it ran to its end */
};

struct recorded {
	struct trace *trace; /* borrowed */
	const struct trace_meta *meta;
	struct sites *sites; /* of the executable */
	char *binary;
	uint32_t nsites;
	bool full;
	bool branch_events; /* the recording to check against has branches among its events */
	struct rec_thread *threads; /* as in the trace */
	size_t nthreads;
	VEC(struct rec_block) blocks; /* by birth */
	VEC(uint8_t) pool;
};

/* Borrows the trace. An error when it is of another mode, or its binary is gone or another one. */
struct err *recorded_open(struct trace *t, struct recorded *ret);
void recorded_close(struct recorded *r);
/* The events of a full recording of the same schedule, to check against, into r->threads. */
struct err *recorded_add_check(struct recorded *r, struct trace *full);
/* A kind of event that symbolic traces have, too. */
bool recorded_is_checked(uint32_t kind);

/* NULL for a site of no table. */
const struct plait_site *recorded_site(const struct recorded *r, uint32_t site);
/* When the thread's next record was made; UINT64_MAX when it has none left. */
uint64_t recorded_next_clock(const struct recorded *r, const struct rec_thread *t);
bool recorded_bit(struct rec_thread *t, bool *ret);
/* The thread takes these sides, '0' or '1', instead of the recorded ones. */
void recorded_detour(struct rec_thread *t, const char *bits);
/* The next value, of so many bytes; false when there is none left. */
bool recorded_value(struct rec_thread *t, unsigned bytes, struct rec_value *ret);
/* How many values (mode path: bytes of them) are left. */
size_t recorded_values_left(const struct rec_thread *t);

#endif
