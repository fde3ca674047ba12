/* rt/control/constraints.c - narrowing the candidates.
 *
 * BEFORE: a thread whose next event matches b waits until an event matching a has been executed.
 * ATOMIC: after an event matching a, no other thread runs until the same thread has executed one
 * that matches b or has ended, except while that thread cannot go on; then the others run, but none
 * begins a block of its own if that can be helped, as if all blocks were under one lock. Where all
 * who are ready are held back and somebody sleeps, time passes: the sleeper may be the one they wait
 * for. Where a block ends in a loop (LAST), it goes on until its thread has left the loop. It has left
 * when it synchronises, or when several of its events in a row do not match b.
 * LATE: an event matching b waits as long as anybody else can run. A loop that only reads looks like
 * one that waits, so who is in it goes on for a while before anything gives way. READS and FIRST are
 * wishes for a write-to-read pair: the read waits for the write, and until it has read, other
 * writes to that address wait; or it wants the initial value, and the writes wait. A wish gives way
 * when nobody else can run; and, as the others may wait busily for the one that is held back, for good when it
 * has held somebody back at so many points: twice as many as a run has, within limits. BROADCAST
 * holds nobody back: it changes what a signal does. STACK only notes where an event happens. MEET has
 * a file of its own, meet.c.
 *
 * With constraints that are no wishes every access is a scheduling point, so that events can be
 * held back wherever they are. */
#include "rt/control/constraints.h"

#include "rt/control/engine.h"
#include "rt/control/meet.h"

struct progress {
	uint32_t seen_a, seen_b; /* matches so far */
	uint64_t address;	 /* READS: where the wanted write went; 0: not yet */
	bool done;
};
static struct progress progress[PLAIT_MAX_CONSTRAINTS];
/* Those that may hold a thread back: asked at every point, for every thread that is ready. */
static uint32_t holding[PLAIT_MAX_CONSTRAINTS], nholding;
static uint64_t held_back; /* points at which wishes kept somebody from running */
static unsigned sleepers;  /* times that the constraints let time pass */
static unsigned spinners;  /* ... and that they let those go who spin */
/* LAST: how many more events without a match until the block is over; 0: it has had no match yet */
static unsigned leaving;
enum { PATIENCE_MIN = 500, PATIENCE_MAX = 3000, SLEEPERS_MAX = 200, SPINNERS_MAX = 200 };
enum { LAST_EVENTS = 8 };

static struct plait_stack *stack_of(uint32_t i)
{
	return (struct plait_stack *)((char *)control.area + PLAIT_CONTROL_STACKS) + i;
}

/* ATOMIC holds others back through the engine's atomic_holder. */
static bool may_hold(uint32_t kind)
{
	return kind != PLAIT_CONSTRAINT_ATOMIC && kind < PLAIT_CONSTRAINT_BROADCAST;
}

void constraints_begin(void)
{
	uint32_t i;

	nholding = 0;
	control.atomic_holder = 0;
	leaving = 0;
	control.hard_constraints = false;
	held_back = 0;
	sleepers = spinners = 0;
	for (i = 0; i < control.area->nconstraints; i++) {
		progress[i] = (struct progress){ 0 };
		control.area->constraint_fate[i] = PLAIT_FATE_OPEN;
		if (may_hold(control.area->constraints[i].kind))
			holding[nholding++] = i;
		control.hard_constraints |=
			control.area->constraints[i].kind < PLAIT_CONSTRAINT_READS ||
			control.area->constraints[i].kind >= PLAIT_CONSTRAINT_STACK;
		if (control.area->constraints[i].kind == PLAIT_CONSTRAINT_STACK)
			stack_of(i)->step = 0;
	}
	meet_begin();
}

bool constraints_match(const struct plait_pattern *p, const struct control_thread *t,
		       uint64_t index)
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

/* Does it keep t from executing its pending event? */
static bool forbids(const struct plait_constraint *c, const struct progress *p,
		    const struct control_thread *t)
{
	bool b;

	if (p->done)
		return false;
	b = constraints_match(&c->b, t, t->events + 1);
	switch (c->kind) {
	case PLAIT_CONSTRAINT_BEFORE:
	case PLAIT_CONSTRAINT_LATE:
		return b && nth_ok(&c->b, p->seen_b);
	case PLAIT_CONSTRAINT_READS:
		if (!nth_ok(&c->b, p->seen_b))
			return false;
		if (!p->address)
			return b;
		/* the value is there: no other write until it has been read */
		return t->op.writes && !b && (uint64_t)t->op.object == p->address;
	default: /* FIRST */
		return nth_ok(&c->b, p->seen_b) && !b && constraints_match(&c->a, t, t->events + 1);
	}
}

