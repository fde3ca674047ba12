/* rt/control/clocks.c - data races of a controlled run, found while it runs.
 *
 * The machines are those of race/detect.c: sched/happens.c and sched/cells.c. One thread runs at a
 * time, so they need no locks, and the time of an event is its step. Accesses come from access.c and
 * choice.c, atomics from the hooks (they know the memory order), everything else through rt_on_sync,
 * which sees the same events that a recording has.
 *
 * What it costs. Most accesses repeat what the same thread did at the same place before, and quick.h
 * spares those by its cache of accesses that have been noted. A thread that releases something has its
 * share of that cache forgotten (struct control_thread, noted_salt), and with it goes every access
 * that must be looked at again: an access with no release since the last one like it teaches nothing
 * (sched/cells.c says why).
 *
 * Memory. A mapping of its own, shared, so that a process that is wound back for the next run
 * (again.c) neither saves nor restores it: each run clears what the last one used. When it is full,
 * or threads run that are not under control, looking ends, and the races region says so. */
#include "rt/control/clocks.h"

#include "rt/control/engine.h"
#include "rt/control/quick.h"
#include "rt/core/real.h"
#include "sched/cells.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define MEMORY_AT 0x2e0000000000ull /* beside again.c's */

enum { MEMORY_SIZE = 1 << 29, REPORTED = 256, ORDER_MASK = 15 };

struct memory {
	size_t used; /* beyond this header */
	char pad[4096 - sizeof(size_t)];
	char bytes[];
};

bool clocks_on;
static struct memory *memory;
static struct happens happens;
static struct cells cells;
static uint64_t reported[REPORTED]; /* pairs of sites, a small cache */

static struct plait_races *region(void)
{
	return (struct plait_races *)((char *)control.area + PLAIT_CONTROL_RACES_AT);
}

/* ---- memory ---- */

void clocks_init(void)
{
	long p =
		rt_syscall(SYS_mmap, (long)MEMORY_AT, MEMORY_SIZE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	memory = p == (long)MEMORY_AT ? (struct memory *)p : NULL;
}

static void *get(void *context, size_t bytes)
{
	struct memory *m = context;
	void *p = m->bytes + m->used;

	bytes = (bytes + 63) & ~63ull;
	if (bytes > MEMORY_SIZE - sizeof(*m) - m->used)
		return NULL;
	m->used += bytes;
	return p;
}

static void stop(void)
{
	clocks_on = false;
	region()->looked = 2;
}

/* ---- races ---- */

static struct plait_race *find_race(struct plait_races *r, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < r->n; i++)
		if ((r->race[i].first_site == a && r->race[i].second_site == b) ||
		    (r->race[i].first_site == b && r->race[i].second_site == a))
			return &r->race[i];
	return NULL;
}

_Static_assert((int)PLAIT_RACE_WRITES == CELL_WRITE && (int)PLAIT_RACE_ATOMIC == CELL_ATOMIC &&
		       (int)PLAIT_RACE_FREES == CELL_FREE,
	       "cells.h");

/* A free is no step: cells have the time of the next one. */
static uint64_t step_of(const struct cell_access *a)
{
	return a->time - (a->flags & CELL_FREE ? 1 : 0);
}

static void on_race(void *context, uint64_t address, const struct cell_access *first,
		    const struct cell_access *second)
{
	uint32_t low = first->site < second->site ? first->site : second->site;
	uint64_t key = (uint64_t)low << 32 | (first->site ^ second->site ^ low);
	uint64_t *slot = &reported[(key * 0x9e3779b97f4a7c15ull >> 32) % REPORTED];
	struct plait_races *r = region();
	struct plait_race *race;

	(void)context;
	if (*slot == key + 1)
		return;
	*slot = key + 1;
	race = find_race(r, first->site, second->site);
	if (race) {
		race->count++;
		return;
	}
	if (r->n == PLAIT_CONTROL_RACES_MAX) {
		r->dropped++;
		return;
	}
	r->race[r->n] = (struct plait_race){
		.first_site = first->site,
		.second_site = second->site,
		.first_thread = first->thread,
		.second_thread = second->thread,
		.first_step = step_of(first),
		.second_step = step_of(second),
		.address = address + (unsigned)__builtin_ctz(first->bytes & second->bytes),
		.flags = first->flags | (uint32_t)second->flags << PLAIT_RACE_SECOND_SHIFT,
		.count = 1,
	};
	r->n++; /* last: the run may end anywhere */
}

/* ---- what the run does ---- */

/* What a thread has noted since its last release is still good, and nothing else. */
static void salt(struct control_thread *me)
{
	uint32_t released = happens_clock_of(happens_knows(&happens, me->task.id), me->task.id);

	me->noted_salt = me->task.id + 1 + released * 0x9e3779b97f4a7c15ull;
}

static struct happens_event event(const struct control_thread *me, uint32_t kind, const void *p)
{
	return (struct happens_event){ .kind = kind,
				       .thread = me->task.id,
				       .time = (uint32_t)rt_steps,
				       .object = (uint64_t)p };
}

