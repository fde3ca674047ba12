/* rt/modes/annotations.h - private to rt/modes. */
#ifndef RT_MODES_ANNOTATIONS_H
#define RT_MODES_ANNOTATIONS_H

/* Accesses of this thread are nobody's business: 1 from now on, -1 no longer. It nests. */
void annotations_ignore(int by);

#endif
