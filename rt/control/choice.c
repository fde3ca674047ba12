/* rt/control/choice.c - the choice: who goes on.
 *
 * Every thread that does not run has published its next operation. A thread is a candidate when
 * that operation is ready, a predicate over the state machines; there are no wait queues. If nobody
 * is ready, the earliest deadline expires; if there is none either, this is a deadlock. */
#include "rt/control/quick.h"

#include "rt/control/clocks.h"
#include "rt/control/predicate.h"
#include "rt/control/constraints.h"
#include "rt/control/gone.h"
#include "rt/control/handovers.h"
#include "rt/control/meet.h"
#include "rt/control/prints.h"
#include "rt/control/turns.h"
#include "rt/control/vectors.h"
#include "sched/decisions.h"

bool control_active;
bool control_forked;
bool control_virtual;
struct control control;

uint64_t control_signals;
struct control_thread *control_timers;

static struct sched_task *ready[PLAIT_MAX_THREADS];
static struct control_thread *spinners[PLAIT_MAX_THREADS], *timed[PLAIT_MAX_THREADS];
static size_t nready, nspinners, ntimed;
/* Who wakes without a signal, because the log says so. */
static struct control_thread *woken;
/* What gather() found for this thread holds as long as it does nothing but access memory. */
static const struct control_thread *gathered;

bool control_wait_over(const struct control_thread *t)
{
	const struct control_wait *w = t->op.wait;

	return !w || w->ready(t) ||
	       ((t->timed_out || control_cancel_due(t)) && !(w->flags & CONTROL_NEEDS_MORE));
}

bool control_thread_ready(const struct control_thread *t)
{
	return control_wait_over(t) || control_signal_due(t) ||
	       (unlikely(control.logged_signals) && handovers_signal_due(t));
}

static void gather_once(void)
{
	size_t i;

	control.trusted = false;
	gathered = NULL;
	nready = nspinners = ntimed = 0;
	for (i = 0; i < control.nalive; i++) {
		struct control_thread *t = control_alive[i];

		if (!t->op.wait || control_thread_ready(t)) {
			if (t->spinning_since && t->spinning_since == control.writes)
				spinners[nspinners++] = t;
			else
				ready[nready++] = &t->task;
		} else if (time_has_deadline(t) && !time_is_patient(t)) {
			timed[ntimed++] = t;
		}
	}
}

/* Who could go on. A systematic search has to see the same every time; and that nobody can is said
 * only after a proper look. */
static void gather(void)
{
	control.trust = !control.fixed && !control_logs();
	gather_once();
	control.trust = false;
	if (!nready && control.trusted)
		gather_once();
}

bool control_all_stuck(void)
{
	gather();
	return !nready && !nspinners && !ntimed;
}

/* ---- choosing ---- */

/* Waits with a deadline become candidates too: when it has passed, at any time in eager runs, and
 * the earliest of them when nobody else can run, or when constraints hold back all the others. */
static struct control_thread *earliest_timed(void)
{
	struct control_thread *first = NULL;
	size_t i;

	for (i = 0; i < ntimed; i++)
		if (!first || timed[i]->op.deadline < first->op.deadline)
			first = timed[i];
	return first;
}

static void add_timed(void)
{
	struct control_thread *first = earliest_timed();
	size_t i;

	for (i = 0; i < ntimed; i++)
		if (time_may_expire(timed[i]))
			ready[nready++] = &timed[i]->task;
	if (!nready && first && !(nspinners && time_is_guarded(first)) &&
	    !time_waits_for_children(first))
		ready[nready++] = &first->task;
}

static void add_spinners(void)
{
	size_t i;

	for (i = 0; !nready && i < nspinners; i++)
		ready[nready + i] = &spinners[i]->task;
	if (!nready)
		nready = nspinners;
}

