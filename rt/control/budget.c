/* rt/control/budget.c - a run that takes too long: does it still make progress?
 *
 * A run ends when it has had its scheduling points, or its events. That alone says nothing: a healthy
 * program may need more. `stopped` says that nothing changes any more, in one of two ways.
 *
 * Several threads: nobody has written anything for the second half of the run, and every thread that
 * can go on repeats its reads (quick.h).
 *
 * A thread for itself has no scheduling points, and its reads are not compared. When its events are
 * used up it goes on for PROOF events, and its state (the access, registers, stack) is compared with
 * one that was kept: after 1, 2, 4, 8 ... events another one (Brent). If it comes back to that state
 * and nothing was written meanwhile, it will do so for ever. */
#include "rt/control/engine.h"

enum { PROOF = 20000 };

static uint64_t seen_writes, seen_at; /* control.writes, and the point where it changed last */
static struct {
	uint64_t end; /* step; 0: not begun */
	uint64_t next, distance;
	uint64_t state, writes;
	uint32_t site;
	const void *p;
} proof;

void budget_begin(void)
{
	seen_writes = seen_at = 0;
	proof.end = 0;
}

static _Noreturn void used_up(bool stopped)
{
	control.area->stopped = stopped;
	control_hang(
		stopped ? "nothing changes any more: every thread that can go on repeats itself"
			: "the step budget is used up (--steps gives more)");
}

static bool all_spin(void)
{
	size_t i;

	for (i = 0; i < control.nalive; i++) {
		const struct control_thread *t = control_alive[i];

		if (t != control_timers && control_thread_ready(t) &&
		    t->spinning_since != control.writes)
			return false;
	}
	return true;
}

void budget_point(void)
{
	if (control.writes != seen_writes) {
		seen_writes = control.writes;
		seen_at = control.points;
	}
	/* a replay ends where the run ended: its events say so */
	if (likely(control.points <= control.area->point_budget) || control.fixed)
		return;
	used_up(control.points - seen_at > control.area->point_budget / 2 && all_spin());
}

static void keep(uint64_t state, uint32_t site, const void *p)
{
	proof.distance = proof.distance ? proof.distance * 2 : 1;
	proof.next = rt_steps + proof.distance;
	proof.state = state;
	proof.writes = control.writes;
	proof.site = site;
	proof.p = p;
}

/* Out of the way of those who have events left; always called from the same depth. */
static __attribute__((noinline)) void prove(const struct control_thread *me, uint32_t site,
					    const void *p)
{
	uint64_t state = spin_state(me);

	if (!proof.end) {
		proof.end = rt_steps + PROOF;
		proof.distance = 0;
		keep(state, site, p);
	} else if (rt_steps >= proof.end) {
		used_up(false);
	} else if (site == proof.site && p == proof.p && control.writes == proof.writes &&
		   state == proof.state) {
		used_up(true);
	} else if (rt_steps >= proof.next) {
		keep(state, site, p);
	}
}

void budget_event(struct control_thread *me, uint32_t site, const void *p)
{
	if (likely(rt_steps < control.area->event_budget))
		return;
	if (control_asked(PLAIT_CONTROL_CUT))
		control_log_ended();
	if (control.fixed || control.nalive > 1 || !p)
		used_up(false);
	prove(me, site, p);
}
