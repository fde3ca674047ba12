/* explain/cure/waits.c - what might cure a deadlock.
 *
 * Locks: the blocks from a lock held to the lock waited for, of every waiting thread, all at once; units of
 * a semaphore likewise.
 * Waiting for a signal: from the last read to the wait; or the signal wakes all; or there is one. */
#include "explain/cure/finder.h"
#include "explain/find/stuck.h"
#include "explain/find/units.h"

#include <string.h>

/* A block that two threads have (both lock by one function) is one: twice, it would end where it
 * begins. */
static void add_once(struct cure *c, struct plait_constraint block)
{
	for (size_t i = 0; i < c->nconstraints; i++)
		if (memcmp(&c->constraints[i], &block, sizeof(block)) == 0)
			return;
	c->constraints[c->nconstraints++] = block;
}

static void find_deadlock(struct finder *fd)
{
	struct cure c = { .kind = BUG_DEADLOCK, .intruder = STEP_NONE, .other_from = STEP_NONE };

	for (uint32_t i = 0; i < fd->f->len && c.nconstraints < CURE_CONSTRAINTS; i++) {
		uint32_t held = units_held(fd->f, i).first;

		if (fd->f->data[i].pending && step_is_acquire(&fd->f->data[i]))
			held = cure_held(fd->f, i);
		if (held == STEP_NONE)
			continue;
		c.from = held;
		c.to = i;
		add_once(&c, finder_block(&fd->f->data[held], &fd->f->data[i]));
	}
	if (c.nconstraints)
		vec_push(fd->out, c);
}

static bool waits_for_signal(const struct step *e)
{
	return e->kind == PLAIT_EV_WAIT || e->kind == PLAIT_EV_WOKEN;
}

/* The last signal, by another thread, to what step i waits for; STEP_NONE. */
static uint32_t last_signal(const struct steps *s, uint32_t i)
{
	for (uint32_t k = i; k-- > 0;) {
		const struct step *e = &s->data[k];

		if ((e->kind == PLAIT_EV_SIGNAL || e->kind == PLAIT_EV_BROADCAST) &&
		    e->address == s->data[i].address && e->thread != s->data[i].thread)
			return k;
	}
	return STEP_NONE;
}

static struct plait_constraint broadcast_at(const struct step *signal)
{
	return (struct plait_constraint){ .kind = PLAIT_CONSTRAINT_BROADCAST,
					  .a = finder_place(signal),
					  .b = finder_place(signal) };
}

/* It woke one of several who waited, and perhaps the wrong one: it might wake them all. */
static void add_broadcast(struct finder *fd, uint32_t signal, uint32_t waiting)
{
	struct cure c = { .kind = BUG_LOST_WAKEUP,
			  .from = signal,
			  .to = waiting,
			  .intruder = STEP_NONE,
			  .other_from = STEP_NONE,
			  .nconstraints = 1 };

	if (signal == STEP_NONE || fd->f->data[signal].kind != PLAIT_EV_SIGNAL)
		return;
	c.constraints[0] = broadcast_at(&fd->f->data[signal]);
	vec_push(fd->out, c);
	for (uint32_t i = 0; i < fd->f->len && c.nconstraints < CURE_CONSTRAINTS; i++)
		if (fd->f->data[i].kind == PLAIT_EV_SIGNAL &&
		    fd->f->data[i].address == fd->f->data[signal].address)
			add_once(&c, broadcast_at(&fd->f->data[i]));
	if (c.nconstraints > 1)
		vec_push(fd->out, c); /* all signals to this condition */
}

/* What it looked at was changed, and nobody signalled: with a signal just there, does it go on? */
static void add_wake(struct finder *fd)
{
	struct stuck k = stuck_find(fd->f);
	struct cure c = { .kind = BUG_LOST_WAKEUP,
			  .from = k.change,
			  .to = k.wait,
			  .intruder = STEP_NONE,
			  .other_from = STEP_NONE,
			  .nconstraints = 1 };

	if ((k.kind != STUCK_SILENT && k.kind != STUCK_UNGUARDED) || !fd->f->data[k.change].site ||
	    !fd->f->data[k.wait].site)
		return;
	c.constraints[0] = (struct plait_constraint){ .kind = PLAIT_CONSTRAINT_WAKE,
						      .a = finder_place(&fd->f->data[k.change]),
						      .b = finder_place(&fd->f->data[k.wait]) };
	vec_push(fd->out, c);
}

/* A thread waits for a signal that came too early, or that woke somebody else: from its last look
 * to the wait is a block, and so is what the signaller does under its lock. */
static void find_lost_wakeup(struct finder *fd)
{
	for (uint32_t i = (uint32_t)fd->f->len; i-- > 0;) {
		uint32_t k = i, signal = last_signal(fd->f, i);

		if (!fd->f->data[i].pending || !waits_for_signal(&fd->f->data[i]))
			continue;
		while (k-- > 0 && !(fd->f->data[k].thread == fd->f->data[i].thread &&
				    step_is_memory(&fd->f->data[k])))
			;
		/* without a signal since then none was lost */
		if (k != UINT32_MAX && signal != STEP_NONE && signal > k)
			finder_add_block(fd, k, i, false, signal, BUG_LOST_WAKEUP);
		add_broadcast(fd, signal, i);
		return;
	}
}

void finder_add_waits(struct finder *fd)
{
	find_lost_wakeup(fd);
	add_wake(fd);
	find_deadlock(fd);
}
