/* rt/control/engine.c - the choice: who goes on.
 *
 * Every thread that does not run has published its next operation. A thread is a candidate
 * when that operation is ready, a predicate over the state machines; there are no wait queues.
 * If nobody is ready, the earliest deadline expires; if there is none either, this is a deadlock.
 *
 * Decisions are recorded as "after so many events, thread t goes on" (sched/decisions.h) and
 * followed the same way, independent of which accesses were scheduling points. A list of decisions
 * that does not fit (names a thread that cannot run, or none where one is needed) is a divergence.
 */
#include "rt/control/quick.h"

#include "rt/control/constraints.h"
#include "rt/control/turns.h"
#include "rt/control/vectors.h"
#include "rt/interpose/interpose.h"
#include "sched/decisions.h"

#include <stdio.h>
#include <string.h>

enum { POINT_NS = 1000 };	  /* virtual time per scheduling point */
#define EAGER_LIMIT 2000000000ull /* longer waits never end early */

bool control_active;
struct control control;

static struct control_thread threads[PLAIT_MAX_THREADS];
static struct control_thread *alive[PLAIT_MAX_THREADS]; /* in order of birth */
static struct sched_task *ready[PLAIT_MAX_THREADS], *everybody[PLAIT_MAX_THREADS];
static struct control_thread *spinners[PLAIT_MAX_THREADS], *timed[PLAIT_MAX_THREADS];
static size_t nready, nspinners, ntimed;
/* What gather() found for this thread holds as long as it does nothing but access memory. */
static const struct control_thread *gathered;

static struct decision_reader replay;
static struct decision next;
static bool have_next;

/* ---- threads ---- */

struct control_thread *control_thread_new(struct control_thread *parent, struct rt_thread *rt)
{
	struct control_thread *t;

	if (!rt || rt->index >= PLAIT_MAX_THREADS)
		control_full("too many threads");
	t = &threads[rt->index];
	memset(t, 0, sizeof(*t));
	t->rt = rt;
	t->task.id = rt->index;
	t->task.op.kind = t->op.kind = parent ? PLAIT_EV_START : 0;
	t->signal_mask = parent ? parent->signal_mask : 0;
	rt->control = t;
	if (rt->index >= control.nthreads)
		control.nthreads = rt->index + 1;
	everybody[control.nalive] = &t->task;
	alive[control.nalive++] = t;
	control_quick_begin();
	if (control.nalive > control.area->max_alive)
		control.area->max_alive = control.nalive;
	control.area->nthreads = control.nthreads;
	sched_task_new(&control.sched, &t->task);
	vectors_thread_new(t, parent);
	turns_thread_new(t);
	return t;
}

static void forget(struct control_thread *t)
{
	size_t i;

	for (i = 0; alive[i] != t; i++)
		;
	memmove(&alive[i], &alive[i + 1], (control.nalive - i - 1) * sizeof(alive[0]));
	memmove(&everybody[i], &everybody[i + 1], (control.nalive - i - 1) * sizeof(everybody[0]));
	control.nalive--;
	control_quick_begin();
	t->ended = true;
}

void control_thread_drop(struct control_thread *t)
{
	forget(t);
	t->joined = true;
}

struct control_thread *control_thread_find(pthread_t handle)
{
	size_t i;

	for (i = control.nthreads; i-- > 0;)
		if (threads[i].rt && !threads[i].joined && threads[i].handle == handle)
			return &threads[i];
	return NULL;
}

size_t control_nthreads(void)
{
	return control.nthreads;
}

struct control_thread *control_thread_at(size_t i)
{
	return &threads[i];
}

size_t control_nalive(void)
{
	return control.nalive;
}

static bool wait_over(const struct control_thread *t)
{
	const struct control_wait *w = t->op.wait;

	return !w || w->ready(t) ||
	       ((t->timed_out || control_cancel_due(t)) && !(w->flags & CONTROL_NEEDS_MORE));
}

bool control_thread_ready(const struct control_thread *t)
{
	return wait_over(t) || control_signal_due(t);
}

/* ---- decisions ---- */

static void record(uint32_t kind, uint32_t value)
{
	struct decision d = { .step = rt_steps, .kind = kind, .value = value };

	if (control.decisions_next + DECISION_MAX_BYTES > control.decisions_end)
		control_full("the list of decisions");
	control.decisions_next = decision_write(control.decisions_next, &d, control.decisions_last);
	control.decisions_last = rt_steps;
	control.area->decisions_len =
		(uint64_t)(control.decisions_next -
			   ((uint8_t *)control.area + PLAIT_CONTROL_DECISIONS));
}

