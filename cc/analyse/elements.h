/* cc/analyse/elements.h - number the classes of memory that may be shared. */
#ifndef CC_ANALYSE_ELEMENTS_H
#define CC_ANALYSE_ELEMENTS_H

#include "cc/analyse/pointsto.h"

/* Nodes connected by edges see the same objects, so they form one class; bytes that some access
 * takes together form one element of it. */
struct elements {
	struct pointsto *pt;
	VEC(struct cell) up;	/* per node: its class and where offset 0 lies in it */
	VEC(uint8_t) collapsed; /* per class: offsets mean nothing */
	VEC(struct part) parts; /* sorted by class and offset */
};

struct part {
	uint32_t class;
	int32_t off, end;
	uint32_t id;
};

void elements_init(struct elements *e, struct pointsto *pt);
void elements_deinit(struct elements *e);
/* The class and offset of a cell: equal for all pointers to the same field of the same objects. */
struct cell elements_class(struct elements *e, struct cell c);
/* Announce an access; after all have been announced, elements_number; then elements_find. */
void elements_add(struct elements *e, LLVMValueRef ptr, uint64_t size);
/* Merge what overlaps, number from 0; returns how many there are. */
uint32_t elements_number(struct elements *e);
uint32_t elements_find(struct elements *e, LLVMValueRef ptr);

#endif
