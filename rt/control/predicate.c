/* rt/control/predicate.c - a condition over the program's variables is looked at while it runs.
 *
 * When: wherever a thread hands on what it has done (gives a lock back, posts, arrives, creates a
 * thread, ends; include/unplait/happens.def), and at the end of the program. Only while no thread holds
 * a lock: inside a critical section a condition may be broken for a while, and another thread that
 * releases something else meanwhile must not be blamed. Atomic operations are not looked at: which of
 * them come here depends on the points of a run, and a replay must fail where its run did.
 *
 * A run that breaks the condition ends there, like one that misuses memory (report.c). */
#include "rt/control/predicate.h"

#include "rt/control/engine.h"
#include "sched/predicate.h"

#include <sys/syscall.h>
#include <sys/uio.h>

bool predicate_on;
static struct predicate_memory memory;

static const struct plait_predicate *region(void)
{
	return (const struct plait_predicate *)((char *)control.area + PLAIT_CONTROL_PREDICATE_AT);
}

/* What a pointer leads to may be gone: the kernel looks. */
static bool read_memory(uint64_t address, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)address, n };

	return rt_syscall(SYS_process_vm_readv, rt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0),
			  (long)&here, 1, (long)&there, 1, 0) == (long)n;
}

void predicate_begin(void)
{
	predicate_on = region()->n > 0;
	memory = (struct predicate_memory){ .load_address = rt_run->modules[0].load_address,
					    .read = read_memory };
}

/* Does it make others know what the thread did before? */
static bool hands_on(uint32_t kind)
{
	enum {
		TAKE,
		TAKE_SHARED,
		TAKE_SECOND,
		RECEIVE,
		FORGET,
		JOIN,
		LOAD,
		STORE,
		EXCHANGE,
		FENCE,
		FIRST_TO_HAND_ON,
		GIVE,
		GIVE_SECOND,
		POST,
		ARRIVE,
		FORK,
		EXIT
	};
	switch (kind) {
#define HAPPENS(KIND, RULE)                                                                        \
	case PLAIT_EV_##KIND:                                                                      \
		return RULE > FIRST_TO_HAND_ON;
#include "unplait/happens.def"
#undef HAPPENS
	}
	return false;
}

static bool anybody_holds_a_lock(void)
{
	for (uint32_t i = 0; i < control.nalive; i++)
		if (control_alive[i]->held_key)
			return true;
	return false;
}

static void look(uint32_t site)
{
	if (!control_active || anybody_holds_a_lock() ||
	    predicate_evaluate(region(), &memory) != PREDICATE_BROKEN)
		return;
	control_predicate_broken(region()->text, site);
}

void predicate_sync(const struct rt_sync *s)
{
	struct control_thread *me = control_active && rt_self_ ? rt_self_->control : NULL;

	if (me && control.current == me && s->result == 0 && hands_on(s->kind))
		look(s->site);
}

void predicate_end(void)
{
	if (predicate_on)
		look(0);
}
