/* rt/control/spin.c - loops that wait for another thread.
 *
 * The same read (site, address, value) three times, while nobody has written anything, looks like a
 * loop that waits (quick.h). A thread that spins is passed over until somebody writes, because a
 * strategy that favours it would run it for ever.
 *
 * A systematic search may pass over a thread only if its loop makes no progress at all: a loop that
 * counts its attempts and then gives up does something else in the end. So there the thread must be
 * where it was before in every detail that we can see: its registers and its stack. What the thread
 * keeps elsewhere, in memory that no hook watches, is not compared. */
#include "rt/control/engine.h"
#include "rt/control/meet.h"

/* Everything from here to the stack's beginning, and the registers that a call preserves. */
__attribute__((noinline)) uint64_t spin_state(const struct control_thread *me)
{
	const struct plait_thread_info *info = &rt_run->threads[me->task.id];
	const uint64_t *at = __builtin_frame_address(0);
	const uint64_t *end = (const uint64_t *)(info->stack_low + info->stack_size);
	uint64_t h = 0xcbf29ce484222325ull, r[5];

	__asm__ volatile("mov %%rbx, (%0)\n\tmov %%r12, 8(%0)\n\tmov %%r13, 16(%0)\n\t"
			 "mov %%r14, 24(%0)\n\tmov %%r15, 32(%0)"
			 :
			 : "r"(r)
			 : "memory");
	for (unsigned i = 0; i < 5; i++)
		h = (h ^ r[i]) * 0x100000001b3ull;
	for (; at < end; at++)
		h = (h ^ *at) * 0x100000001b3ull;
	return h;
}

bool spin_repeats(struct control_thread *me, uint32_t site)
{
	unsigned slot = site % CONTROL_SPIN_SLOTS;
	uint64_t state = spin_state(me);
	bool same = me->repeat[slot].site == site && me->repeat[slot].state == state &&
		    me->repeat[slot].writes == control.writes;

	me->repeat[slot].site = site;
	me->repeat[slot].state = state;
	me->repeat[slot].writes = control.writes;
	return same;
}

__attribute__((noinline)) void spin_found(struct control_thread *me, uint32_t site)
{
	if (unlikely(meet_is_on()))
		meet_spins(me, site);
	if (control_logs() && !spin_repeats(me, site))
		return;
	me->spinning_since = control.writes;
	control.area->limits |= PLAIT_LIMIT_SPIN;
}
