/* rt/interpose/interpose.h - taking over libc's functions.
 *
 * For each line of libc.def, libplait exports the function's own name as one instruction,
 * `jmp *fn`, where fn is `hook_NAME` at first. Where the mode needs no hook (off: none; path: none
 * but threads and ways out) rt_init points fn at libc's function itself, which costs one
 * predictable jump and nothing else.
 * `real.NAME` is libc's function (dlsym/dlvsym(RTLD_NEXT), default symbol version), resolved by
 * interpose_init before anything can be called through it. */
#ifndef RT_INTERPOSE_INTERPOSE_H
#define RT_INTERPOSE_INTERPOSE_H

#include "rt/core/real.h"
#include "rt/core/rt.h"

#include <stdbool.h>

/* Resolve `real`, and get out of the way where our hooks are not wanted. */
enum interpose_wish {
	INTERPOSE_NONE,	     /* mode off */
	INTERPOSE_LIFE_ONLY, /* mode path: what INTERPOSE_LIFE lists */
	INTERPOSE_ALL,
};
void interpose_init(enum interpose_wish wish);
/* Somebody stands between the program and our names, and calls us. */
extern bool interpose_is_behind;
/* Every mode but off: a run that leaves by quick_exit ends with us, after its own handlers. */
void interpose_ends_init(void);
/* Mode control: get ready, and what the engine asks of us. */
void interpose_control_init(void);
extern const struct control_world interpose_world;

/* First line of every hook: libc's functions are known. */
void interpose_early(void);
#define HOOK_ENTER                                                                                 \
	do {                                                                                       \
		if (__builtin_expect(!real.pthread_create, 0))                                     \
			interpose_early();                                                         \
	} while (0)

/* The same for a hook that records: enter, and take the site of the call. */
__attribute__((always_inline)) static inline uint32_t hook_site(void)
{
	HOOK_ENTER;
	return rt_take_site();
}

int __pthread_key_create(pthread_key_t *, void (*)(void *)); /* no header has it */

/* hook_NAME, and where the exported name jumps to: rt/log has functions of its own. */
#define INTERPOSE(ret, name, params)                                                               \
	ret hook_##name params;                                                                    \
	extern ret(*interpose_##name) params;
#include "unplait/libc.def"
#undef INTERPOSE

#endif
