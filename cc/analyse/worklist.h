/* cc/analyse/worklist.h - a fixed point over the instructions of a program: look at each once, then again at
 * those that something they had looked at has changed for. */
#ifndef CC_ANALYSE_WORKLIST_H
#define CC_ANALYSE_WORKLIST_H

#include "base/map.h"
#include "base/vec.h"
#include "cc/llvm.h"

#include <stdbool.h>
#include <stdint.h>

struct program;

struct worklist {
	VEC(struct listed) items; /* all instructions, in program order */
	struct map numbers;	  /* instruction -> its item */
	VEC(uint32_t) todo;
	size_t next;	    /* in todo */
	struct map waiting; /* fact -> first waiter + 1 */
	VEC(struct waiter) waiters;
	uint32_t now; /* the item that is being looked at */
	bool first;   /* ... for the first time */
	bool backwards;
};

struct listed {
	LLVMValueRef f, i;
	bool listed; /* in todo */
};

struct waiter {
	uint32_t item, next;
};

typedef void worklist_step(void *context, LLVMValueRef f, LLVMValueRef i);

void worklist_init(struct worklist *w, const struct program *p);
void worklist_deinit(struct worklist *w);
/* Until nothing is left to look at again. */
void worklist_run(struct worklist *w, bool backwards, worklist_step *step, void *context);
/* The instruction that is looked at now wants to be looked at again when `fact` is told. */
void worklist_wait(struct worklist *w, uint64_t fact);
void worklist_tell(struct worklist *w, uint64_t fact);
/* Look at this one again. Instructions that are not of the program are ignored. */
void worklist_again(struct worklist *w, LLVMValueRef i);

#endif
