/* cc/analyse/cxx.h - what the C++ library does behind its headers: threads, trees, lists, strings. */
#ifndef CC_ANALYSE_CXX_H
#define CC_ANALYSE_CXX_H

#include "cc/analyse/pointsto.h"

struct summary;

#define CXX_STRING_SIZE 32

/* The virtual table of a class of the library, which c points to. */
void cxx_virtual_table(struct pointsto *pt, struct cell c, const char *name);

/* Constraints of a call of one of these functions. */
void cxx_bind(struct pointsto *pt, LLVMValueRef call, const struct summary *s);

/* What such a function touches beside its argument, and how much of it: the characters of a string
 * (0 = all), the other nodes of a tree or list. */
struct cell cxx_beyond(struct pointsto *pt, const struct summary *s, LLVMValueRef arg,
		       uint64_t *size);

#endif
