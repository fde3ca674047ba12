/* rt/control/quick.h - the accesses that are no scheduling points, which are most of them.
 *
 * They are counted and hashed, and a read is compared with the last one of its site (spinning).
 * These functions are inlined into the hooks. control_quick() says no, and has done nothing,
 * whenever an access needs more than that. What it asks for is worked out beforehand
 * (control_quick_begin), because it runs at every access. */
#ifndef RT_CONTROL_QUICK_H
#define RT_CONTROL_QUICK_H

#include "rt/control/engine.h"
#include "rt/control/heap.h"

enum {
	CONTROL_QUIET_MAX = 5000, /* steps without a choice, until an access is made a point */
	CONTROL_SPIN_COUNT = 2,	  /* repetitions */
	CONTROL_NOTED = 256,
};

/* No access must be a point for some time. */
static inline void control_be_quiet(void)
{
	control.quiet_until = rt_steps + CONTROL_QUIET_MAX + 1;
	control.quick_until = control.counting && control.quiet_until < control.quick_limit
				      ? control.quiet_until
				      : control.quick_limit;
}

/* The same thread, site, address and locks again teach nothing, as long as the site is no point: a
 * small cache of what was noted last spares most of the work. A run that looks for races must look
 * again after each release of the thread, and its salt changes then (clocks.c). */
extern uint64_t control_noted[CONTROL_NOTED];

static inline uint64_t control_noted_key(const struct control_thread *me, const void *p,
					 uint32_t site)
{
	return (uint64_t)p * 0x9e3779b97f4a7c15ull ^ (uint64_t)site << 20 ^ me->noted_salt ^
	       me->held_key;
}

static inline uint64_t *control_noted_slot(uint64_t key)
{
	return &control_noted[(key >> 44) % CONTROL_NOTED];
}

static inline bool control_site_is_point(uint32_t site)
{
	return control.point_bits[site / 8 & control.point_mask] >> site % 8 & 1;
}

/* A plain read or write by t, when it is no point and there is nothing to learn from it. */
static inline __attribute__((always_inline)) bool
control_quick(const struct rt_thread *t, uint32_t kind, const void *p, uint32_t site)
{
	struct control_thread *me;
	uint64_t key;

	if (unlikely(rt_steps >= control.quick_until || !t || (t->depth | t->in_signal)))
		return false;
	me = t->control;
	if (unlikely(!me || control_site_is_point(site) || heap_is_bad(p)))
		return false;
	if (control.noting) {
		key = control_noted_key(me, p, site);
		if (unlikely(*control_noted_slot(key) != key))
			return false;
	}
	control_executed(me, kind, site);
	return true;
}

/* The same read again, without a write by anybody in between. */
static inline __attribute__((always_inline)) void
control_spin_look(struct control_thread *me, uint32_t site, const void *p, uint64_t value)
{
	uint64_t key = ((uint64_t)p * 31 + site) * 31 + value;
	unsigned slot = site % CONTROL_SPIN_SLOTS;

	if (me->spin[slot].key != key || me->spin[slot].writes != control.writes) {
		me->spin[slot].key = key;
		me->spin[slot].writes = control.writes;
		me->spin[slot].count = 0;
	} else if (++me->spin[slot].count >= CONTROL_SPIN_COUNT) {
		spin_found(me, site);
	}
}

/* After an access. */
static inline __attribute__((always_inline)) void
control_quick_read(struct control_thread *me, const void *p, uint32_t site, uint64_t value)
{
	if (control.counting)
		control_spin_look(me, site, p, value);
}

static inline void control_quick_wrote(void)
{
	control.writes++;
}

#endif
