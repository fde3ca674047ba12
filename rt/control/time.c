/* rt/control/time.c - virtual time: deadlines, and clocks that the target reads.
 *
 * Time moves a little at each scheduling point and jumps to the earliest deadline when nobody else
 * can run. A deadline that has passed does not end its wait by itself: the thread becomes a
 * candidate, and being chosen is what makes the wait time out. */
#include "rt/control/engine.h"

/* Longer waits end early in a systematic search only. */
#define EAGER_LIMIT 2000000000ull

static uint64_t clock_reads, clock_writes;

void time_begin(void)
{
	/* the clock goes on from where the constructors left it: it never goes backwards */
	clock_reads = clock_writes = 0;
}

uint64_t control_now(void)
{
	return control.time;
}

/* A program that polls the clock must see it move, faster and faster while nothing else happens. */
uint64_t control_clock_read(void)
{
	uint64_t shift;

	if (clock_writes != control.writes) {
		clock_writes = control.writes;
		clock_reads = 0;
	}
	control.area->limits |= PLAIT_LIMIT_CLOCK;
	shift = ++clock_reads / 16;
	control.time += (uint64_t)CONTROL_POINT_NS << (shift < 20 ? shift : 20);
	return control.time;
}

bool time_has_deadline(const struct control_thread *t)
{
	return t->op.deadline && t->op.deadline != CONTROL_NEVER && !t->timed_out;
}

bool time_is_patient(const struct control_thread *t)
{
	return t == control_timers && t->op.deadline > control.time &&
	       control.world->timers_patient();
}

/* In eager runs waits end before their time. The wait for a timer that begins again does not: the
 * timer would strike for ever, and a strategy with priorities would let nobody else run. */
bool time_may_expire(const struct control_thread *t)
{
	if (t->op.deadline <= control.time)
		return true;
	if (t == control_timers && control.world->timers_periodic())
		control.area->limits |= PLAIT_LIMIT_TIMER;
	return control_asked(PLAIT_CONTROL_EAGER) &&
	       (control_logs() || t->op.deadline <= control.time + EAGER_LIMIT) &&
	       !(t == control_timers && control.world->timers_periodic());
}

void time_expire(struct control_thread *t)
{
	CONTROL_ASSERT(t->op.wait && !t->timed_out);
	t->timed_out = true;
	if (t->op.deadline != CONTROL_NEVER && t->op.deadline > control.time)
		control.time = t->op.deadline;
}
