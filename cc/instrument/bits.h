/* cc/instrument/bits.h - branch bits: plait_bits = plait_bits * 2 + taken; if it is full, flush. And values:
 * if there is no room, flush; store at plait_values.next. */
#ifndef CC_INSTRUMENT_BITS_H
#define CC_INSTRUMENT_BITS_H

#include "cc/llvm.h"

#include <stdbool.h>

struct bits {
	LLVMContextRef context;
	bool full;    /* the full variant passes a site */
	bool library; /* its sites are no constants, plait_bits is another module's */
};

struct strbuf;

/* For assembly in `f` that calls what rt/modes/kept.S has: constraints for the registers that libc may
 * change and kept.S knows nothing of. */
void bits_add_clobbers(struct strbuf *sb, LLVMValueRef f);
/* Where the builder stands, inside `f`: note whether `taken` (an i1). */
void bits_push(const struct bits *s, LLVMBuilderRef b, LLVMValueRef f, LLVMValueRef taken,
	       LLVMValueRef site);
/* The same for a value, an integer of 1, 2, 4 or 8 bytes; path variant only. */
void values_push(const struct bits *s, LLVMBuilderRef b, LLVMValueRef f, LLVMValueRef value,
		 unsigned bytes);

#endif
