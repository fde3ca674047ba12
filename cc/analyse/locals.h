/* cc/analyse/locals.h - local variables with locks in them: which, and where their lives begin and end. */
#ifndef CC_ANALYSE_LOCALS_H
#define CC_ANALYSE_LOCALS_H

#include "cc/llvm.h"

/* If `at` is the call of an intrinsic that says where the life of a local variable begins or ends, and the
 * variable has a lock in it: the variable. NULL else. */
LLVMValueRef locals_of_marker(LLVMValueRef at);
bool locals_ends(LLVMValueRef marker);

/* The next local variable with a lock in it that lives as long as the function of `at`, behind `after`
 * (NULL: the first); NULL: there is none. */
LLVMValueRef locals_next(LLVMValueRef at, LLVMValueRef after);
#define for_each_local_lock(local, at)                                                             \
	for (LLVMValueRef local = locals_next(at, NULL); local; local = locals_next(at, local))

/* Does `at` leave its function? Where those variables end: before it, or before the call that takes the
 * function's place. NULL: it does not. */
LLVMValueRef locals_end(LLVMValueRef at);
/* Where those variables begin. */
LLVMValueRef locals_begin(LLVMValueRef f);
/* Does nothing but the ends of variables come between `at` and the end of its function? */
bool locals_is_last(LLVMValueRef at);

#endif
