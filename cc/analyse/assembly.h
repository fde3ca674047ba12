/* cc/analyse/assembly.h - inline assembly that threads talk through, as LLVM's own instructions. */
#ifndef CC_ANALYSE_ASSEMBLY_H
#define CC_ANALYSE_ASSEMBLY_H

#include "cc/llvm.h"

/* Replace what is understood in a module; the rest stays as it is. */
void assembly_raise(LLVMModuleRef m, LLVMTargetDataRef layout);

/* For assembly that stays: the memory it names. Argument `arg` of a call is an address of *bytes
 * bytes (0: not an address), which is written or only read. */
bool assembly_memory(LLVMValueRef call, unsigned arg, LLVMTargetDataRef layout, uint64_t *bytes,
		     bool *written);

/* What stays assembly: may it touch memory beside the operands that it names? */
bool assembly_may_touch(LLVMValueRef call);

#endif
