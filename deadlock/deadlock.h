/* deadlock/deadlock.h - from the area of a watched process to what its threads wait for.
 *
 *	read     snapshot_from_pid, _from_file, _from_core, _parse: what each thread holds and wants
 *	settle   snapshot_settle: two snapshots tell who has not moved in between
 *	analyse  deadlock_find: cycles, stuck threads, potential lock-order inversions
 *	name     fingerprint_new: functions, lines, names of locks, buckets; report/ prints it
 *
 * A snapshot owns its threads; a deadlock holds indices into the snapshot it was made from. */
#ifndef DEADLOCK_DEADLOCK_H
#define DEADLOCK_DEADLOCK_H

#include "unplait/watch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct modules;

/* ---- snapshots ---- */

struct call_stack {
	uint64_t pc[WATCH_DEPTH]; /* return addresses, innermost first */
	unsigned n;
	bool truncated;
	/* of a thread that has not waited since: only the end of the stack as it was, see window.c
	 */
	unsigned nwords;
	uint64_t frame; /* the address of words[0] */
	uint64_t words[WATCH_WIDE];
};

struct lock_use {
	uint64_t object, aux;
	uint8_t kind, state, flags; /* as in unplait/watch.h */
	unsigned count;
	bool doubted; /* the area says held, the lock itself or another thread says otherwise */
	struct call_stack stack;
};

/* One nesting that happened: `inner` was taken while `outer` was held, and the gates around both.
 */
struct lock_order {
	uint64_t outer, inner;
	uint64_t gates[WATCH_GATES];
	unsigned ngates;
	uint8_t outer_kind, inner_kind;
	struct call_stack outer_stack, inner_stack;
};

struct thread_uses {
	char name[40];
	uint32_t tid;
	uint32_t state; /* enum watch_slot_state */
	uint32_t lost;
	uint32_t seq;
	uint64_t pthread;
	uint32_t slot;
	bool moving; /* it changed while it was read, or since the snapshot before */
	struct lock_use *uses;
	size_t nuses;
	uint64_t *foreign; /* locks it released for others; */
	size_t nforeign;
	bool more_foreign; /* ... and more than those */
	struct lock_order *orders;
	size_t norders;
	struct lock_order *releases; /* oldest first; outer is 0 when nothing else was held */
	size_t nreleases;
};

struct module_range {
	uint64_t start, end, bias;
	bool gone;
	char *path;
	char build_id[64]; /* hex, may be empty */
};

struct snapshot {
	uint32_t pid;
	uint32_t lost_threads;
	bool alive;	    /* read from a running process */
	bool has_memory;    /* held locks were compared with the locks themselves */
	unsigned unwatched; /* tasks of the process that have no slot; they run as far as we know */
	uint64_t self_start, self_end;
	char *command; /* path of the program */
	struct thread_uses *threads;
	size_t nthreads;
	struct module_range *modules;
	size_t nmodules;
};

/* Memory of the process, for looking at the locks themselves. */
struct memory {
	void *context;
	bool (*read)(void *context, uint64_t address, void *buf, size_t len);
};

void snapshot_deinit(struct snapshot *s);
/* The bytes of an area; they may be changing while we read. memory may be NULL. */
struct err *snapshot_parse(const void *area, size_t len, const struct memory *memory,
			   struct snapshot *ret);
/* Without the library: ERR_ENV and a message that says so. */
struct err *snapshot_from_pid(int pid, struct snapshot *ret);
struct err *snapshot_from_file(const char *path, struct snapshot *ret);
/* *has is false when the process ran without the library; then there is no snapshot. */
struct err *snapshot_from_core(const char *path, struct snapshot *ret, bool *has);
/* *ret is false when the process was started without the library. */
struct err *snapshot_has_library(int pid, bool *ret);
/* Take the program's path from the modules: it is the lowest one that is no shared library. */
void snapshot_name_program(struct snapshot *s);
/* Threads inside pthread_cond_wait may be past the condition and blocked on its mutex: the futex
 * they sleep on tells. `futex` returns that address, 0 for none. */
void snapshot_refine(struct snapshot *s, uint64_t (*futex)(void *context, uint32_t tid),
		     void *context);
/* The address of the futex that a thread of a running process sleeps on; 0 = none. */
uint64_t task_futex(int pid, int tid);
/* Mark the threads of `now` that are not where they were in `before`. */
void snapshot_settle(struct snapshot *now, const struct snapshot *before);
/* The use on top when the thread is blocked in it, NULL when it runs. */
const struct lock_use *thread_wants(const struct thread_uses *t);
/* NULL when the address is in no known module. */
const struct module_range *snapshot_module(const struct snapshot *s, uint64_t address);

/* Find the frames of a stack that is given by its words. */
void call_stack_unwind(const struct snapshot *s, struct modules *modules, struct call_stack *stack);

/* ---- analysis ---- */

struct wait_edge {
	size_t thread; /* which wants ... */
	size_t want;   /* ... its use number */
	size_t holder; /* which has it: as use number */
	size_t held;   /* of the holder; a queueing writer's wish when a reader waits behind it */
};

struct wait_cycle {
	struct wait_edge *edges; /* each holder is the next one's thread */
	size_t len;
	bool timed; /* one of the waits ends by itself: not a deadlock */
};

struct inversion {
	size_t thread[2]; /* thread[0] took a then b, thread[1] took b then a */
	const struct lock_order *order[2];
};

struct deadlock {
	struct wait_cycle *cycles; /* the shortest of every knot; real deadlocks first */
	size_t ncycles;
	size_t ndeadlocks; /* cycles[0..ndeadlocks) are not timed */
	bool stuck;	   /* no thread can go on, and there is no cycle that explains it */
	struct inversion *inversions;
	size_t ninversions;
};

void deadlock_find(const struct snapshot *s, struct deadlock *ret);
void deadlock_deinit(struct deadlock *d);

/* ---- fingerprints ---- */

/* A snapshot with names: what is printed, stored and merged; deadlock/fingerprint.h has its parts,
 * report/ prints it. Everything is in its own memory. */
struct fingerprint;

/* modules may be NULL: paths and offsets only. */
struct fingerprint *fingerprint_new(const struct snapshot *s, const struct deadlock *d,
				    struct modules *modules);
void fingerprint_free(struct fingerprint *f);
/* "deadlock", "stuck", "timed" or "none" */
const char *fingerprint_kind(const struct fingerprint *f);
/* 16 hex digits; the same for the same deadlock on another machine. "" when kind is none. */
const char *fingerprint_bucket(const struct fingerprint *f);

#endif
