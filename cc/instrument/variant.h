/* cc/instrument/variant.h - turn the merged module into one of its five variants. */
#ifndef CC_INSTRUMENT_VARIANT_H
#define CC_INSTRUMENT_VARIANT_H

#include "unplait/hooks.h"

struct err;
struct program;

/* Rename, stub and strip p->module so that it is variant `v` (PLAIT_VARIANT_*). Afterwards:
 * plain (full, when plain is absent) has all variables, constructors, assembly and the dispatch
 * stubs; the others have their function bodies only and refer to its variables and stubs. */
void variant_split(struct program *p, int v);
/* Optimise and write an object file. `opt` is the level of the last -O ('0'..'3', 's', 0). Full may
 * put a part of it into a second file, `hooks` (NULL: it must not). */
struct err *variant_emit(struct program *p, int v, char opt, bool sections, const char *path,
			 const char *hooks);

#endif
