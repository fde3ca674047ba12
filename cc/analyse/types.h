/* cc/analyse/types.h - what debug information says about the memory a pointer points to. */
#ifndef CC_ANALYSE_TYPES_H
#define CC_ANALYSE_TYPES_H

#include "cc/llvm.h"

#include <stdint.h>

struct program;
struct strbuf;

/* Once, before the first question: which local variables hold which values. */
void types_collect(struct program *p);

/* Write what the source would call the memory at `ptr`: "queue.filled" for a part of a variable,
 * "struct fifo::mut" for a part of something of known type. False when nothing is known. */
bool types_describe(struct program *p, LLVMValueRef ptr, struct strbuf *ret);

#endif
