/* test/unit/rewind-truth.h - what rewind says about moments before a dump, against what was recorded of them. */
#ifndef TEST_REWIND_TRUTH_H
#define TEST_REWIND_TRUTH_H

#include "debug/dump.h"
#include "rewind/past.h"

#include <sys/types.h>
#include <sys/user.h>

enum { TRUTH_STEPS = 60000 };

/* Every state of a function that ran into its failure, one instruction at a time. */
struct truth_record {
	struct user_regs_struct *at;
	size_t n;
	pid_t child;
};

/* The record, and the dump of the failure. */
struct truth {
	struct truth_record r;
	struct history h;
	struct code *code;
	struct dump d;
};

/* Run fails(seed), which must end in SIGSEGV. Skips the test when unplait-lift is not built. */
void truth_init(struct truth *x, void (*fails)(unsigned), unsigned seed);
void truth_deinit(struct truth *x);

struct truth_tally {
	unsigned steps, known, unknown, wrong, refuted;
};

/* The general registers at one moment, added to the tally. */
void truth_check_registers(struct history *h, const struct past *p,
			   const struct user_regs_struct *g, struct truth_tally *t);

/* The tool's own walk. Registers are counted along the best way, as far as it is the one that was taken, with all that
 * the whole walk has brought to light. */
struct truth_walked {
	unsigned moments, certain, right, unknown, wrong;
	unsigned strayed; /* moments of the best way that is not the one that was taken */
	uint32_t blocks;
	size_t records; /* that were given */
};

/* Back over so many blocks, along the last `records` taken branches of the record; 0: without them. seconds: of processor
 * time; 0 = no limit. */
void truth_walk(struct truth *x, uint32_t blocks, size_t records, double seconds,
		struct truth_walked *ret);
void truth_print(const struct truth_walked *w);

#endif
