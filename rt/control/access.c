/* rt/control/access.c - memory accesses under control: which of them are scheduling points.
 *
 * Most are not: they are counted and hashed, and that is all (quick.h has the shortest way). An
 * access is a point if its site is one (learn.c finds out which are), if it is atomic, or if there
 * has been no point for long. While decisions are followed it is a point where the next one is due.
 *
 * Spinning: the same read (site, address, value) three times while nobody has written anything is
 * a loop that waits for another thread. A thread that spins is passed over until a write happens. */
#include "rt/control/clocks.h"
#include "rt/control/constraints.h"
#include "rt/control/handovers.h"
#include "rt/control/heap.h"
#include "rt/control/quick.h"
#include "rt/control/vectors.h"

enum { WORD = 16 }; /* the most bytes that one instruction accesses at once */

static bool is_point(uint32_t kind, uint32_t site)
{
	/* it may be an operation of the log */
	if (control.handovers && (plait_is_atomic(kind) || control.racing))
		return true;
	switch (control.rule) {
	case CONTROL_RULE_ALL:
		return true;
	case CONTROL_RULE_STEPS:
		return control.next_step <= rt_steps;
	case CONTROL_RULE_SITES:
		return plait_is_atomic(kind) || control_site_is_point(site) ||
		       rt_steps >= control.quiet_until;
	default:
		return false;
	}
}

void control_release(struct control_thread *me, uint32_t kind, uint32_t site, const void *object)
{
	struct control_op op = { .kind = kind, .site = site, .object = object, .writes = true };
	bool point = control.handovers || control.logged_signals ||
		     (control.rule == CONTROL_RULE_SITES ? learn_release_is_point(site)
							 : is_point(kind, site));

	if (point)
		control_point(me, &op);
	else
		control_step(me, &op);
}

/* ---- what is worked out beforehand ---- */

/* Somebody wants to see every access. */
static bool nothing_is_quick(void)
{
	return !control_active || control.vectors || control.hard_constraints || rt_writing ||
	       rt_before_access || control_logs() || (control.all_points && !control.fixed);
}

static enum control_rule rule(void)
{
	if (control.fixed && !control.hard_constraints && !control_logs())
		return CONTROL_RULE_STEPS;
	if (control.nalive < 2)
		return CONTROL_RULE_NONE;
	return control.all_points || control.hard_constraints ? CONTROL_RULE_ALL
							      : CONTROL_RULE_SITES;
}

void control_quick_begin(void)
{
	static const uint8_t no_points;
	const struct plait_control *a = control.area;
	bool learned;

	control.counting = control.nalive > 1 && !control.fixed;
	control.rule = rule();
	control.direct = !rt_writing && !rt_before_access;
	learned = control.rule == CONTROL_RULE_SITES && a->points == PLAIT_POINTS_LEARNED;
	control.point_bits = learned ? (const uint8_t *)a + PLAIT_CONTROL_POINTS : &no_points;
	control.point_mask = learned ? PLAIT_CONTROL_POINTS_SIZE - 1 : 0;
	control.learning = a->flags & (PLAIT_CONTROL_LEARN | PLAIT_CONTROL_PAIRS);
	control.noting = control.learning || clocks_on;
	control.simple = !control.fixed && !control.vectors && !control.handovers &&
			 !a->nconstraints && !control_logs();
	control_forget_candidates();
	control.quick_limit = nothing_is_quick() ? 0
			      : control.fixed && control.next_step < a->event_budget
				      ? control.next_step
				      : a->event_budget;
	control_be_quiet();
}

/* ---- an access ---- */

uint64_t control_noted[CONTROL_NOTED];

static bool noted_before(const struct control_thread *me, const void *p, uint32_t site)
{
	uint64_t key = control_noted_key(me, p, site), *slot = control_noted_slot(key);

	if (*slot == key)
		return true;
	*slot = key;
	return false;
}

