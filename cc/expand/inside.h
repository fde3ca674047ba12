/* cc/expand/inside.h - private to cc/expand: one program while its calls are expanded. */
#ifndef CC_EXPAND_INSIDE_H
#define CC_EXPAND_INSIDE_H

#include "base/vec.h"
#include "cc/llvm.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis;
struct program;

enum { EXPAND_MOVED = 16 }; /* arguments of one call that get private memory */

struct expand {
	struct program *p;
	struct analysis *a;
	LLVMModuleRef bodies; /* body_NAME for each NAME we know */
	LLVMBuilderRef b;
	bool used;			     /* something calls a body */
	LLVMValueRef f, local[EXPAND_MOVED]; /* arguments.c: bytes on the stack of this function */
};

/* May the memory that this pointer leads to be shared? */
bool expand_is_hot(struct expand *x, LLVMValueRef ptr);
/* Call a body where the builder stands; its type is read off the bodies. */
LLVMValueRef expand_call(struct expand *x, const char *body, LLVMValueRef *args, unsigned n);

/* copies.c: struct copies of a few words, without a loop. False: not one of those. */
bool copies_expand(struct expand *x, LLVMValueRef call);
/* ... a load or store of 16 bytes, as two of eight. */
void copies_split(struct expand *x, LLVMValueRef access);
/* arguments.c: the call stays, with private memory for its arguments. False when nothing is known
 * about an argument that may be shared. */
bool arguments_expand(struct expand *x, LLVMValueRef call, const char *name);
/* state.c: an access of what the call reads or changes outside of the program's memory, if it does. */
void state_access(struct expand *x, LLVMValueRef call, const char *name);
/* Is it known what the function does outside of its arguments? */
bool state_is_known(const char *name);

#endif
