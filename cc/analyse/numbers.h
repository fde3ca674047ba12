/* cc/analyse/numbers.h - which integers may be addresses? Private to the points-to analysis. */
#ifndef CC_ANALYSE_NUMBERS_H
#define CC_ANALYSE_NUMBERS_H

#include "cc/analyse/pointsto.h"

/* Fill pt->addresses. */
void numbers_find(struct pointsto *pt);
/* An integer, or a vector of them, that never becomes an address. */
bool numbers_has(struct pointsto *pt, LLVMValueRef v);

#endif
