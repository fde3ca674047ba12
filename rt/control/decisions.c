/* rt/control/decisions.c - decisions are recorded, and followed on replay.
 *
 * A decision says "after so many events, thread t goes on" (sched/decisions.h). It does not depend
 * on which accesses were scheduling points, so a replay needs points only where decisions are due.
 * A list of decisions that does not fit this run is a divergence: it names a thread that cannot
 * run, or nobody where somebody is needed.
 *
 * A systematic search asks for the log of choices as well: at each point, who could have gone on. */
#include "rt/control/engine.h"

#include "rt/control/handovers.h"
#include "rt/control/turns.h"
#include "rt/control/vectors.h"
#include "sched/decisions.h"
#include "unplait/hooks.h"

static struct decision_reader replay;
static struct decision next;
static bool have_next;
static uint8_t *write_at, *write_end;
static uint64_t last_step; /* of the decision recorded last */

/* Step to the next recorded decision; at their end a prefix hands over to the strategy, at once or some steps later. */
static void advance(void)
{
	have_next = decision_read(&replay, &next);
	control.next_step = have_next ? next.step : UINT64_MAX;
	if (!have_next && (control.area->flags & PLAIT_CONTROL_PREFIX)) {
		control.fixed = rt_steps < control.area->prefix_steps;
		control.next_step = control.area->prefix_steps;
	}
	control_quick_begin();
}

bool decisions_prefix_over(const struct control_thread *me)
{
	if (have_next || !(control.area->flags & PLAIT_CONTROL_PREFIX) ||
	    (rt_steps < control.area->prefix_steps && me && control_thread_ready(me)))
		return false;
	control.fixed = false;
	control_quick_begin();
	return true;
}

void decisions_begin(void)
{
	struct plait_control *a = control.area;

	write_at = (uint8_t *)a + PLAIT_CONTROL_DECISIONS;
	write_end = write_at + PLAIT_CONTROL_DECISIONS_SIZE;
	last_step = 0;
	decision_reader_init(&replay, (const char *)a + PLAIT_CONTROL_REPLAY, a->replay_len);
	control.fixed = a->strategy == PLAIT_STRATEGY_REPLAY || a->replay_len;
	if (control.fixed)
		advance();
}

void decisions_record(uint32_t kind, uint32_t value)
{
	struct decision d = { .step = rt_steps, .kind = kind, .value = value };

	CONTROL_ASSERT(rt_steps >= last_step);
	if (write_at + DECISION_MAX_BYTES > write_end)
		control_full("the list of decisions");
	write_at = decision_write(write_at, &d, last_step);
	last_step = rt_steps;
	control.area->decisions_len =
		(uint64_t)(write_at - ((uint8_t *)control.area + PLAIT_CONTROL_DECISIONS));
}

/* Nothing is decided here: the running thread goes on. NULL: the outside world may have changed
 * something meanwhile. */
static struct control_thread *stay(struct control_thread *me, struct control_thread **named)
{
	if (me && control_thread_ready(me))
		return *named = me;
	if (control_asked(PLAIT_CONTROL_CUT) && rt_steps >= control.area->event_budget)
		control_log_ended();
	if (control_all_stuck()) {
		if (control.world->wait_outside(NULL))
			return NULL; /* as the recorded run did: it looks again */
		control_deadlock();
	}
	/* what came at once in the recorded run takes its time now */
	if (me && control.world->wait_outside(me))
		return NULL;
	control_diverged("the running thread cannot go on, and no decision says who does");
}

struct control_thread *decisions_follow(struct control_thread *me, bool away,
					struct control_thread **named)
{
	struct control_thread *t;

	*named = NULL;
	CONTROL_ASSERT(control.fixed);
	if (!have_next || next.step != rt_steps || next.kind == DECISION_CHOICE ||
	    (next.kind == DECISION_OUTSIDE && !away))
		return stay(me, named);
	t = next.value < control.nthreads ? control_thread_at(next.value) : NULL;
	if (!t || !t->rt || t->ended)
		control_diverged("a decision names a thread that does not exist here");
	if (next.kind == DECISION_WAKE)
		t->released = true;
	if (!control_thread_ready(t)) {
		if (control.world->wait_outside(t))
			return NULL;
		if (!time_has_deadline(t))
			control_diverged("a decision names a thread that cannot go on here");
		time_expire(t, false);
	}
	*named = t;
	decisions_record(next.kind, next.value);
	advance();
	return control_thread_ready(t) ? t : NULL;
}