/* Who seems to spin stays a candidate while it is its turn. */
static void add_due_spinners(void)
{
	size_t i;

	if (!nready || ready[0] == &spinners[0]->task)
		return; /* nobody else is there: they are candidates */
	turns_rank(ready, nready);
	for (i = 0; i < nspinners; i++)
		if (turns_is_due(spinners[i], ready, nready))
			ready[nready++] = &spinners[i]->task;
}

static void obey_constraints(void)
{
	if (nspinners && constraints_want_spinners(ready, nready)) {
		nready = 0;
		add_spinners();
	} else if (ntimed && constraints_want_time(ready, nready)) {
		ready[0] = &earliest_timed()->task;
		nready = 1;
	}
	nready = constraints_filter(ready, nready);
}

/* Who could run while somebody is held back for a meeting: sleepers and busy waits come after those
 * who are ready as usual, and before the one who is held back. */
static void gather_to_meet(void)
{
	nready = meet_filter(ready, nready);
	if (meet_is_on()) {
		if (!nready)
			ntimed = meet_sleepers(timed, ntimed);
		add_timed();
		if (!nready)
			nready = meet_spinners(spinners, nspinners, ready);
	} else {
		add_timed();
		add_spinners();
	}
}

/* Access vectors and hand-overs judge everybody who could run at all: spinning, or after a timeout. */
static void obey_recorded(void)
{
	size_t i, late;

	woken = NULL;
	/* a thread that spins on memory waits for somebody else: nothing in the log says for whom */
	if (control.handovers && nspinners && nready) {
		if ((nready = handovers_filter(ready, nready, nready)))
			return;
		gather();
	}
	if (control.handovers && nspinners && ntimed) {
		for (nready = 0; nready < ntimed; nready++)
			ready[nready] = &timed[nready]->task;
		if ((nready = handovers_filter(ready, 0, nready)))
			return;
		gather();
	}
	for (i = 0; i < nspinners; i++)
		ready[nready++] = &spinners[i]->task;
	late = nready;
	for (i = 0; i < ntimed; i++)
		ready[nready++] = &timed[i]->task;
	if (!nready)
		return;
	if (control.vectors) {
		nready = vectors_filter(ready, late, nready);
		return;
	}
	nready = handovers_filter(ready, late, nready);
	if (!nready && !(woken = handovers_wake()) && !handovers_await_child())
		handovers_stuck();
}

static struct control_thread *ask(struct control_thread *me, bool me_ready)
{
	struct sched_view v = { .tasks = ready,
				.ntasks = nready,
				.all = control_tasks,
				.nall = control.nalive,
				.current = me ? &me->task : NULL,
				.current_ready = me_ready,
				.point = control.points };

	CONTROL_ASSERT(nready && nready <= control.nalive);
	if (unlikely(control.area->turns_len))
		turns_rank(ready, nready);
	return (struct control_thread *)sched_pick(&control.sched, &v);
}

static bool is_candidate(const struct control_thread *me)
{
	size_t i;

	for (i = 0; me && i < nready; i++)
		if (ready[i] == &me->task)
			return true;
	return false;
}

/* Would gather() find something else after the next access of me? */
static void note_gathered(const struct control_thread *me)
{
	size_t i;

	if (!control.simple || nspinners || ntimed || !nready || control_timers)
		return;
	for (i = 0; i < control.nalive; i++)
		if (control_alive[i]->op.wait && control_alive[i]->op.wait->flags & CONTROL_OUTSIDE)
			return;
	gathered = me;
}

/* Who goes on; `me` is NULL when the running thread has ended. */
struct control_thread *control_pick(struct control_thread *me)
{
	struct control_thread *t, *named;

