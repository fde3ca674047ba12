/* cc/instrument/instrument.h - carry out the plan in one variant. */
#ifndef CC_INSTRUMENT_INSTRUMENT_H
#define CC_INSTRUMENT_INSTRUMENT_H

#include "cc/llvm.h"

#include <stdint.h>

struct program;

/* Insert the calls of variant `v`; for plain, places around atomics. Call before variant_split. */
void instrument(struct program *p, int v);

#endif
