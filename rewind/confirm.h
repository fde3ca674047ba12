/* rewind/confirm.h - run a suffix natively and see whether it ends in the dump. */
#ifndef REWIND_CONFIRM_H
#define REWIND_CONFIRM_H

#include "rewind/suffix.h"

struct err;

enum verdict {
	NOT_TRIED,
	CONFIRMED,	    /* it ran into the same dump: all registers, all dumped memory */
	CONFIRMED_BUT_GAPS, /* so it did, but calls that the suffix skips were not run */
	DIFFERS,	    /* it did not */
	NOT_RUNNABLE,	    /* no values fit, or no process could be made */
};

struct confirmation {
	uint8_t verdict;
	char why[160]; /* for DIFFERS and NOT_RUNNABLE */
	uint64_t steps;
};

/* Revive the process at the node's past and run it forwards: to the dump or, with at_call, to the call
 * of libc in which the program ended itself (rewind/start.h). */
struct err *confirm_suffix(struct history *h, const struct node *n, size_t thread,
			   const struct past *start, bool at_call, struct confirmation *ret);

#endif
