/* unplait/log.h - the log of a run in mode sync, as the tool gives it to the runtime for a replay; or what
 * a run under control heard from outside.
 *
 * A file that the runtime maps: this header, then arrays in the order of their counts in it, then
 * bytes. Entries of a thread stand together, in the thread's order. */
#ifndef UNPLAIT_LOG_H
#define UNPLAIT_LOG_H

#include "unplait/abi.h"

#include <stdbool.h>

#define PLAIT_LOG_MAGIC "PLAITLG7"

struct plait_log {
	char magic[8];
	uint32_t version; /* PLAIT_FORMAT_VERSION */
	uint32_t nthreads;
	uint64_t nhandovers, nresults, nsignals, nmarks, ntimes, nanswers, nbytes;
	uint64_t atomics; /* 1: the program's own atomics are operations, too */
	uint64_t heard; /* 1: of a run under control, whose schedule is elsewhere: answers alone */
	uint64_t
		cut; /* 1: a thread's part ends where a signal came, and others may wait for the rest of it */
};

/* first, n: its entries in each array. Threads have the numbers of the recorded run. */
struct plait_log_part {
	uint64_t first, n;
};
struct plait_log_thread {
	uint32_t parent, ordinal;
	uint64_t synced; /* operations that it made */
	struct plait_log_part handovers, results, signals, marks, times;
	struct plait_log_part answers, soft; /* SOFT ones stand behind all others */
};

/* Operation `at` of the thread came after operation `count` of another. */
struct plait_log_handover {
	uint64_t at, count;
	uint32_t thread, reserved;
};

/* Operation `at` returned this. */
struct plait_log_result {
	uint64_t at;
	int64_t result;
};

#define PLAIT_LOG_SIGNALS 65 /* their numbers are below */

/* A handler ran when the thread had made `at` operations that are no accesses, and other threads those
 * in `after`: hand-overs behind those of all threads, whose `at` means nothing. */
struct plait_log_signal {
	uint64_t at;
	struct plait_log_part after;
	uint32_t number, reserved;
};

/* After operation `at` the thread's hash was this (plait_log_mix). */
struct plait_log_mark {
	uint64_t at, value;
};

/* Operation `at` was made when the time stamp counter stood here; slept: a sleep behind it ended then. Not all operations
 * have one. */
struct plait_log_time {
	uint64_t at, clock;
	uint32_t slept, reserved;
};

/* What the n-th call that brings something in has brought. */
struct plait_log_answer {
	uint32_t call, reserved; /* enum plait_call */
	int64_t result;		 /* or -errno */
	uint64_t bytes, nbytes;	 /* offset into the bytes */
	uint64_t clock;		 /* when the call had returned, or somewhat earlier */
};

/* Where the arrays of a log are. */
struct plait_log_arrays {
	const struct plait_log_thread *threads;
	const struct plait_log_handover *handovers;
	const struct plait_log_result *results;
	const struct plait_log_signal *signals;
	const struct plait_log_mark *marks;
	const struct plait_log_time *times;
	const struct plait_log_answer *answers;
	const uint8_t *bytes;
};
static inline struct plait_log_arrays plait_log_arrays(const struct plait_log *log)
{
	struct plait_log_arrays a = { .threads = (const struct plait_log_thread *)(log + 1) };

	a.handovers = (const struct plait_log_handover *)(a.threads + log->nthreads);
	a.results = (const struct plait_log_result *)(a.handovers + log->nhandovers);
	a.signals = (const struct plait_log_signal *)(a.results + log->nresults);
	a.marks = (const struct plait_log_mark *)(a.signals + log->nsignals);
	a.times = (const struct plait_log_time *)(a.marks + log->nmarks);
	a.answers = (const struct plait_log_answer *)(a.times + log->ntimes);
	a.bytes = (const uint8_t *)(a.answers + log->nanswers);
	return a;
}

enum plait_call {
	PLAIT_CALL_NONE,
#define CALL(how, name) PLAIT_CALL_##name,
#include "unplait/answers.def"
#undef CALL
	PLAIT_CALL_COUNT
};

enum plait_call_how { PLAIT_CALL_IN, PLAIT_CALL_OUT, PLAIT_CALL_SOFT };
static inline enum plait_call_how plait_call_how(uint32_t call)
{
	static const uint8_t table[] = {
		0,
#define CALL(how, name) PLAIT_CALL_##how,
#include "unplait/answers.def"
#undef CALL
	};

	return call < PLAIT_CALL_COUNT ? (enum plait_call_how)table[call] : PLAIT_CALL_IN;
}

/* Does an event of this kind count as an operation in mode sync? atomics: as in the log. */
static inline bool plait_log_counts(uint32_t kind, bool atomics)
{
	return (atomics && kind >= PLAIT_EV_ATOMIC_READ && kind <= PLAIT_EV_ATOMIC_RMW) ||
	       kind == PLAIT_EV_FUTEX_WAIT || kind == PLAIT_EV_FUTEX_WAKE ||
	       (kind >= PLAIT_EV_LOCK && kind <= PLAIT_EV_RWUNLOCK) ||
	       (kind >= PLAIT_EV_WAIT && kind <= PLAIT_EV_BROADCAST) ||
	       (kind >= PLAIT_EV_SEM_WAIT && kind <= PLAIT_EV_ONCE_PASS);
}

/* ---- check marks: a hash of what a thread has done, the same in plain code and in full ---- */

/* Kinds that mode sync does not tell apart when it records. */
static inline uint32_t plait_log_class(uint32_t kind)
{
	switch (kind) {
	case PLAIT_EV_TRYLOCK:
		return PLAIT_EV_LOCK;
	case PLAIT_EV_TRYRDLOCK:
		return PLAIT_EV_RDLOCK;
	case PLAIT_EV_TRYWRLOCK:
		return PLAIT_EV_WRLOCK;
	case PLAIT_EV_SEM_TRYWAIT:
		return PLAIT_EV_SEM_WAIT;
	case PLAIT_EV_BARRIER_LEAVE:
		return PLAIT_EV_BARRIER_WAIT;
	case PLAIT_EV_ONCE_BEGIN:
	case PLAIT_EV_ONCE_END:
		return PLAIT_EV_ONCE_PASS;
	case PLAIT_EV_OUTPUT:
		return PLAIT_EV_INPUT;
	default:
		return kind;
	}
}

/* What gives something back follows from what took it, and costs nothing more. Atomics and futexes are counted, and no
 * more: most atomic loads are made without us. */
static inline bool plait_log_is_mixed(uint32_t kind)
{
	return kind == PLAIT_EV_INPUT || kind == PLAIT_EV_OUTPUT ||
	       (plait_log_counts(kind, false) && kind != PLAIT_EV_UNLOCK &&
		kind != PLAIT_EV_RWUNLOCK && kind != PLAIT_EV_FUTEX_WAIT &&
		kind != PLAIT_EV_FUTEX_WAKE);
}

/* The hash after one more operation. class: of plait_log_class; offset: of a static object in its program, 0: any
 * other. It is made at every lock, so it is one multiplication by what fits into an instruction. */
static inline uint64_t plait_log_mix(uint64_t hash, uint32_t class, uint64_t offset)
{
	return hash * 0x2545f491 + offset + class * 0x1000001u;
}

/* What of it stands in a mark. */
static inline uint64_t plait_log_mark_of(uint64_t hash)
{
	return hash * 0x9e3779b97f4a7c15ull >> 40;
}

#endif
