/* rewind/lifter.h - talk to unplait-lift. */
#ifndef REWIND_LIFTER_H
#define REWIND_LIFTER_H

#include "rewind/code.h"

struct lifter;
struct err;

/* An error when the program is not there. */
struct err *lifter_new(struct lifter **ret);
void lifter_free(struct lifter *l);
/* Append the instructions of a range of code to the function. An error when it could not be done;
 * the lifter can be asked again. */
struct err *lifter_lift(struct lifter *l, uint64_t address, const uint8_t *bytes, size_t len,
			struct function *f);

#endif
