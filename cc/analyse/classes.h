/* cc/analyse/classes.h - nodes that may see the same objects, as one class. */
#ifndef CC_ANALYSE_CLASSES_H
#define CC_ANALYSE_CLASSES_H

#include "cc/analyse/pointsto.h"

struct classes {
	struct pointsto *pt;	/* borrowed */
	VEC(struct cell) up;	/* per node: its class and where offset 0 lies in it */
	VEC(uint8_t) collapsed; /* per class: offsets mean nothing */
};

void classes_init(struct classes *s, struct pointsto *pt);
void classes_deinit(struct classes *s);
/* The class and offset of a cell: equal for all pointers to the same field of the same objects. */
struct cell classes_find(struct classes *s, struct cell c);

#endif
