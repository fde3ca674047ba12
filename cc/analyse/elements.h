/* cc/analyse/elements.h - number the memory that may be shared. */
#ifndef CC_ANALYSE_ELEMENTS_H
#define CC_ANALYSE_ELEMENTS_H

#include "cc/analyse/pointsto.h"

/* Bytes of a node's objects that accesses take together. */
struct part {
	int32_t off, size;
	uint32_t label; /* parts of one element have labels of one set */
};

struct parts VEC_FIELDS(struct part);

struct elements {
	struct pointsto *pt;	 /* borrowed */
	VEC(struct parts) nodes; /* per node */
	VEC(uint32_t) up;	 /* per label: another one of its set, or itself */
	VEC(uint32_t) numbers;	 /* per label that stands for its set: the element's number */
};

void elements_init(struct elements *e, struct pointsto *pt);
void elements_deinit(struct elements *e);
/* Announce an access; after all have been announced, elements_number; then elements_find. */
void elements_add(struct elements *e, LLVMValueRef ptr, uint64_t size);
/* Put accesses together that may touch the same bytes, number from 0; returns how many there are. */
uint32_t elements_number(struct elements *e);
uint32_t elements_find(struct elements *e, LLVMValueRef ptr);

#endif
