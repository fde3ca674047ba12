/* cc/instrument/full.h - the full variant: a hook performs each access. */
#ifndef CC_INSTRUMENT_FULL_H
#define CC_INSTRUMENT_FULL_H

#include "cc/llvm.h"

struct hooks;
struct plan;

/* The access of one plan; the builder stands before it. Other plans are left alone. */
void full_access(struct hooks *h, const struct plan *plan);
/* Does a hook perform this read-modify-write? Those of floating point are announced as ranges. */
bool full_has_rmw(LLVMValueRef at);

#endif
