/* unplait/effects.h - what each kind of event does: the effects column of events.def as predicates.
 *
 * Runtime and tool both ask here, so that "is this a write?" has one answer. Ask about the kind
 * alone (plait_writes), or about one event whose result is known (plait_effects_of): a lock that
 * was not obtained has only read the state of the lock. */
#ifndef UNPLAIT_EFFECTS_H
#define UNPLAIT_EFFECTS_H

#include "unplait/abi.h"

#include <errno.h>
#include <stdbool.h>

enum plait_effect {
	EV_MEMORY = 1, /* the object is memory of the program, not a synchronisation object */
	EV_ACCESS = 2 | EV_MEMORY, /* loads or stores bytes of it (freeing a block does not) */
	EV_ATOMIC = 4,		   /* an access that the program declared atomic */
	EV_READS = 8,		   /* depends on the object's state */
	EV_WRITES = 16,		   /* changes the object's state */
	EV_ACQUIRES = 32,	   /* afterwards the thread holds the object */
	EV_RELEASES = 64,	   /* afterwards the thread no longer holds it */
	EV_TRIES = 128,		   /* may fail (result not 0); then it has only read */
	EV_STEP = 256,	  /* the control engine counts it; decisions are numbered by steps */
	EV_POINT = 512,	  /* a step before which the engine chooses who goes on */
	EV_BLOCKS = 1024, /* may wait until another thread has acted */
};

static const uint16_t plait_effects_table[PLAIT_EV_COUNT] = {
	0, /* PLAIT_EV_NONE */
#define EVENT(id, name, fields, effects) (effects),
#include "unplait/events.def"
#undef EVENT
};

/* Enum plait_effect bits of a kind; 0 for a number that is not a kind. */
static inline uint32_t plait_effects(uint32_t kind)
{
	return kind < PLAIT_EV_COUNT ? plait_effects_table[kind] : 0;
}

/* The same for one event with this result (0 or an errno). EOWNERDEAD hands the lock over. */
static inline uint32_t plait_effects_of(uint32_t kind, int64_t result)
{
	uint32_t effects = plait_effects(kind);

	if (effects & EV_TRIES && result && result != EOWNERDEAD)
		effects &= ~(uint32_t)(EV_WRITES | EV_ACQUIRES);
	return effects;
}

static inline bool plait_is_memory(uint32_t kind)
{
	return plait_effects(kind) & EV_MEMORY;
}

static inline bool plait_is_access(uint32_t kind)
{
	return (plait_effects(kind) & EV_ACCESS) == EV_ACCESS;
}

static inline bool plait_is_atomic(uint32_t kind)
{
	return plait_effects(kind) & EV_ATOMIC;
}

static inline bool plait_reads(uint32_t kind)
{
	return plait_effects(kind) & EV_READS;
}

static inline bool plait_writes(uint32_t kind)
{
	return plait_effects(kind) & EV_WRITES;
}

static inline bool plait_acquires(uint32_t kind)
{
	return plait_effects(kind) & EV_ACQUIRES;
}

static inline bool plait_releases(uint32_t kind)
{
	return plait_effects(kind) & EV_RELEASES;
}

static inline bool plait_is_step(uint32_t kind)
{
	return plait_effects(kind) & (EV_STEP | EV_POINT);
}

static inline bool plait_is_point(uint32_t kind)
{
	return plait_effects(kind) & EV_POINT;
}

static inline bool plait_may_block(uint32_t kind)
{
	return plait_effects(kind) & EV_BLOCKS;
}

#endif
