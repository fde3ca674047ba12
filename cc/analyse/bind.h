/* cc/analyse/bind.h - private to the points-to analysis: what a call does to pointers. */
#ifndef CC_ANALYSE_BIND_H
#define CC_ANALYSE_BIND_H

#include "cc/analyse/pointsto.h"

/* A call instruction. Calls through pointers are noted in pt->indirect. */
void bind_call(struct pointsto *pt, LLVMValueRef call);
/* The call may call `f`, which has a body. */
void bind_function(struct pointsto *pt, LLVMValueRef call, LLVMValueRef f);
/* The call may call `f`, which has none; NULL: a function nobody knows. */
void bind_unseen(struct pointsto *pt, LLVMValueRef call, LLVMValueRef f);
/* What the program has printed as a number may come back: so far that was left out. */
void bind_printed(struct pointsto *pt);

#endif
