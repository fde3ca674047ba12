/* rt/control/constraints.c - narrowing the candidates.
 *
 * BEFORE: a thread whose next event matches b waits until an event matching a has been executed.
 * ATOMIC: after an event matching a, no other thread runs until the same thread has executed one
 * that matches b, except while that thread cannot go on. READS (soft): a read matching b waits for
 * a write matching a, and until it has read, other writes to the address wait.
 *
 * With constraints present every access is a scheduling point, so that events can be held back
 * wherever they are. */
#include "rt/control/constraints.h"

#include "rt/control/control.h"

struct progress {
	uint32_t seen_a, seen_b; /* matches so far */
	bool done;
};
static struct progress progress[PLAIT_MAX_CONSTRAINTS];

void constraints_begin(void)
{
	uint32_t i;

	for (i = 0; i < PLAIT_MAX_CONSTRAINTS; i++)
		progress[i] = (struct progress){ 0 };
	control.atomic_holder = 0;
}

/* `ahead`: how many events of the thread come before (1 for a pending event). */
static bool matches(const struct plait_pattern *p, const struct control_thread *t, uint64_t index)
{
	uint64_t address = (uint64_t)t->op.object;

	if (p->thread != PLAIT_ANY && p->thread != t->task.id)
		return false;
	if (p->index && p->index != index)
		return false;
	if (p->site_low != PLAIT_ANY && (t->op.site < p->site_low || t->op.site > p->site_high))
		return false;
	return !p->address ||
	       (address <= p->address && p->address < address + (t->op.size ? t->op.size : 1));
}

static bool nth_ok(const struct plait_pattern *p, uint32_t seen)
{
	return p->nth == PLAIT_ANY || p->nth == seen + 1;
}

static bool forbids(const struct plait_constraint *c, const struct progress *p,
		    const struct control_thread *t)
{
	if (p->done)
		return false;
	switch (c->kind) {
	case PLAIT_CONSTRAINT_BEFORE:
		return matches(&c->b, t, t->events + 1) && nth_ok(&c->b, p->seen_b);
	case PLAIT_CONSTRAINT_LATE:
		return matches(&c->b, t, t->events + 1) && nth_ok(&c->b, p->seen_b);
	case PLAIT_CONSTRAINT_READS:
		if (!p->seen_a)
			return matches(&c->b, t, t->events + 1);
		/* the value is there: no other write until it has been read */
		return t->op.writes && !matches(&c->b, t, t->events + 1) &&
		       (!c->b.address || (uint64_t)t->op.object == c->b.address);
	default:
		return false;
	}
}

/* "Late" is a promise about the others only: when nobody else can run, it is kept. */
static bool late(const struct control_thread *t)
{
	uint32_t i;

	for (i = 0; i < control.area->nconstraints; i++)
		if (control.area->constraints[i].kind == PLAIT_CONSTRAINT_LATE &&
		    forbids(&control.area->constraints[i], &progress[i], t))
			return true;
	return false;
}

static bool allowed(const struct control_thread *t)
{
	uint32_t i;

	if (control.atomic_holder && control.atomic_holder != t->task.id + 1)
		return false;
	for (i = 0; i < control.area->nconstraints; i++)
		if (forbids(&control.area->constraints[i], &progress[i], t))
			return false;
	return true;
}

size_t constraints_filter(struct control_thread *me, struct sched_task **tasks, size_t n)
{
	size_t i, kept = 0, waiting = 0;

	(void)me;
	for (i = 0; i < n; i++) {
		kept += allowed((struct control_thread *)tasks[i]);
		waiting += late((struct control_thread *)tasks[i]);
	}
	if (!kept) {
		/* an atomic block whose thread waits for others gives way and breaks no promise */
		if (!control.atomic_holder && !waiting)
			control_note(PLAIT_UNCONTROLLED_CONSTRAINT);
		return n;
	}
	for (i = kept = 0; i < n; i++)
		if (allowed((struct control_thread *)tasks[i]))
			tasks[kept++] = tasks[i];
	return kept;
}

void constraints_executed(struct control_thread *me)
{
	uint32_t i;

	for (i = 0; i < control.area->nconstraints; i++) {
		const struct plait_constraint *c = &control.area->constraints[i];
		struct progress *p = &progress[i];
		bool a = matches(&c->a, me, me->events), b = matches(&c->b, me, me->events);

		if (c->kind == PLAIT_CONSTRAINT_ATOMIC) {
			if (b && control.atomic_holder == me->task.id + 1)
				control.atomic_holder = 0;
			else if (a && !control.atomic_holder)
				control.atomic_holder = me->task.id + 1;
		} else if (c->kind == PLAIT_CONSTRAINT_READS) {
			if (b && p->seen_a && !p->done) {
				p->done = true;
				control.area->reads_met++;
			}
		} else if (c->kind == PLAIT_CONSTRAINT_BEFORE && a && nth_ok(&c->a, p->seen_a)) {
			p->done = true;
		}
		p->seen_a += a;
		p->seen_b += b;
	}
}