	while (control.fixed && !decisions_prefix_over(me)) {
		if (control_logs()) {
			gather();
			add_timed();
			add_spinners();
		}
		t = decisions_follow(me, false, &named);
		if (control_logs() && named)
			decisions_log_choice(me, named, ready, nready);
		if (t)
			return t;
	}
	for (;;) {
		gather();
		if (control.vectors || control.handovers) {
			obey_recorded();
			if (!nready && control.handovers && !woken)
				woken = handovers_wake();
			if (woken) {
				decisions_record(DECISION_WAKE, woken->task.id);
				return woken;
			}
		} else if (unlikely(meet_is_on())) {
			gather_to_meet();
		} else {
			add_timed();
			add_spinners();
			if (unlikely(nspinners && control.area->turns_len))
				add_due_spinners();
		}
		if (!nready && control.handovers && handovers_ended())
			control_log_ended();
		if (!nready && !control.world->wait_outside(NULL)) {
			if (!meet_is_on())
				control_deadlock();
			meet_give_way();
		}
		if (!nready)
			continue;
		if (control.area->nconstraints)
			obey_constraints();
		t = ask(me, is_candidate(me));
		if (control_logs())
			decisions_log_choice(me, t, ready, nready);
		if (!ntimed || control_thread_ready(t)) {
			if (t != me)
				decisions_record(DECISION_SWITCH, t->task.id);
			return t;
		}
		time_expire(t, nready > 1);
		decisions_record(DECISION_SWITCH, t->task.id);
		if (control_thread_ready(t))
			return t;
	}
}

static void go(struct control_thread *me, struct control_thread *to)
{
	CONTROL_ASSERT(to != me && !to->ended);
	gathered = NULL;
	if (control_thread_ready(me))
		control.area->preemptions++;
	control.area->switches++;
	if (unlikely(prints_on))
		prints_note(me->task.id);
	control.current = to;
	control.area->current = to->task.id;
	gate_switch(&me->gate, &to->gate);
	threads_arrived();
}

/* Anybody but me, who is at no scheduling point. NULL: nobody can go on. */
static struct control_thread *meanwhile(struct control_thread *me)
{
	struct control_thread *t;

	if (control.fixed)
		return decisions_away_due() ? decisions_follow(me, true, &t) : NULL;
	gather();
	add_timed();
	if (control.area->nconstraints && nready)
		nready = constraints_filter(ready, nready);
	t = nready ? ask(me, is_candidate(me)) : NULL;
	if (!t || t == me)
		return NULL;
	if (!control_thread_ready(t))
		time_expire(t, true);
	if (!control_thread_ready(t))
		return NULL;
	decisions_record(DECISION_OUTSIDE, t->task.id);
	return t;
}

void control_away(struct control_thread *me, bool known)
{
	struct control_thread *to;

	if (control.vectors || control.atomic_holder)
		return;
	me->op.wait = NULL;
	me->spinning_since = control.writes;
	to = meanwhile(me);
	if (to && to != me) {
		if (!known)
			control_note(PLAIT_UNCONTROLLED_AWAY);
		go(me, to);
		/* what it does next comes after what the others did: that is one step later */
		if (known) {
			control_executed(me, PLAIT_EV_YIELD, 0);
			rt_record_sv(PLAIT_EV_YIELD, 0, 0);
		}
	}
	me->spinning_since = 0;
}

void control_op_executed(struct control_thread *me)
{
	if (unlikely(rt_steps >= control.area->event_budget) && control_asked(PLAIT_CONTROL_CUT))
		control_log_ended();
	control_executed(me, me->op.kind, me->op.site);
	if (control.vectors)
		vectors_executed(me, &me->op);
	if (control.handovers || control.logged_signals)
		handovers_executed(me, &me->op);
	if (control.area->nconstraints)
		constraints_executed(me);
	if (control.learning && me->op.object)
		learn_op(me);
	if (clocks_on)
		clocks_access(me, me->op.kind, me->op.object, me->op.size, me->op.site);
}

static void publish(struct control_thread *me, const struct control_op *op)
{
	if (op != &me->op)
		me->op = *op;
	me->task.op = (struct sched_op){ .kind = op->kind,
					 .site = op->site,
					 .object = (uint64_t)op->object,
					 .size = op->size,
					 .writes = op->writes,
					 .focus = control.focusing && learn_is_focus(op->site) };
	me->timed_out = me->interrupted = false;
	me->frame = __builtin_frame_address(0);
	if (op->deadline && op->deadline != CONTROL_NEVER)
		time_published(me);
}

