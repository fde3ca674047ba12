/* rt/interpose/interpose.c - taking over libc's functions; see interpose.h.
 *
 * The exported names are one jump each, so that mode off costs nothing to speak of, and so that
 * a hook's return address is its caller's: that is how callers without site numbers are known. They
 * are weak: where a library is linked statically and brings its own, two definitions are no error.
 * In libplait-sanitizer.a they are strong (see sanitizer.c). */
#include "rt/interpose/interpose.h"

#include "rt/core/rt.h"

#include <dlfcn.h>

#ifdef INTERPOSE_STRONG
#define BINDING ".globl "
#else
#define BINDING ".weak "
#endif

struct real_functions real, outside;

/* The pointers the jumps go through. Hidden, not static: the assembler must find them. */
#define INTERPOSE(ret, name, params)                                                               \
	ret(*interpose_##name) params = hook_##name;                                               \
	__asm__(".pushsection .text\n\t" BINDING #name "\n\t.type " #name ", @function\n" #name    \
		":\n\t.hidden jump_" #name "\n\t.globl jump_" #name "\njump_" #name                \
		":\n\tjmp *interpose_" #name "(%rip)\n\t.size " #name ", .-" #name                 \
		"\n\t.popsection");
#include "unplait/libc.def"
#undef INTERPOSE

#ifdef INTERPOSE_STRONG
extern __attribute__((weak)) int __interceptor_pthread_create(void);

/* What a sanitizer in this program has in front of libc, if there is one. */
static void *resolve_sanitizer(const char *name)
{
	char full[64] = "__interceptor_";
	size_t n = 14;

	if (!__interceptor_pthread_create)
		return NULL;
	while (*name && n < sizeof(full) - 1)
		full[n++] = *name++;
	full[n] = 0;
	return dlsym(RTLD_DEFAULT, full);
}
#else
/* Asking for a name that does not exist is no good idea: the answer calls malloc(), which may be
 * the program's own, which locks a mutex, which comes here. */
static void *resolve_sanitizer(const char *name)
{
	(void)name;
	return NULL;
}
#endif

/* Old glibc versions of a few functions have the same name and another ABI; the default version
 * is what RTLD_NEXT finds, except that it may find the oldest one for condition variables. */
static void *resolve(const char *name)
{
	void *p = resolve_sanitizer(name);

	if (__builtin_strcmp(name, "pthread_yield") == 0)
		name = "sched_yield"; /* glibc has it for old programs only */
	if (!p && __builtin_strncmp(name, "pthread_cond_", 13) == 0)
		p = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
	return p ? p : dlsym(RTLD_NEXT, name);
}

bool interpose_is_behind;

/* A sanitizer of the program's own, where we are only preloaded. */
static void find_who_comes_first(void)
{
	extern const char jump_pthread_create[];

	interpose_is_behind = dlsym(RTLD_DEFAULT, "pthread_create") != (void *)jump_pthread_create;
}

void interpose_init(enum interpose_wish wish)
{
	find_who_comes_first();
#define TAKE(ret, name, params, hooks)                                                             \
	real.name = (ret(*) params)resolve(#name);                                                 \
	if (!(hooks) && real.name)                                                                 \
		interpose_##name = real.name;
#define INTERPOSE(ret, name, params)	  TAKE(ret, name, params, wish == INTERPOSE_ALL)
#define INTERPOSE_LIFE(ret, name, params) TAKE(ret, name, params, wish != INTERPOSE_NONE)
#include "unplait/libc.def"
#undef INTERPOSE
#undef TAKE
	outside = real;
}

/* Somebody calls a taken-over function before any constructor of ours has run. */
void interpose_early(void)
{
#ifdef INTERPOSE_STRONG
	/* a sanitizer that is starting up: it comes before us, and may not be entered again */
	if (__interceptor_pthread_create) {
		interpose_init(INTERPOSE_ALL);
		return;
	}
#endif
	rt_init();
	if (!real.pthread_create)
		interpose_init(INTERPOSE_ALL);
}