bool control_is_fixed(void)
{
	return control.fixed;
}

bool control_decision_due(void)
{
	return control.fixed && control.next_step <= rt_steps;
}

bool decisions_choice_due(void)
{
	return have_next && next.kind == DECISION_CHOICE && next.step == rt_steps;
}

bool decisions_away_due(void)
{
	return have_next && next.kind == DECISION_OUTSIDE && next.step == rt_steps;
}

/* ---- the log of choices ---- */

/* What the operation touches beside its object: a wait its mutex, a use of a descriptor the state of all. */
static uint64_t second_of(const struct control_op *op)
{
	bool second = op->kind == PLAIT_EV_WAIT || op->kind == PLAIT_EV_WOKEN ||
		      op->object2 == &plait_state_files;

	return second ? (uint64_t)op->object2 : 0;
}

/* Where a signal may come, or a request to end: what the thread does next is another thing then. */
static bool may_be_anything(const struct control_thread *t)
{
	return t->op.sends || t == control_timers || control_signal_due(t) || control_cancel_due(t);
}

static void log_push(const struct plait_choice *entry)
{
	struct plait_choice *c;

	if (control.area->choices_len >= PLAIT_CONTROL_CHOICES_MAX)
		control_full("the list of choices");
	c = (struct plait_choice *)((char *)control.area + PLAIT_CONTROL_CHOICES);
	c += control.area->choices_len++;
	*c = *entry;
	c->step = rt_steps;
}

static void log_entry(const struct control_thread *t, uint32_t thread, uint32_t flags)
{
	log_push(&(struct plait_choice){
		.object = (uint64_t)t->op.object,
		.mutex = second_of(&t->op),
		.thread = thread,
		.site = t->op.site,
		.kind = t->op.kind,
		.size = t->op.size,
		.flags = flags | (t->op.writes ? PLAIT_CHOICE_WRITES : 0) |
			 (may_be_anything(t) ? PLAIT_CHOICE_ANYTHING : 0) });
}

void decisions_log_free(const struct control_thread *me, const void *p, size_t size)
{
	log_push(&(struct plait_choice){ .object = (uint64_t)p,
					 .thread = me->task.id,
					 .kind = PLAIT_EV_FREE,
					 .size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
					 .flags = PLAIT_CHOICE_EXECUTED | PLAIT_CHOICE_WRITES });
}

void decisions_log_step(const struct control_thread *me)
{
	log_entry(me, me->task.id, PLAIT_CHOICE_EXECUTED);
}

static void log_candidate(struct control_thread *me, const struct control_thread *t, uint32_t flags)
{
	log_entry(t, t->task.id, flags | (t == me ? PLAIT_CHOICE_RUNNING : 0));
}

void decisions_log_choice(struct control_thread *me, struct control_thread *chosen,
			  struct sched_task *const *tasks, size_t n)
{
	size_t i;

	log_candidate(me, chosen, PLAIT_CHOICE_CHOSEN);
	for (i = 0; i < n; i++)
		if (tasks[i] != &chosen->task)
			log_candidate(me, (struct control_thread *)tasks[i], 0);
}

static void log_alternatives(const struct control_thread *me, uint32_t chosen, uint32_t n)
{
	uint32_t i;

	log_entry(me, chosen, PLAIT_CHOICE_ALTERNATIVE | PLAIT_CHOICE_CHOSEN);
	for (i = 0; i < n; i++)
		if (i != chosen)
			log_entry(me, i, PLAIT_CHOICE_ALTERNATIVE);
}

/* ---- alternatives ---- */

uint32_t control_choose(struct control_thread *me, uint32_t n)
{
	uint32_t value;

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
		value = control.vectors	    ? vectors_choose(me, n)
			: control.handovers ? handovers_choose(me, n)
					    : turns_choose(n);
		if (value >= n)
			value = sched_choose(&control.sched, n);
	}
	CONTROL_ASSERT(value < n);
	decisions_record(DECISION_CHOICE, value);
	if (control_logs())
		log_alternatives(me, value, n);
	return value;
}
