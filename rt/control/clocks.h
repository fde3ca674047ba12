/* rt/control/clocks.h - data races of a controlled run, found while it runs: see clocks.c. */
#ifndef RT_CONTROL_CLOCKS_H
#define RT_CONTROL_CLOCKS_H

#include "rt/control/control.h"

extern bool clocks_on; /* this run looks for races */

/* Once per process, before the first run: memory that a wound-back process keeps. */
void clocks_init(void);
/* A run begins. */
void clocks_begin(void);

/* A synchronisation, in its true place; also threads, allocation. */
void clocks_sync(const struct rt_sync *s);
/* A plain access or a range, in its place; nothing for other kinds. */
void clocks_access(struct control_thread *me, uint32_t kind, const void *p, size_t size,
		   uint32_t site);
/* An atomic access that has been made. order: as the hooks have it (hooks.h). */
void clocks_atomic(uint32_t kind, const void *p, size_t size, uint32_t site, uint32_t order,
		   bool wrote);
void clocks_fence(uint32_t site, uint32_t order);
/* The heap has given out this block. */
void clocks_fresh(void *p);

#endif
