/* cc/instrument/shadow.h - the graph variant: a look at the shadow of what is about to be accessed. */
#ifndef CC_INSTRUMENT_SHADOW_H
#define CC_INSTRUMENT_SHADOW_H

#include "cc/llvm.h"

#include <stdbool.h>

struct shadow {
	LLVMContextRef context;
	bool library; /* its sites are no constants, plait_shadow is another module's */
};

struct shadow_access {
	bool write;
	LLVMValueRef address, site;
	unsigned bytes; /* 1, 2, 4, 8 */
	unsigned alignment;
};

/* Where the builder stands, inside `f`: report the access unless it is nothing new. */
void shadow_look(const struct shadow *s, LLVMBuilderRef b, LLVMValueRef f,
		 const struct shadow_access *a);

#endif