/* Step to the next recorded decision; at their end a prefix hands over to the strategy. */
static void advance(void)
{
	have_next = decision_read(&replay, &next);
	control.next_step = have_next ? next.step : UINT64_MAX;
	if (!have_next && (control.area->flags & PLAIT_CONTROL_PREFIX))
		control.fixed = false;
	control_quick_begin();
}

/* Somebody wants to see every access. */
static bool nothing_is_quick(void)
{
	const struct plait_control *a = control.area;

	return !control_active || control.vectors || control.hard_constraints || rt_writing ||
	       rt_before_access || (a->flags & PLAIT_CONTROL_LOG) ||
	       (control.all_points && !control.fixed);
}

static enum control_rule rule(void)
{
	if (control.fixed && !control.hard_constraints &&
	    !(control.area->flags & PLAIT_CONTROL_LOG))
		return CONTROL_RULE_STEPS;
	if (control.nalive < 2)
		return CONTROL_RULE_NONE;
	return control.all_points || control.hard_constraints ? CONTROL_RULE_ALL
							      : CONTROL_RULE_SITES;
}

/* No access must be a point for some time. */
static void be_quiet(void)
{
	control.quiet_until = rt_steps + CONTROL_QUIET_MAX + 1;
	control.quick_until = control.counting && control.quiet_until < control.quick_limit
				      ? control.quiet_until
				      : control.quick_limit;
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
	control.noting = a->flags & (PLAIT_CONTROL_LEARN | PLAIT_CONTROL_PAIRS);
	control.simple = !control.fixed && !control.vectors && !a->nconstraints &&
			 !(a->flags & PLAIT_CONTROL_LOG);
	gathered = NULL;
	control.quick_limit = nothing_is_quick() ? 0
			      : control.fixed && control.next_step < a->event_budget
				      ? control.next_step
				      : a->event_budget;
	be_quiet();
}

static void expire(struct control_thread *t)
{
	t->timed_out = true;
	if (t->op.deadline != CONTROL_NEVER && t->op.deadline > control.time)
		control.time = t->op.deadline;
}

static bool has_deadline(const struct control_thread *t)
{
	return t->op.deadline && t->op.deadline != CONTROL_NEVER && !t->timed_out;
}

/* A watchdog that is not due is no way to go on. */
static bool patient(const struct control_thread *t)
{
	return t == control.timers && t->op.deadline > control.time && timers_patient();
}

static void gather_once(void)
{
	size_t i;

	control.io_trusted = false;
	gathered = NULL;
	nready = nspinners = ntimed = 0;
	for (i = 0; i < control.nalive; i++) {
		struct control_thread *t = alive[i];

		if (!t->op.wait || control_thread_ready(t)) {
			if (t->spinning_since && t->spinning_since == control.writes)
				spinners[nspinners++] = t;
			else
				ready[nready++] = &t->task;
		} else if (has_deadline(t) && !patient(t)) {
			timed[ntimed++] = t;
		}
	}
}

/* Who could go on. A systematic search has to see the same every time; and that nobody can is said
 * only after a proper look. */
static void gather(void)
{
	control.io_trust = !control.fixed && !(control.area->flags & PLAIT_CONTROL_LOG);
	gather_once();
	control.io_trust = false;
	if (!nready && control.io_trusted)
		gather_once();
}

/* The thread that the decisions name here, NULL when a timeout changed the picture: ask again. */
static struct control_thread *follow(struct control_thread *me, bool away)
{
	struct control_thread *t;

	if (!have_next || next.step != rt_steps || next.kind == DECISION_CHOICE ||
	    (next.kind == DECISION_OUTSIDE && !away)) {
		if (me && control_thread_ready(me))
			return me;
		gather();
		if (!nready && !nspinners && !ntimed && !io_wait())
			control_deadlock();
		control_diverged("the running thread cannot go on, and no decision says who does");
	}
	if (next.value >= control.nthreads || !threads[next.value].rt || threads[next.value].ended)
		control_diverged("a decision names a thread that does not exist here");
	t = &threads[next.value];
	if (next.kind == DECISION_WAKE)
		t->released = true;
	if (control_thread_ready(t)) {
		record(next.kind, next.value);
		advance();
		return t;
	}
	if (io_wait_for(t))
		return NULL;
	if (!has_deadline(t))
		control_diverged("a decision names a thread that cannot go on here");
	expire(t);
	record(next.kind, next.value);
	advance();
	return control_thread_ready(t) ? t : NULL;
}

/* ---- choosing ---- */

/* In eager runs waits end before their time; not that for a timer which begins again, or it would
 * strike for ever and a strategy with priorities let nobody else run. */
