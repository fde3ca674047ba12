/* cc/places.h - accesses of the order variant: the program's own instructions, made patchable. */
#ifndef CC_PLACES_H
#define CC_PLACES_H

#include "cc/llvm.h"

#include <stdint.h>

/* A load of n bytes (1, 2, 4, 8) from p, as an integer. `atomic`: other memory stays where it is.
 */
LLVMValueRef place_load(LLVMBuilderRef b, LLVMValueRef p, unsigned n, bool atomic, uint32_t site);
/* A store of the integer v of n bytes. */
void place_store(LLVMBuilderRef b, LLVMValueRef p, LLVMValueRef v, unsigned n, bool atomic,
		 uint32_t site);
/* Before an access that stays as it is, and behind it. */
void place_enter(LLVMBuilderRef b, uint32_t site);
void place_leave(LLVMBuilderRef b, uint32_t site);
/* Both at once: a range is entered and not held. */
void place_pass(LLVMBuilderRef b, uint32_t site);

#endif
