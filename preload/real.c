/* preload/real.c - find the functions we stand in front of.
 *
 * dlsym() does not allocate when it succeeds, so this is safe inside a program's own malloc. It
 * takes the next definition, which may be another preloaded library's, and the newest version of
 * it. */
#include "preload/preload.h"

#include <dlfcn.h>

struct real real;

void real_resolve(void)
{
#define REAL(name, type, params) real.name = (type(*) params)dlsym(RTLD_NEXT, #name);
#include "preload/real.def"
#undef REAL
}
