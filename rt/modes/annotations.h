/* rt/modes/annotations.h - private to rt/modes. */
#ifndef RT_MODES_ANNOTATIONS_H
#define RT_MODES_ANNOTATIONS_H

#include <stdint.h>

/* Accesses of this thread are nobody's business: 1 from now on, -1 no longer. It nests. */
void annotations_ignore(int by);

/* What was released into p happened before; what was done until now happens before what acquires it. */
void annotations_acquire(const void *p, uint32_t site);
void annotations_release(const void *p, uint32_t site);

#endif
