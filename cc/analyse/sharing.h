/* cc/analyse/sharing.h - which memory may two threads touch at once? */
#ifndef CC_ANALYSE_SHARING_H
#define CC_ANALYSE_SHARING_H

#include "cc/analyse/pointsto.h"

#include <stdbool.h>

struct program;

struct fn_indexes VEC_FIELDS(size_t);

struct sharing {
	struct program *p;
	struct pointsto *pt;
	VEC(uint64_t) threads;	 /* per function: bit 0 main, bit i an entry, bit 63 many */
	VEC(uint8_t) after;	 /* per function: may it run after the first creation? */
	VEC(uint8_t) may_create; /* per function: may it create a thread? */
	VEC(LLVMValueRef) entries;
	VEC(struct fn_indexes) callees; /* per function: whom it may call */
	uint64_t multi;			/* entries that may run more than once at a time */
	bool threaded;			/* does the program create threads at all? */
};

void sharing_run(struct sharing *s, struct program *p, struct pointsto *pt);
void sharing_deinit(struct sharing *s);
/* May the access of `size` bytes (0 = unknown) through ptr be shared? */
bool sharing_is_hot(struct sharing *s, LLVMValueRef ptr, uint64_t size);

#endif
