/* deadlock/fingerprint.h - the parts of a fingerprint, for those who write one. */
#ifndef DEADLOCK_FINGERPRINT_H
#define DEADLOCK_FINGERPRINT_H

#include "base/arena.h"
#include "deadlock/deadlock.h"

struct fp_frame {
	const char *function, *file; /* NULL = unknown */
	const char *module;	     /* NULL = no module: generated code */
	const char *build_id;
	uint64_t offset; /* in the module, of the call */
	unsigned line;
	bool inlined;
};

struct fp_stack {
	struct fp_frame *frames;
	size_t n;
	bool truncated;
};

struct fp_lock {
	uint64_t address;
	const char *kind; /* "mutex", "rwlock", ... */
	const char *name; /* of the variable, NULL when it has none */
	unsigned number;  /* 1, 2, ... among the locks without a name */
};

struct fp_use {
	uint32_t lock; /* index into locks */
	uint8_t kind, state, flags;
	unsigned count;
	bool doubted;
	const char *joined; /* name of the thread a join waits for */
	struct fp_stack stack;
};

struct fp_order {
	uint32_t outer, inner; /* locks; outer is UINT32_MAX when nothing else was held */
	struct fp_stack outer_stack, inner_stack;
};

struct fp_thread {
	const char *name;
	uint32_t tid, state, lost;
	bool moving;
	struct fp_use *uses;
	size_t nuses;
	struct fp_order *releases;
	size_t nreleases;
};

struct fp_cycle {
	struct wait_edge *edges;
	size_t len;
	bool timed;
	char bucket[17], build_bucket[17];
};

struct fp_inversion {
	size_t thread[2];
	struct fp_order order[2];
};

struct fingerprint {
	struct arena arena;
	const char *program, *problem; /* problem: why symbols are missing, NULL = they are not */
	uint32_t pid, lost_threads;
	unsigned unwatched;
	bool verified, stuck;
	char bucket[17];
	struct fp_lock *locks;
	size_t nlocks, caplocks;
	struct fp_thread *threads;
	size_t nthreads;
	struct fp_cycle *cycles;
	size_t ncycles, ndeadlocks;
	struct fp_inversion *inversions;
	size_t ninversions;
};

/* "mutex forks[2]", "rwlock #1" */
const char *fp_lock_text(const struct fingerprint *f, uint32_t lock, char *buf, size_t size);
/* The first frame that is not the library's plumbing around a lock; NULL for an empty stack. */
const struct fp_frame *fp_site(const struct fp_stack *s);
/* What a thread is blocked in; NULL when it is not. */
const struct fp_use *fp_wants(const struct fp_thread *t);
/* Somebody who holds that lock; NULL when nobody does. */
const struct fp_thread *fp_holder(const struct fingerprint *f, const struct fp_thread *t,
				  const struct fp_use *wish);

#endif