/* How much gives way, the least first. "late" is a promise about the others only, and the rest
 * beyond it are wishes: both give way when nobody else can run. A block gives way to those who do
 * not begin one while its thread cannot go on. */
enum give_way { GIVE_NOTHING, GIVE_WISHES, GIVE_BLOCK };

static bool begins_block(const struct control_thread *t)
{
	uint32_t i;

	for (i = 0; i < control.area->nconstraints; i++) {
		const struct plait_constraint *c = &control.area->constraints[i];

		if (c->kind == PLAIT_CONSTRAINT_ATOMIC &&
		    constraints_match(&c->a, t, t->events + 1))
			return true;
	}
	return false;
}

static bool allowed(const struct control_thread *t, enum give_way give)
{
	bool soft = give == GIVE_NOTHING;
	uint32_t i;

	if (control.atomic_holder && control.atomic_holder != t->task.id + 1 &&
	    (give < GIVE_BLOCK || begins_block(t)))
		return false;
	for (i = 0; i < nholding; i++) {
		const struct plait_constraint *c = &control.area->constraints[holding[i]];

		if ((soft || c->kind < PLAIT_CONSTRAINT_LATE) &&
		    forbids(c, &progress[holding[i]], t))
			return false;
	}
	return true;
}

/* All stay when it returns 0. */
static size_t keep(struct sched_task **tasks, size_t n, enum give_way give)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (allowed((struct control_thread *)tasks[i], give))
			tasks[kept++] = tasks[i];
	return kept;
}

static bool is_wish(uint32_t kind)
{
	return kind == PLAIT_CONSTRAINT_READS || kind == PLAIT_CONSTRAINT_FIRST;
}

static void lose_patience(void)
{
	uint64_t patience = control.area->length * 2;
	uint32_t i;

	if (patience < PATIENCE_MIN)
		patience = PATIENCE_MIN;
	if (patience > PATIENCE_MAX)
		patience = PATIENCE_MAX;
	if (++held_back <= patience)
		return;
	for (i = 0; i < control.area->nconstraints; i++)
		if (is_wish(control.area->constraints[i].kind))
			progress[i].done = true;
}

static bool anyone(struct sched_task *const *tasks, size_t n, enum give_way give)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (allowed((const struct control_thread *)tasks[i], give))
			return true;
	return false;
}

bool constraints_want_time(struct sched_task *const *tasks, size_t n)
{
	return !anyone(tasks, n, control.atomic_holder ? GIVE_BLOCK : GIVE_WISHES) &&
	       sleepers++ < SLEEPERS_MAX;
}

bool constraints_want_spinners(struct sched_task *const *tasks, size_t n)
{
	return n && control.hard_constraints && !anyone(tasks, n, GIVE_NOTHING) &&
	       spinners++ < SPINNERS_MAX;
}

size_t constraints_filter(struct sched_task **tasks, size_t n)
{
	size_t kept = keep(tasks, n, GIVE_NOTHING);

	if (kept && kept < n)
		lose_patience();
	if (!kept)
		kept = keep(tasks, n, GIVE_WISHES);
	if (!kept && control.atomic_holder)
		kept = keep(tasks, n, GIVE_BLOCK);
	if (kept)
		return kept;
	/* an atomic block whose thread waits for others gives way and breaks no promise */
	if (!control.atomic_holder)
		control_note(PLAIT_UNCONTROLLED_CONSTRAINT);
	return n;
}

static void progress_reads(const struct plait_constraint *c, struct progress *p,
			   const struct control_thread *me, bool a, bool b)
{
	uint64_t address = (uint64_t)me->op.object;

	if (p->done)
		return;
	if (c->kind == PLAIT_CONSTRAINT_FIRST) {
		p->done = b && nth_ok(&c->b, p->seen_b);
	} else if (p->address && address == p->address && (b || me->op.writes)) {
		p->done = b; /* otherwise it was overwritten: try again */
		p->address = a ? address : 0;
	} else if (a && nth_ok(&c->b, p->seen_b)) {
		p->address = address;
	}
	control.area->reads_met += p->done;
}

/* The second has run before the first: where decisions are followed nobody asks the constraint, and
 * where nobody else can run it gives way. Either way it was not kept, and the run says so. */
