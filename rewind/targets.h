/* rewind/targets.h - private to rewind/: where did a call through a pointer lead? */
#ifndef REWIND_TARGETS_H
#define REWIND_TARGETS_H

#include "rewind/suffix.h"

/* The call `call` of `f` returned to `at`, the node's address. A guess: the step itself shows whether that was right.
 * 0 = not known. */
uint64_t target_guess(struct tree *t, const struct node *n, const struct function *f,
		      const struct insn *call, uint64_t at);

/* Where the function of the node's address will return to, or the one `callers` above it. False: not known. */
bool target_return_address(struct tree *t, const struct node *n, unsigned callers, uint64_t *ret);

#endif
