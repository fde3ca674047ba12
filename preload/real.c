/* preload/real.c - find the functions we stand in front of.
 *
 * dlsym() does not allocate when it succeeds, so this is safe inside a program's own malloc. Two
 * condition-variable functions exist twice in glibc; the new ones carry version GLIBC_2.3.2. */
#include "preload/preload.h"

#include <dlfcn.h>
#include <string.h>

struct real real;

static void *find(const char *name)
{
	void *f = NULL;

	if (strcmp(name, "pthread_cond_wait") == 0 || strcmp(name, "pthread_cond_timedwait") == 0)
		f = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
	return f ? f : dlsym(RTLD_NEXT, name);
}

void real_resolve(void)
{
#define REAL(name, type, params) real.name = (type(*) params)find(#name);
#include "preload/real.def"
#undef REAL
}
