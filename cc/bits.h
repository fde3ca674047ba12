/* cc/bits.h - branch bits: plait_bits = plait_bits * 2 + taken; if it is full, flush. */
#ifndef CC_BITS_H
#define CC_BITS_H

#include "cc/llvm.h"

#include <stdbool.h>

struct bits {
	LLVMContextRef context;
	bool full;    /* the full variant passes a site */
	bool library; /* its sites are no constants, plait_bits is another module's */
};

/* Where the builder stands, inside `f`: note whether `taken` (an i1). */
void bits_push(const struct bits *s, LLVMBuilderRef b, LLVMValueRef f, LLVMValueRef taken,
	       LLVMValueRef site);

#endif
