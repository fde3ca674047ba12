/* unplait/log.h - the log of a run in mode sync, as the tool gives it to the runtime for a replay; or what
 * a run under control heard from outside.
 *
 * A file that the runtime maps: this header, then arrays in the order of their counts in it, then
 * bytes. Entries of a thread stand together, in the thread's order. */
#ifndef UNPLAIT_LOG_H
#define UNPLAIT_LOG_H

#include "unplait/abi.h"

#include <stdbool.h>

#define PLAIT_LOG_MAGIC "PLAITLG5"

struct plait_log {
	char magic[8];
	uint32_t version; /* PLAIT_FORMAT_VERSION */
	uint32_t nthreads;
	uint64_t nhandovers, nresults, nsignals, nanswers, nbytes;
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
	struct plait_log_part handovers, results, signals;
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

/* What the n-th call that brings something in has brought. */
struct plait_log_answer {
	uint32_t call, reserved; /* enum plait_call */
	int64_t result;		 /* or -errno */
	uint64_t bytes, nbytes;	 /* offset into the bytes */
};

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

#endif