static bool may_be_early(const struct control_thread *t)
{
	return control.area->flags & PLAIT_CONTROL_EAGER &&
	       t->op.deadline <= control.time + EAGER_LIMIT &&
	       !(t == control.timers && timers_periodic());
}

/* Waits with a deadline become candidates too: when it has passed, at any time in eager runs, and
 * the earliest of them when nobody else can run. */
static void add_timed(void)
{
	struct control_thread *first = NULL;
	size_t i;

	if (!ntimed)
		return;
	for (i = 0; i < ntimed; i++) {
		struct control_thread *t = timed[i];

		if (t->op.deadline <= control.time || may_be_early(t))
			ready[nready++] = &t->task;
		if (!first || t->op.deadline < first->op.deadline)
			first = t;
	}
	if (!nready && first)
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

/* Access vectors judge everybody who could run at all: spinning, or after a timeout. */
static void obey_vectors(void)
{
	size_t i, late;

	for (i = 0; i < nspinners; i++)
		ready[nready++] = &spinners[i]->task;
	late = nready;
	for (i = 0; i < ntimed; i++)
		ready[nready++] = &timed[i]->task;
	if (nready)
		nready = vectors_filter(ready, late, nready);
}

static struct control_thread *ask(struct control_thread *me, bool me_ready)
{
	struct sched_view v = { .tasks = ready,
				.ntasks = nready,
				.all = everybody,
				.nall = control.nalive,
				.current = me ? &me->task : NULL,
				.current_ready = me_ready,
				.point = control.points };

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

	if (!control.simple || nspinners || ntimed || !nready || control.timers)
		return;
	for (i = 0; i < control.nalive; i++)
		if (alive[i]->op.wait && alive[i]->op.wait->flags & CONTROL_OUTSIDE)
			return;
	gathered = me;
}

static void log_choice(struct control_thread *me, struct control_thread *chosen);

/* Who goes on; `me` is NULL when the running thread has ended. */
static struct control_thread *pick(struct control_thread *me)
{
	struct control_thread *t;

	while (control.fixed) {
		bool log = control.area->flags & PLAIT_CONTROL_LOG;

		if (log) {
			gather();
			add_timed();
			add_spinners();
		}
		t = follow(me, false);
		if (log && t)
			log_choice(me, t);
		if (t)
			return t;
	}
	for (;;) {
		gather();
		if (control.vectors) {
			obey_vectors();
		} else {
			add_timed();
			add_spinners();
		}
		if (!nready && !io_wait())
			control_deadlock();
		if (!nready)
			continue;
		if (control.area->nconstraints)
			nready = constraints_filter(me, ready, nready);
		t = ask(me, is_candidate(me));
		if (control.area->flags & PLAIT_CONTROL_LOG)
			log_choice(me, t);
		if (!ntimed || control_thread_ready(t)) {
			if (t != me)
				record(DECISION_SWITCH, t->task.id);
			return t;
		}
		expire(t);
		record(DECISION_SWITCH, t->task.id);
		if (control_thread_ready(t))
			return t;
	}
}

static void log_entry(const struct control_thread *t, uint32_t thread, uint32_t flags)
{
	struct plait_choice *c;

	if (control.area->choices_len >= PLAIT_CONTROL_CHOICES_MAX)
		control_full("the list of choices");
	c = (struct plait_choice *)((char *)control.area + PLAIT_CONTROL_CHOICES);
	c += control.area->choices_len++;
	*c = (struct plait_choice){ .step = rt_steps,
				    .object = (uint64_t)t->op.object,
				    .thread = thread,
				    .site = t->op.site,
				    .kind = t->op.kind,
				    .flags = flags | (t->op.writes ? 4 : 0) };
}

static void log_one(struct control_thread *me, struct control_thread *t, bool chosen)
{
	log_entry(t, t->task.id, (chosen ? 1 : 0) | (t == me ? 2 : 0));
}

static void log_choice(struct control_thread *me, struct control_thread *chosen)
{
	size_t i;

	log_one(me, chosen, true);
	for (i = 0; i < nready; i++)
		if (ready[i] != &chosen->task)
			log_one(me, (struct control_thread *)ready[i], false);
}

static struct control_thread *leaving; /* ended, and not reaped yet */

/* The processor has come (back) to this thread. */
static void arrived(void)
{
	struct control_thread *t = leaving;

	leaving = NULL;
	if (!t || !t->detached || t->joined)
		return;
	t->joined = true;
	birth_reap(&t->gate, t->handle);
}

static void go(struct control_thread *me, struct control_thread *to)
{
	gathered = NULL;
	if (control_thread_ready(me))
		control.area->preemptions++;
	control.area->switches++;
	control.current = to;
	control.area->current = to->task.id;
	gate_switch(&me->gate, &to->gate);
	arrived();
}

/* Anybody but me, who is at no scheduling point. NULL: nobody can go on. */
static struct control_thread *meanwhile(struct control_thread *me)
{
	struct control_thread *t;

	if (control.fixed)
		return have_next && next.kind == DECISION_OUTSIDE && next.step == rt_steps
			       ? follow(me, true)
			       : NULL;
	gather();
	add_timed();
	if (control.area->nconstraints && nready)
		nready = constraints_filter(NULL, ready, nready);
	t = nready ? ask(me, is_candidate(me)) : NULL;
	if (!t || t == me)
		return NULL;
	if (!control_thread_ready(t))
		expire(t);
	if (!control_thread_ready(t))
		return NULL;
	record(DECISION_OUTSIDE, t->task.id);
	return t;
}

void control_away(struct control_thread *me)
{
	struct control_thread *to;

	if (control.vectors || control.atomic_holder)
		return;
	me->op.wait = NULL;
	me->spinning_since = control.writes;
	to = meanwhile(me);
	if (to && to != me) {
		control_note(PLAIT_UNCONTROLLED_AWAY);
		go(me, to);
	}
	me->spinning_since = 0;
}

static inline void note(struct control_thread *me)
{
	access_note(me, me->op.object, me->op.size, me->op.site,
		    me->op.kind != PLAIT_EV_WRITE && me->op.kind != PLAIT_EV_ATOMIC_WRITE,
		    me->op.writes);
}

static void executed(struct control_thread *me)
{
	control_executed(me, me->op.kind, me->op.site);
	if (control.vectors)
		vectors_executed(me, &me->op);
	if (control.area->nconstraints)
		constraints_executed(me);
	if (control.noting && me->op.object)
		note(me);
}

static void publish(struct control_thread *me, const struct control_op *op)
{
	if (op != &me->op)
		me->op = *op;
	me->task.op = (struct sched_op){ .kind = op->kind,
					 .site = op->site,
					 .object = (uint64_t)op->object,
					 .size = op->size,
					 .writes = op->writes };
	me->timed_out = me->interrupted = false;
	me->frame = __builtin_frame_address(0);
}

/* While decisions are followed, only where they say something (or everything is logged). */
static bool must_choose(void)
{
	if (control.fixed && !(control.area->flags & PLAIT_CONTROL_LOG))
		return control.next_step <= rt_steps;
	return control.nalive > 1;
}

/* A handler runs when its thread has just been chosen, or cannot go on without it: never between
 * two accesses of a thread that nobody took the processor from, which on replay are no points. */
static bool take_signal(struct control_thread *me, bool arrived_now, bool *first)
{
	gathered = NULL; /* handlers do what they like */
	if ((!arrived_now && wait_over(me)) || !signals_deliver(me))
		return false;
	/* the first may have come just before the call, which then waits all the same */
	if (me->interrupted && *first && me->op.signals != CONTROL_ENDS_SURELY)
		me->interrupted = control_choose(me, 2);
	*first = false;
	return !me->interrupted;
}

/* A point at which there may be a choice: let whoever is chosen go on. True: that was somebody
 * else, and the processor has come back. */
static bool choose(struct control_thread *me, bool access)
{
	struct control_thread *to;

	be_quiet();
	control.time += POINT_NS;
	control.area->points_taken = ++control.points;
	if (control.points > control.area->point_budget)
		control_hang("the step budget is used up");
	if (access && gathered == me && me->spinning_since != control.writes && !control.signals) {
		to = ask(me, true);
		if (to != me)
			record(DECISION_SWITCH, to->task.id);
	} else {
		to = pick(me);
		if (access && to == me)
			note_gathered(me);
	}
	if (to == me)
		return false;
	go(me, to);
	return true;
}

bool control_point(struct control_thread *me, const struct control_op *op)
{
	bool first = true, away;

	gathered = NULL;
	publish(me, op);
	me->rt->depth++;
	if (rt_steps >= control.area->event_budget)
		control_hang("the event budget is used up");
	do {
		away = (!control_thread_ready(me) || must_choose()) && choose(me, false);
	} while (unlikely(control_signal_due(me)) && take_signal(me, away, &first));
	me->rt->depth--;
	executed(me);
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
	if (rt_steps >= control.area->event_budget)
		control_hang("the event budget is used up");
	do
		away = must_choose() && choose(me, true);
	while (unlikely(control_signal_due(me)) && take_signal(me, away, &first));
	me->rt->depth--;
	if (!control.simple) {
		executed(me);
		return me;
	}
	control_executed(me, me->op.kind, me->op.site);
	if (control.noting)
		note(me);
	return me;
}

void control_step(struct control_thread *me, const struct control_op *op)
{
	gathered = NULL;
	publish(me, op);
	if (control.area->flags & PLAIT_CONTROL_LOG)
		log_entry(me, me->task.id, 16);
	executed(me);
}

void control_changed(void)
{
	gathered = NULL;
	control.writes++;
}

uint32_t control_choose(struct control_thread *me, uint32_t n)
{
	uint32_t value, i;

	if (n < 2)
		return 0;
	if (control.fixed) {
		if (!have_next || next.step != rt_steps || next.kind != DECISION_CHOICE ||
		    next.value >= n)
			control_diverged("no decision says which of several waiters wakes");
		value = next.value;
		turns_choose(n); /* it keeps step with the decisions */
		advance();
	} else {
		value = control.vectors ? vectors_choose(me, n) : turns_choose(n);
		if (value >= n)
			value = sched_choose(&control.sched, n);
	}
	record(DECISION_CHOICE, value);
	if (control.area->flags & PLAIT_CONTROL_LOG) {
		log_entry(me, value, 8 | 1);
		for (i = 0; i < n; i++)
			if (i != value)
				log_entry(me, i, 8);
	}
	return value;
}

void control_yield(struct control_thread *me, uint32_t kind, uint32_t site)
{
	me->spinning_since = control.writes;
	if (!control.fixed)
		sched_yielded(&control.sched, &me->task);
	control_point(me, &(struct control_op){ .kind = kind, .site = site });
	me->spinning_since = 0;
}

void control_note(enum plait_uncontrolled what)
{
	if (control.area)
		control.area->uncontrolled |= what;
}

/* ---- a thread's life ---- */

void control_thread_begin(struct control_thread *t)
{
	arrived();
	executed(t);
}

void control_thread_end(struct control_thread *t)
{
	struct control_thread *to;

	t->op = (struct control_op){ .kind = PLAIT_EV_EXIT, .object = t, .writes = true };
	executed(t);
	mutex_owner_ended(t);
	control_changed();
	rt_thread_end(t->rt);
	t->rt->depth = 1;
	if (!t->gate.main)
		rt_buffer_close(t->rt);
	forget(t);
	if (control.nalive == (control.timers != NULL))
		real.exit(0); /* as libc would, which cannot count our threads */
	control.area->points_taken = ++control.points;
	to = pick(NULL);
	control.area->switches++;
	control.current = to;
	control.area->current = to->task.id;
	leaving = t;
	gate_leave(&t->gate, &to->gate);
}

/* ---- time ---- */

uint64_t control_now(void)
{
	return control.time;
}

/* A program that polls the clock must see it move, faster and faster while nothing else happens. */
uint64_t control_clock_read(void)
{
	uint64_t shift;

	if (control.clock_writes != control.writes) {
		control.clock_writes = control.writes;
		control.clock_reads = 0;
	}
	shift = ++control.clock_reads / 16;
	control.time += (uint64_t)POINT_NS << (shift < 20 ? shift : 20);
	return control.time;
}

/* ---- the beginning ---- */

void control_begin(void)
{
	struct plait_control *a = control.area;
	struct sched_params params = {
		.strategy = a->strategy, .depth = a->depth, .seed = a->seed, .length = a->length
	};
	struct rt_thread *self = rt_self();
	struct control_thread *me;

	sched_init(&control.sched, &params);
	control.nthreads = control.nalive = 0;
	control.points = control.time = 0;
	control.writes = 1;
	control.all_points = a->points == PLAIT_POINTS_ALL;
	control.decisions_next = (uint8_t *)a + PLAIT_CONTROL_DECISIONS;
	control.decisions_end = control.decisions_next + PLAIT_CONTROL_DECISIONS_SIZE;
	control.decisions_last = 0;
	rt_steps = 0;
	decision_reader_init(&replay, (const char *)a + PLAIT_CONTROL_REPLAY, a->replay_len);
	control.fixed = a->strategy == PLAIT_STRATEGY_REPLAY || a->replay_len;
	if (control.fixed)
		advance();
	vectors_begin();
	turns_begin();
	signals_reset();
	timers_reset();
	me = control_thread_new(NULL, self);
	me->handle = pthread_self();
	control.current = me;
	a->gate_used = gate_begin(&me->gate, a->gate);
	constraints_begin();
	control_thread_arm(me);
	a->started = 1;
	control_active = true;
	control_quick_begin();
}
