/* cc/instrument/places.h - accesses of the order variant: the program's own instructions, made patchable. */
#ifndef CC_INSTRUMENT_PLACES_H
#define CC_INSTRUMENT_PLACES_H

#include "cc/llvm.h"

#include <stdint.h>

/* Accesses of one element with nothing else between them are recorded in one go: the first enters,
 * for `count` of them, the last leaves. One alone does both. */
struct place {
	uint32_t site; /* of the first */
	unsigned count;
	bool enter, leave;
};

/* A load of n bytes (1, 2, 4, 8) from p, as an integer. `atomic`: other memory stays where it is.
 */
LLVMValueRef place_load(LLVMBuilderRef b, LLVMValueRef p, unsigned n, bool atomic,
			struct place place);
/* A store of the integer v of n bytes. */
void place_store(LLVMBuilderRef b, LLVMValueRef p, LLVMValueRef v, unsigned n, bool atomic,
		 struct place place);
/* No access: before one that stays as it is, or behind it. Both at once: a range is entered and not
 * held. */
void place_bare(LLVMBuilderRef b, struct place place);

/* The plain variant: in front of an atomic access of p that mode sync may record, and behind it. */
void place_sync_enter(LLVMBuilderRef b, LLVMValueRef p);
void place_sync_leave(LLVMBuilderRef b);
/* ... or in place of an atomic load of n bytes (1, 2, 4, 8), as an integer. */
LLVMValueRef place_sync_load(LLVMBuilderRef b, LLVMValueRef p, unsigned n);

#endif
