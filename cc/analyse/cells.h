/* cc/analyse/cells.h - private to the points-to analysis: the cells of values. */
#ifndef CC_ANALYSE_CELLS_H
#define CC_ANALYSE_CELLS_H

#include "cc/analyse/pointsto.h"

/* May a value of this type be, or contain, an address? */
bool cell_carries(LLVMTypeRef t);
/* Is it known where the value points? */
bool cell_is_known(struct pointsto *pt, LLVMValueRef v);
/* The value points there, too. */
void cell_set(struct pointsto *pt, LLVMValueRef v, struct cell c);
/* base + indices: where a getelementptr points. */
struct cell cell_of_gep(struct pointsto *pt, LLVMValueRef gep);
/* What a function of the program returns points there. */
struct cell cell_of_return(struct pointsto *pt, LLVMValueRef f);
/* The function that an alias names. */
LLVMValueRef cell_strip_alias(LLVMValueRef f);

#endif
