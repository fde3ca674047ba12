/* cc/expand/formats.h - what a constant format says about the arguments of printf and scanf. */
#ifndef CC_EXPAND_FORMATS_H
#define CC_EXPAND_FORMATS_H

#include "cc/llvm.h"

struct expand;

enum format_kind {
	FORMAT_NOTHING, /* no format, or it does not say */
	FORMAT_TEXT,	/* a string that is printed */
	FORMAT_POINTER, /* its address is printed, nothing more */
	FORMAT_BUFFER,	/* where sprintf prints to */
	FORMAT_NUMBER,	/* where scanf stores something of `bytes` bytes */
	FORMAT_WORD,	/* where it stores a string that fits `bytes` */
};

struct format {
	enum format_kind kind;
	LLVMValueRef most;     /* TEXT: no more bytes than this; NULL: to its end */
	unsigned bytes, index; /* NUMBER, WORD: size, and how many are assigned before it */
};

/* Argument `arg` of a call of `name`. */
enum format_kind formats_classify(LLVMValueRef call, const char *name, unsigned arg,
				  struct format *ret);
/* Before a call of sprintf: how many bytes it will print, with the end. */
LLVMValueRef formats_measure(struct expand *x, LLVMValueRef call, const char *name);

#endif