/* At a point there is always something to learn: who reads whose value. */
void control_note_point(struct control_thread *me)
{
	const struct control_op *op = &me->op;

	if (noted_before(me, op->object, op->site)) {
		if (control.learning)
			learn_value(op->object, op->size, op->site, plait_reads(op->kind),
				    op->writes);
		return;
	}
	if (control.learning)
		learn_access(me, op->object, op->size, op->site, plait_reads(op->kind), op->writes);
	if (clocks_on)
		clocks_access(me, op->kind, op->object, op->size, op->site);
}

/* Publish it, in both places at once. */
static void fill_op(struct control_thread *me, uint32_t kind, const void *p, size_t size,
		    uint32_t site)
{
	bool writes = plait_writes(kind);

	me->op.kind = me->task.op.kind = kind;
	me->op.site = me->task.op.site = site;
	me->op.object = p;
	me->task.op.object = (uint64_t)p;
	me->op.size = me->task.op.size = (uint32_t)size;
	me->op.writes = me->task.op.writes = writes;
	me->task.op.focus = control.focusing && learn_is_focus(site);
	me->op.wait = NULL;
	me->op.cancellable = me->op.shared = me->op.logged = false;
	me->op.racing = false;
	me->op.signals = CONTROL_GOES_ON;
	me->op.deadline = 0;
}

/* No point, but something is watching every access. */
static __attribute__((noinline)) void access_slowly(struct control_thread *me, uint32_t kind,
						    const void *p, size_t size, uint32_t site)
{
	fill_op(me, kind, p, size, site);
	if (!vectors_allow(me, &me->op)) {
		control_access_point(me);
		return;
	}
	budget_event(me, site, p);
	control_executed(me, kind, site);
	vectors_executed(me, &me->op);
	if (control.hard_constraints) {
		me->frame = __builtin_frame_address(0);
		constraints_executed(me);
	}
}

/* No point. Out of the way of those that are. */
static __attribute__((noinline)) struct control_thread *
access_only(struct control_thread *me, uint32_t kind, const void *p, size_t size, uint32_t site)
{
	if (unlikely(control.vectors || control.hard_constraints ||
		     rt_steps >= control.area->event_budget))
		access_slowly(me, kind, p, size, site);
	else
		control_executed(me, kind, site);
	if (!control.noting || noted_before(me, p, site))
		return me;
	if (control.learning)
		learn_access(me, p, size, site, plait_reads(kind), plait_writes(kind));
	if (clocks_on)
		clocks_access(me, kind, p, size, site);
	return me;
}

struct control_thread *control_before_access(uint32_t kind, const void *p, size_t size,
					     uint32_t site)
{
	struct control_thread *me = control_self();

	if (!me)
		return NULL;
	if (!is_point(kind, site)) {
		me = access_only(me, kind, p, size, site);
	} else {
		if (size > WORD)
			control.area->limits |= PLAIT_LIMIT_COPY;
		fill_op(me, kind, p, size, site);
		handovers_mark_racing(&me->op);
		me = control_access_point(me);
	}
	if (unlikely(heap_touches_bad(p, size)))
		heap_misused(p, size, plait_writes(kind), site);
	return me;
}

void control_before_free(void *p, uint32_t site)
{
	struct control_thread *me = control_self();
	size_t size;

	if (!me)
		return;
	size = heap.size ? heap_usable(p) : 0;
	fill_op(me, PLAIT_EV_FREE, p, size ? size : 1, site);
	if (is_point(PLAIT_EV_FREE, site))
		control_access_point(me);
	else
		control_step(me, &me->op);
	heap_check_free(p, site);
	me->freeing = p;
}

void control_after_access(const void *p, uint32_t site, uint64_t value, bool wrote)
{
	struct control_thread *me = control_self();

	if (!me)
		return;
	if (wrote)
		control.writes++;
	else if (control.counting)
		control_spin_check(me, site, p, value);
}

void control_spin_check(struct control_thread *me, uint32_t site, const void *object,
			uint64_t value)
{
	control_spin_look(me, site, object, value);
}