/* While decisions are followed, only where they say something (or everything is logged). */
static bool must_choose(void)
{
	if (control.fixed && !control_logs())
		return control.next_step <= rt_steps;
	return control.nalive > 1;
}

/* A handler runs when its thread has just been chosen, or cannot go on without it: never between
 * two accesses of a thread that nobody took the processor from, which on replay are no points. */
static bool take_signal(struct control_thread *me, bool arrived_now, bool *first)
{
	gathered = NULL; /* handlers do what they like */
	if ((!arrived_now && control_wait_over(me)) || !control.world->deliver(me))
		return false;
	/* the first may have come just before the call, which then waits all the same */
	if (me->interrupted && *first && me->op.signals != CONTROL_ENDS_SURELY)
		me->interrupted = control_choose(me, 2);
	*first = false;
	return !me->interrupted;
}

/* The same for one of the recorded run. */
static bool take_logged_signal(struct control_thread *me)
{
	gathered = NULL;
	return handovers_take_signal(me);
}

/* A point at which there may be a choice: let the chosen thread go on. True: that was somebody
 * else, and the processor has come back. */
static bool choose(struct control_thread *me, bool access)
{
	struct control_thread *to;

	CONTROL_ASSERT(control.current == me);
	control_be_quiet();
	control.area->points_taken = ++control.points;
	budget_point();
	if (control.learning)
		learn_point(me);
	if (access && gathered == me && me->spinning_since != control.writes && !control_signals) {
		to = ask(me, true);
		if (to != me)
			decisions_record(DECISION_SWITCH, to->task.id);
	} else {
		to = control_pick(me);
		if (access && to == me)
			note_gathered(me);
	}
	if (to == me)
		return false;
	go(me, to);
	return true;
}

void control_choice_before(struct control_thread *me, const struct control_op *op)
{
	publish(me, op);
	me->rt->depth++;
	if (must_choose())
		choose(me, false);
	me->rt->depth--;
}

void control_exit_point(void)
{
	struct control_thread *me = control_self();

	if (!me)
		return;
	control_choice_before(me, &(struct control_op){ .kind = PLAIT_EV_PROCESS_EXIT });
	handovers_take_rest(me);
	predicate_end();
}

bool control_point(struct control_thread *me, const struct control_op *op)
{
	bool first = true, away;

	CONTROL_ASSERT(control.current == me && !me->ended && !me->rt->depth);
	gathered = NULL;
	publish(me, op);
	me->rt->depth++;
	budget_event(me, me->op.site, NULL);
	do {
		away = (!control_thread_ready(me) || must_choose()) && choose(me, false);
	} while ((unlikely(control_signal_due(me)) && take_signal(me, away, &first)) ||
		 (unlikely(control.logged_signals) && take_logged_signal(me)));
	me->rt->depth--;
	control_op_executed(me);
	if (unlikely(me->interrupted))
		return false;
	if (unlikely(control_cancel_due(me)) &&
	    !(op->wait && (op->wait->flags & CONTROL_NEEDS_MORE)))
		pthread_testcancel(); /* does not return */
	return !me->timed_out || (me->op.wait && !(me->op.wait->flags & CONTROL_NEEDS_MORE) &&
				  me->op.wait->ready(me));
}

struct control_thread *control_access_point(struct control_thread *me)
{
	bool first = true, away;

	me->timed_out = me->interrupted = false;
	me->frame = __builtin_frame_address(0);
	me->rt->depth++;
	budget_event(me, me->op.site, me->op.object);
	do
		away = must_choose() && choose(me, true);
	while (unlikely(control_signal_due(me)) && take_signal(me, away, &first));
	me->rt->depth--;
	if (unlikely(control.logged_signals))
		handovers_end_spinning(me);
	if (away)
		sanitizer_look_again(&me->op);
	if (!control.simple) {
		control_op_executed(me);
		return me;
	}
	control_executed(me, me->op.kind, me->op.site);
	if (control.noting)
		control_note_point(me);
	return me;
}