static void progress_before(uint32_t i, bool first, bool second)
{
	if (second && !first) {
		control.area->constraint_fate[i] = PLAIT_FATE_OVERTAKEN;
		control_note(PLAIT_UNCONTROLLED_CONSTRAINT);
	} else if (first && control.area->constraint_fate[i] == PLAIT_FATE_OPEN) {
		control.area->constraint_fate[i] = PLAIT_FATE_MET;
	}
	progress[i].done = first;
}

bool control_wakes_all(const struct control_thread *me)
{
	uint32_t i;

	for (i = 0; i < control.area->nconstraints; i++) {
		const struct plait_constraint *c = &control.area->constraints[i];

		if (c->kind == PLAIT_CONSTRAINT_BROADCAST &&
		    constraints_match(&c->a, me, me->events))
			return true;
	}
	return false;
}

static void note_stack(uint32_t i, const struct control_thread *me, const void *frame)
{
	struct plait_stack *s = stack_of(i);

	s->nframes = rt_walk_frames(me->task.id, (uint64_t)frame, s->frames, PLAIT_MAX_FRAMES);
	s->step = rt_steps;
}

void constraints_freeing(const struct control_thread *me, const void *p, const void *frame)
{
	uint32_t i;

	for (i = 0; i < control.area->nconstraints; i++) {
		const struct plait_constraint *c = &control.area->constraints[i];

		if (c->kind == PLAIT_CONSTRAINT_STACK && c->flags & PLAIT_CONSTRAINT_FREE &&
		    c->a.thread == me->task.id && c->a.address == (uint64_t)p &&
		    nth_ok(&c->a, progress[i].seen_a++))
			note_stack(i, me, frame);
	}
}

/* An access while there is nobody to keep out begins no block: threads that are started later would
 * wait for its end. */
static bool is_alone(const struct control_thread *me)
{
	return control.nalive < 2 && plait_is_access(me->op.kind);
}

/* As if it had been signalled. Nobody may rely on not being woken. */
static void wake_at(const struct plait_pattern *place)
{
	uint32_t i;

	for (i = 0; i < control_nthreads(); i++) {
		struct control_thread *t = control_thread_at(i);

		if (!t->rt || t->ended || t->op.kind != PLAIT_EV_WOKEN || t->released ||
		    t->timed_out || t->op.site < place->site_low || t->op.site > place->site_high)
			continue;
		t->released = true;
		control_changed();
	}
}

/* An end of the block that its thread is in. Of a loop the last one counts, which shows later. */
static void end_block(const struct plait_constraint *c)
{
	if (c->flags & PLAIT_CONSTRAINT_LAST)
		leaving = LAST_EVENTS + 1; /* this event is one */
	else
		control.atomic_holder = 0;
}

static void leave_block(const struct control_thread *me)
{
	if (!leaving || control.atomic_holder != me->task.id + 1)
		return;
	leaving--;
	if (!leaving || !plait_is_access(me->op.kind)) {
		leaving = 0;
		control.atomic_holder = 0;
	}
}

void constraints_executed(struct control_thread *me)
{
	uint32_t i;

	if (me->op.kind == PLAIT_EV_EXIT && control.atomic_holder == me->task.id + 1) {
		control.atomic_holder = 0;
		leaving = 0;
	}
	meet_executed(me);
	for (i = 0; i < control.area->nconstraints; i++) {
		const struct plait_constraint *c = &control.area->constraints[i];
		struct progress *p = &progress[i];
		bool a = constraints_match(&c->a, me, me->events),
		     b = constraints_match(&c->b, me, me->events);

		if (c->kind == PLAIT_CONSTRAINT_ATOMIC) {
			if (c->flags & PLAIT_CONSTRAINT_SINGLE)
				continue;
			if (b && control.atomic_holder == me->task.id + 1)
				end_block(c);
			else if (a && !control.atomic_holder && !is_alone(me))
				control.atomic_holder = me->task.id + 1;
		} else if (c->kind == PLAIT_CONSTRAINT_STACK) {
			if (c->flags & PLAIT_CONSTRAINT_FREE)
				continue;
			if (a && nth_ok(&c->a, p->seen_a))
				note_stack(i, me, me->frame);
		} else if (c->kind == PLAIT_CONSTRAINT_WAKE) {
			if (a)
				wake_at(&c->b);
		} else if (is_wish(c->kind)) {
			progress_reads(c, p, me, a, b);
		} else if (c->kind == PLAIT_CONSTRAINT_BEFORE && !p->done) {
			progress_before(i, a && nth_ok(&c->a, p->seen_a),
					b && nth_ok(&c->b, p->seen_b));
		}
		p->seen_a += a;
		p->seen_b += b;
	}
	leave_block(me);
}
