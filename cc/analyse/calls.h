/* cc/analyse/calls.h - what is known about functions that are not part of the program. */
#ifndef CC_ANALYSE_CALLS_H
#define CC_ANALYSE_CALLS_H

#include "cc/llvm.h"

enum call_kind {
	CALL_OURS,    /* a function with a body, or an indirect call */
	CALL_NOTHING, /* an intrinsic, inline assembly, mathematics: no concern of a schedule */
	CALL_MEMCPY,  /* llvm.memcpy, llvm.memmove: operands 0 = to, 1 = from, 2 = bytes */
	CALL_MEMSET,  /* llvm.memset: operands 0 = to, 2 = bytes */
	CALL_ALLOC,   /* returns fresh memory */
	CALL_FREE,
	CALL_INPUT,    /* its result comes from outside the program */
	CALL_EXTERNAL, /* anything else */
};

enum call_kind call_classify(LLVMValueRef call);
/* The same for direct calls of this function. */
enum call_kind call_classify_function(LLVMValueRef f);
/* "malloc" -> "plait_malloc"; NULL when the name is not redirected. */
const char *call_redirection(const char *name);
/* Is this operator new (any form) / operator delete? */
bool call_is_new(const char *name);
bool call_is_delete(const char *name);

/* The instruction behind a call, where its result is known; NULL when there is no such single place
 * (the normal successor of an invoke may have other predecessors). */
LLVMValueRef call_behind(LLVMValueRef call);

#endif
