/* rt/control/time.c - virtual time: deadlines, and clocks that the target reads.
 *
 * Time moves a little with each event and jumps to the earliest deadline when nobody else can run. A
 * deadline that has passed does not end its wait by itself: the thread becomes a candidate, and being
 * chosen is what makes the wait time out. */
#include "rt/control/engine.h"

/* A wait of this length or more is a guard: its timeout tells that something is wrong, and natively it
 * does not pass because another thread was a little slow. Sleeps and timers are no guards; they end
 * early up to the second limit. */
#define GUARD	    1000000000ull
#define EAGER_LIMIT 2000000000ull
enum { SPINS_BEFORE_GUARD = 200 };

static uint64_t clock_reads, clock_writes;

void time_begin(void)
{
	/* the clock goes on from where the constructors left it: it never goes backwards */
	clock_reads = clock_writes = 0;
	control.skipped = 0;
}

/* By events, which a replay counts alike, and not by scheduling points, most of which it passes by. */
uint64_t control_now(void)
{
	return control.time + rt_steps * CONTROL_EVENT_NS;
}

/* A program that polls the clock must see it move, faster and faster while nothing else happens. */
uint64_t control_clock_read(void)
{
	uint64_t shift, free_time = follow_free_time();

	if (free_time)
		return control_now() + free_time;
	if (clock_writes != control.writes) {
		clock_writes = control.writes;
		clock_reads = 0;
	}
	control.area->limits |= PLAIT_LIMIT_CLOCK; /* before the first thread it is an input */
	control.clock_looks++;
	shift = ++clock_reads / 16;
	control.time += (uint64_t)CONTROL_EVENT_NS << (shift < 20 ? shift : 20);
	return control_now();
}

bool time_has_deadline(const struct control_thread *t)
{
	return t->op.deadline && t->op.deadline != CONTROL_NEVER && !t->timed_out;
}

bool time_is_patient(const struct control_thread *t)
{
	return t == control_timers && t->op.deadline > control_now() &&
	       control.world->timers_patient();
}

static bool is_sleep(const struct control_thread *t)
{
	return t->op.kind == PLAIT_EV_SLEEP;
}

void time_published(struct control_thread *t)
{
	t->guard = !is_sleep(t) && t->op.deadline > control_now() &&
		   t->op.deadline - control_now() >= GUARD;
	t->skipped = control.skipped;
}

/* Time that others skipped by ending their waits early does not count for a guard. */
static bool has_passed(const struct control_thread *t)
{
	uint64_t skipped = t->guard ? control.skipped - t->skipped : 0;

	return t->op.deadline + skipped <= control_now();
}

/* In eager runs waits end before their time. A timer that begins again does so only when the others
 * have made some steps since: it would strike for ever, and a strategy with priorities would let
 * nobody else run. */
static bool may_end_early(const struct control_thread *t)
{
	bool timer = t == control_timers && control.world->timers_periodic();

	if (timer)
		control.area->limits |= PLAIT_LIMIT_TIMER;
	if (t->guard)
		control.area->limits |= PLAIT_LIMIT_GUARD;
	if (!control_asked(PLAIT_CONTROL_EAGER) || t->guard)
		return false;
	if (timer && (control_logs() || !control.world->timers_rested()))
		return false;
	return control_logs() || t->op.deadline <= control_now() + EAGER_LIMIT;
}

bool time_may_expire(const struct control_thread *t)
{
	uint32_t rule = control.area->timeouts;

	if (rule == PLAIT_TIMEOUTS_NEVER && !is_sleep(t))
		return false;
	if (rule == PLAIT_TIMEOUTS_ANY && !is_sleep(t))
		return true;
	return has_passed(t) || may_end_early(t);
}

/* Threads that yield or poll could be about to do something: they get some more turns before the
 * guard of another thread gives up. In a systematic search they have shown that they only repeat
 * themselves. */
bool time_is_guarded(const struct control_thread *t)
{
	static uint64_t writes, turns;

	if (!t->guard || control_logs())
		return false;
	turns = writes == control.writes ? turns + 1 : 0;
	writes = control.writes;
	return turns < SPINS_BEFORE_GUARD;
}

bool time_waits_for_children(const struct control_thread *t)
{
	return !control_logs() && t->op.deadline > control.time &&
	       control.world->wait_for_children(t->op.deadline - control.time);
}

void time_expire(struct control_thread *t, bool early)
{
	CONTROL_ASSERT(t->op.wait && !t->timed_out);
	t->timed_out = true;
	if (t->op.deadline == CONTROL_NEVER || t->op.deadline <= control_now())
		return;
	if (early)
		control.skipped += t->op.deadline - control_now();
	control.time += t->op.deadline - control_now();
}