void control_step(struct control_thread *me, const struct control_op *op)
{
	CONTROL_ASSERT(control.current == me && !op->wait);
	gathered = NULL;
	publish(me, op);
	if (control_logs())
		decisions_log_step(me);
	control_op_executed(me);
}

void control_changed(void)
{
	gathered = NULL;
	control.writes++;
}

/* Natively a yield is a wish, and nothing may come of it. A systematic search tries both; other
 * strategies ignore one in four. A loop that yields without progress lets the others go first in
 * any case. */
static bool yields(struct control_thread *me, uint32_t site)
{
	uint32_t strategy = control.area->strategy;

	if (control_logs())
		return spin_repeats(me, site);
	return control.fixed || !control.simple || strategy == PLAIT_STRATEGY_FAIR ||
	       strategy == PLAIT_STRATEGY_STAY || sched_choose(&control.sched, 4);
}

void control_yield(struct control_thread *me, uint32_t kind, uint32_t site)
{
	if (unlikely(meet_is_on()))
		meet_spins(me, site);
	if (yields(me, site)) {
		me->spinning_since = control.writes;
		if (!control.fixed)
			sched_yielded(&control.sched, &me->task);
	}
	control_point(me, &(struct control_op){ .kind = kind, .site = site });
	me->spinning_since = 0;
}

bool control_trusts(void)
{
	control.trusted |= control.trust;
	return control.trust;
}

bool control_has_fibers(void)
{
	return control_active && !control.current->gate.native;
}

bool control_asked(enum plait_control_flags flag)
{
	return control.area->flags & flag;
}

void control_stop(void)
{
	control_active = false;
	control.quick_until = 0;
}

void control_forget_candidates(void)
{
	gathered = NULL;
}

void control_note(enum plait_uncontrolled what)
{
	if (control.area)
		control.area->uncontrolled |= what;
}

void control_limit(enum plait_limit what)
{
	if (control.area)
		control.area->limits |= what;
}

/* ---- the beginning ---- */

static void on_sync(const struct rt_sync *s)
{
	if (clocks_on)
		clocks_sync(s);
	if (predicate_on)
		predicate_sync(s);
}

void control_begin(void)
{
	struct plait_control *a = control.area;
	struct sched_params params = { .strategy = a->strategy,
				       .depth = a->depth,
				       .seed = a->seed,
				       .length = a->length,
				       .weights = (const uint32_t *)((char *)a +
								     PLAIT_CONTROL_WEIGHTS),
				       .nweights = a->nweights };
	struct rt_thread *self = rt_self();
	struct control_thread *me;

	sched_init(&control.sched, &params);
	threads_begin();
	time_begin();
	control.points = 0;
	control.writes = 1;
	control.all_points = a->points == PLAIT_POINTS_ALL;
	control.focusing = a->strategy == PLAIT_STRATEGY_SURW;
	rt_steps = 0;
	a->switches = 0; /* gdb may run the program again without the tool */
	decisions_begin();
	budget_begin();
	vectors_begin();
	handovers_begin();
	turns_begin();
	prints_begin();
	gone_begin();
	control.world->begin();
	me = control_thread_new(NULL, self);
	me->handle = pthread_self();
	control.current = me;
	a->gate_used = gate_begin(&me->gate, a->gate);
	constraints_begin();
	clocks_begin();
	predicate_begin();
	if (clocks_on || predicate_on)
		rt_on_sync = on_sync;
	control.world->watch_end(me);
	a->started = 1;
	control_active = true;
	control_quick_begin();
	if (control_log_is_strange)
		control_diverged(
			"the program was linked by another version of unplait: link it again");
}
