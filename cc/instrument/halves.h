/* cc/instrument/halves.h - a module in two: functions that get no optimised code, and the others. */
#ifndef CC_INSTRUMENT_HALVES_H
#define CC_INSTRUMENT_HALVES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

struct err;

/* Are there enough functions marked "optnone", and may they leave the others? */
bool halves_are_worth_it(LLVMModuleRef m);
/* Make local functions hidden ones, so that either half may call them; their names get `suffix`. */
void halves_publish(LLVMModuleRef m, const char *suffix);
/* Keep the bodies of the functions that are marked, or of the others. */
struct err *halves_keep(LLVMModuleRef m, bool marked);

#endif