static void clear(uint64_t address, uint64_t size)
{
	if (cells_clear(&cells, address, size))
		memset(control_noted, 0, sizeof(control_noted));
}

static void start(const struct control_thread *me)
{
	const struct plait_thread_info *info = &rt_run->threads[me->task.id];

	clear(info->stack_low, info->stack_size);
}

static void freed(struct control_thread *me, const struct rt_sync *s)
{
	struct cell_access a = { .time = (uint32_t)rt_steps + 1,
				 .site = s->site,
				 .thread = (uint16_t)me->task.id };

	cells_free(&cells, (uint64_t)s->object, real.malloc_usable_size((void *)s->object), a);
}

/* Threads that are not under control run beside the others, and what they order is not known. */
static bool is_beyond_us(void)
{
	return happens.full || rt_steps >= UINT32_MAX - 1 ||
	       control.area->uncontrolled &
		       (PLAIT_UNCONTROLLED_EARLY_THREADS | PLAIT_UNCONTROLLED_FOREIGN);
}

void clocks_sync(const struct rt_sync *s)
{
	struct control_thread *me = control_active && rt_self_ ? rt_self_->control : NULL;
	struct happens_event e;

	if (!me || control.current != me)
		return;
	if (unlikely(is_beyond_us())) {
		stop();
		return;
	}
	switch (s->kind) {
	case PLAIT_EV_START:
		start(me);
		return;
	case PLAIT_EV_FREE:
		freed(me, s);
		return;
	case PLAIT_EV_ALLOC: /* clocks_fresh() has seen it */
		return;
	case PLAIT_EV_BENIGN:
		cells_benign(&cells, (uint64_t)s->object, s->n);
		return;
	case PLAIT_EV_IGNORE:
		me->race_ignores = (uint8_t)s->n;
		me->noted_salt ^= (uint64_t)s->n << 61; /* what was ignored is new afterwards */
		return;
	default:
		break;
	}
	e = event(me, s->kind, s->object);
	e.object2 = (uint64_t)s->object2;
	e.n = s->n;
	e.result = s->result;
	e.other = s->thread;
	happens_event(&happens, &e);
	salt(me);
}

void clocks_access(struct control_thread *me, uint32_t kind, const void *p, size_t size,
		   uint32_t site)
{
	struct cell_access a = { .time = (uint32_t)rt_steps,
				 .site = site,
				 .thread = (uint16_t)me->task.id,
				 .flags = plait_writes(kind) ? CELL_WRITE : 0 };

	if (unlikely(me->race_ignores & (plait_writes(kind) ? 2 : 1)))
		return;
	if (plait_is_access(kind) && !plait_is_atomic(kind))
		cells_access(&cells, (uint64_t)p, size, a);
}

/* A compare-exchange that failed has an order of its own; without one it is that of success,
 * less the release. */
static uint32_t order_of(uint32_t order, bool wrote)
{
	static const uint8_t reads[] = { 0, 1, 2, 0, 2, 5 };

	if (wrote)
		return order & ORDER_MASK;
	if (order >> 4)
		return (order >> 4) - 1;
	return order < sizeof(reads) ? reads[order] : 5;
}

void clocks_atomic(uint32_t kind, const void *p, size_t size, uint32_t site, uint32_t order,
		   bool wrote)
{
	struct control_thread *me = control_self();
	struct cell_access a;
	struct happens_event e;

	if (!me)
		return;
	e = event(me, kind, p);
	e.wrote = wrote;
	e.order = kind == PLAIT_EV_ATOMIC_RMW ? order_of(order, wrote) : order & ORDER_MASK;
	a = (struct cell_access){ .time = e.time,
				  .site = site,
				  .thread = (uint16_t)me->task.id,
				  .flags = CELL_ATOMIC |
					   (wrote && plait_writes(kind) ? CELL_WRITE : 0) };
	happens_acquire(&happens, &e);
	cells_access(&cells, (uint64_t)p, size, a);
	happens_release(&happens, &e);
	salt(me);
}

void clocks_fence(uint32_t site, uint32_t order)
{
	struct control_thread *me = control_self();
	struct happens_event e;

	(void)site;
	if (!me)
		return;
	e = event(me, PLAIT_EV_FENCE, NULL);
	e.order = order;
	happens_event(&happens, &e);
	salt(me);
}

/* All of it, since free() is a write of all of it. */
void clocks_fresh(void *p)
{
	if (control_self())
		clear((uint64_t)p, real.malloc_usable_size(p));
}

void clocks_begin(void)
{
	struct plait_races *r = region();

	clocks_on = memory && control.area->flags & PLAIT_CONTROL_RACES;
	if (r->looked) {
		r->n = r->looked = 0;
		r->dropped = r->lost = 0;
	}
	if (!clocks_on)
		return;
	memset(memory->bytes, 0, memory->used);
	memory->used = 0;
	r->looked = 1;
	happens_init(&happens, get, memory);
	/* a run that is recorded names the same races as its recording, whatever that costs */
	cells = (struct cells){ .happens = &happens,
				.race = on_race,
				.brief = !control.area->dir[0] };
	memset(reported, 0, sizeof(reported));
}
