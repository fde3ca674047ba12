/* rt/control/prints.h - private to control/: which thread printed which part of the output. */
#ifndef RT_CONTROL_PRINTS_H
#define RT_CONTROL_PRINTS_H

#include <stdbool.h>
#include <stdint.h>

extern bool prints_on; /* this run is asked to */

void prints_begin(void);
/* The thread has run until now: what is new belongs to it. */
void prints_note(uint32_t thread);

#endif
