/* cc/analyse/wrap.h - input functions that are called through pointers. */
#ifndef CC_ANALYSE_WRAP_H
#define CC_ANALYSE_WRAP_H

#include "cc/llvm.h"

/* Give every input function whose address is taken a wrapper that calls it, and that address. */
void wrap_inputs(LLVMModuleRef m);

#endif
