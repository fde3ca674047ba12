/* rt/control/handovers.c - obeying the log of a run in mode sync (rt/log/order.c writes it).
 *
 * Operations are counted as they were when the run was recorded. The log says of some operations which
 * one of another thread came before: they wait for it. Everything else is free, so the running thread
 * goes on while it may.
 *
 * A thread that wants to do more than the log has of it was killed there, or waited there until the
 * process ended: it stays where it is. The process exits when everybody has done all that the log has.
 * When only such threads are left, the log has ended.
 *
 * A thread woke from a condition variable when the log says so. Usually a signal has been sent by then.
 * If not (the wait ended without one, or another waiter took it), it wakes all the same, which POSIX
 * allows, and that is a decision of its own. */
#include "rt/control/handovers.h"

#include "rt/control/engine.h"
#include "sched/decisions.h"
#include "unplait/hooks.h"
#include "unplait/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum permission { MAY, PAST, HELD };

static struct {
	uint32_t passed; /* points of the thread at accesses, since the decisions ended */
	bool held, done;
	const struct control_op *op; /* what the thread is about to do; NULL: not known yet */
} aim;
static const struct plait_log *log;
static const struct plait_log_thread *log_threads;
static const struct plait_log_handover *handovers;
static const struct plait_log_result *results;
static const struct plait_log_signal *signals;
static const struct plait_log_mark *marks;
static const struct plait_log_time *times;
static const struct plait_log_answer *answers;

/* Where the runs of recorded threads are, by their number in the log. */
static struct follower {
	uint64_t count;
	uint64_t handover, result; /* the first that is not behind it */
	int64_t last;		   /* what its last operation returned */
	uint64_t synced, signal;   /* operations that are no accesses; signals that have come */
	uint64_t hash, mark;	   /* of what it did; the next check mark */
	uint32_t from, to;     /* sites: of the last mark that agreed, and of its last operation */
	uint64_t agreed;       /* steps of the run up to that mark */
	bool timed;	       /* a time of its own has passed */
	uint64_t clock, since; /* the last time that is known of it; of which operation */
	uint64_t time, answer; /* its next ones */
} followers[PLAIT_MAX_THREADS];

void handovers_begin(void)
{
	struct plait_log_arrays arrays;

	log = control_log ? control_log : control_heard;
	control.logged_signals = control.racing = false;
	memset(&aim, 0, sizeof(aim));
	control.handovers = control_log && control_asked(PLAIT_CONTROL_HANDOVERS);
	if (!log)
		return;
	arrays = plait_log_arrays(log);
	log_threads = arrays.threads;
	handovers = arrays.handovers;
	results = arrays.results;
	signals = arrays.signals;
	marks = arrays.marks;
	times = arrays.times;
	answers = arrays.answers;
	control.logged_signals = log->nsignals > 0;
	for (uint32_t i = 0; i < log->nthreads; i++)
		followers[i] = (struct follower){ .handover = log_threads[i].handovers.first,
						  .result = log_threads[i].results.first,
						  .mark = log_threads[i].marks.first,
						  .time = log_threads[i].times.first,
						  .answer = log_threads[i].answers.first };
}

static bool is_recorded(const struct control_thread *t)
{
	return t->log_name < log->nthreads;
}

void handovers_thread_new(struct control_thread *t, const struct control_thread *parent)
{
	uint32_t ordinal = rt_run->threads[t->task.id].ordinal;

	t->log_name = PLAIT_ANY;
	if (!log)
		return;
	if (!parent) {
		t->log_name = 0;
		return;
	}
	for (uint32_t i = 1; i < log->nthreads; i++)
		if (log_threads[i].parent == parent->log_name && log_threads[i].ordinal == ordinal)
			t->log_name = i;
	if (is_recorded(t) && is_recorded(parent))
		followers[t->log_name].clock = followers[parent->log_name].clock;
}

static bool has_more(const struct control_thread *t)
{
	return is_recorded(t) && followers[t->log_name].count < log_threads[t->log_name].synced;
}

/* What the operation that is `ahead` operations away must come after, and has not been done; NULL: nothing. */
static const struct plait_log_handover *waits_before(const struct control_thread *t, uint64_t ahead)
{
	const struct follower *f = &followers[t->log_name];
	const struct plait_log_part *part = &log_threads[t->log_name].handovers;

	for (uint64_t i = f->handover; i < part->first + part->n; i++) {
		if (handovers[i].at > f->count + ahead)
			break;
		if (handovers[i].at == f->count + ahead &&
		    followers[handovers[i].thread].count < handovers[i].count)
			return &handovers[i];
	}
	return NULL;
}

/* ... and the next one. */
static const struct plait_log_handover *missing(const struct control_thread *t)
{
	return waits_before(t, 1);
}

/* What its next operation returned. */
static int64_t expected(const struct control_thread *t)
{
	const struct follower *f = &followers[t->log_name];
	const struct plait_log_part *part = &log_threads[t->log_name].results;

	return f->result < part->first + part->n && results[f->result].at == f->count + 1
		       ? results[f->result].result
		       : 0;
}

bool control_log_succeeds(const struct control_thread *me)
{
	return unlikely(control.handovers) && has_more(me) && !expected(me);
}

bool control_refused(struct control_thread *me)
{
	if (control.fixed && decisions_choice_due())
		return control_choose(me, 2) == 1;
	if (likely(!control.handovers) || !is_recorded(me) || !followers[me->log_name].last)
		return false;
	decisions_record(DECISION_CHOICE, 1);
	return true;
}

/* What such an object stands for is used by code of the program in full alone (cc/expand). */
static bool stands_for_state(const void *object)
{
	static const uint64_t *const states[] = { &plait_state_rand, &plait_state_files,
						  &plait_state_locale, &plait_state_handlers,
						  &plait_state_process };

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (object == states[i])
			return true;
	return false;
}

static bool counts(const struct control_op *op)
{
	return op->logged || (op->racing && log->atomics) ||
	       (plait_log_counts(op->kind, log->atomics) &&
		!(plait_is_atomic(op->kind) && stands_for_state(op->object)));
}

void handovers_count_next(void)
{
	if (!control_self() || control.racing)
		return;
	control.racing = true;
	control.quick_again = control.quick_until;
	control.quick_until = 0;
}

void handovers_mark_racing(struct control_op *op)
{
	if (likely(!control.racing))
		return;
	op->racing = true;
	control.racing = false;
	control.quick_until = control.quick_again;
}

static bool everybody_else_is_done(const struct control_thread *me)
{
	for (size_t i = 0; i < control_nthreads(); i++) {
		const struct control_thread *t = control_thread_at(i);

		if (t != me && t->rt && !t->ended && has_more(t))
			return false;
	}
	return true;
}

/* ---- signals ---- */

/* A handler ran between two operations. It runs when the thread is about to make the second, or to wait: most
 * threads that a signal interrupts are waiting. In every run of the plait it is the same place of the
 * thread; the recorded order says also how far the others must be. Where the second operation is no point, it
 * runs at the next one: late, and not never. */
static const struct plait_log_signal *signal_here(const struct control_thread *t)
{
	const struct plait_log_part *part;
	const struct follower *f;

	if (!control.logged_signals || !is_recorded(t))
		return NULL;
	f = &followers[t->log_name];
	part = &log_threads[t->log_name].signals;
	return f->signal < part->n && signals[part->first + f->signal].at <= f->synced
		       ? &signals[part->first + f->signal]
		       : NULL;
}

static const struct plait_log_signal *next_signal(const struct control_thread *t)
{
	return control.logged_signals && (t->op.wait || counts(&t->op)) ? signal_here(t) : NULL;
}

static void handle(struct control_thread *me, const struct plait_log_signal *s)
{
	followers[me->log_name].signal++;
	if (!control.world->handle(me, (int)s->number))
		control_diverged("a signal came in the recorded run, and has no handler here");
}

static bool others_have_come(const struct plait_log_signal *s)
{
	for (uint64_t i = s->after.first; i < s->after.first + s->after.n; i++)
		if (followers[handovers[i].thread].count < handovers[i].count)
			return false;
	return true;
}

bool handovers_signal_due(const struct control_thread *t)
{
	const struct plait_log_signal *s = next_signal(t);

	return s && (!control.handovers || others_have_come(s));
}

bool handovers_take_signal(struct control_thread *me)
{
	const struct plait_log_signal *s = next_signal(me);

	if (!s || (control.handovers && !others_have_come(s)))
		return false;
	handle(me, s);
	return !me->interrupted;
}

void handovers_end_spinning(struct control_thread *me)
{
	const struct plait_log_signal *s = signal_here(me);

	if (!s)
		return;
	if (control.fixed) {
		if (!decisions_choice_due() || control_choose(me, 2) != 1)
			return;
	} else if (me->spinning_since == control.writes &&
		   (!control.handovers || others_have_come(s))) {
		decisions_record(DECISION_CHOICE, 1);
	} else {
		return;
	}
	me->rt->depth++;
	handle(me, s);
	me->rt->depth--;
}

void handovers_take_rest(struct control_thread *me)
{
	const struct plait_log_signal *s;

	me->rt->depth++;
	while ((s = signal_here(me)))
		handle(me, s);
	me->rt->depth--;
}

void control_take_logged_signal(struct control_thread *me, int number)
{
	const struct plait_log_signal *s = signal_here(me);

	if (s && s->number == (uint32_t)number)
		handle(me, s);
}

static enum permission judge(const struct control_thread *t)
{
	const struct plait_log_signal *s = next_signal(t);

	if (s)
		return others_have_come(s) ? MAY : HELD;
	if (t->op.kind == PLAIT_EV_PROCESS_EXIT)
		return everybody_else_is_done(t) ? MAY : HELD;
	if (!counts(&t->op) || t == control_timers)
		return MAY;
	if (!has_more(t))
		return PAST;
	return missing(t) ? HELD : MAY;
}

/* ---- check marks ---- */

/* How far all threads have come that have been born. */
static uint64_t common_clock(void)
{
	uint64_t clock = UINT64_MAX;

	for (uint32_t i = 0; i < log->nthreads; i++)
		if (followers[i].clock && followers[i].count < log_threads[i].synced &&
		    followers[i].clock < clock)
			clock = followers[i].clock;
	return clock;
}

/* Where the run is no more the recorded one: in which thread, between which sites. */
static void note_leaving(const struct control_thread *t)
{
	const struct follower *f = &followers[t->log_name];

	control.area->left_thread = t->task.id + 1;
	control.area->left_from = f->from;
	control.area->left_to = f->to;
	control.area->left_step = f->agreed;
	control.area->log_clock = common_clock();
}

static uint64_t offset_of(const struct control_op *op)
{
	const struct plait_module_info *program = &rt_run->modules[0];
	uint64_t p = (uint64_t)(op->kind == PLAIT_EV_WOKEN ? op->object2 : op->object);

	return p < program->low || p >= program->high ? 0 : p - program->low;
}

/* The operation is one of those that rt/log/order.c mixes into the thread's hash. */
static void mix(struct control_thread *t, const struct control_op *op)
{
	struct follower *f = &followers[t->log_name];

	if (op->logged || plait_log_is_mixed(op->kind))
		f->hash = plait_log_mix(f->hash, plait_log_class(op->kind), offset_of(op));
	f->to = op->site;
}

static void check_mark(struct control_thread *t)
{
	struct follower *f = &followers[t->log_name];
	const struct plait_log_part *part = &log_threads[t->log_name].marks;

	if (f->mark >= part->first + part->n || marks[f->mark].at != f->count)
		return;
	if (marks[f->mark++].value != plait_log_mark_of(f->hash))
		control_diverged("its operations are not those of the recorded run");
	f->from = f->to;
	f->agreed = rt_steps;
	control.area->marks_met++;
}

void handovers_left(const struct control_thread *t)
{
	if (control.handovers && is_recorded(t))
		note_leaving(t);
}

/* Another thread writes what the thread of the aim is about to look at. */
static bool meets_aim(const struct control_op *op)
{
	const struct control_op *other = aim.op;

	return other && plait_is_access(op->kind) && op->writes &&
	       (!plait_is_access(other->kind) ||
		((const char *)op->object < (const char *)other->object + other->size &&
		 (const char *)other->object < (const char *)op->object + op->size));
}

/* This has been done. */
static void note_aim(const struct control_thread *t, const struct control_op *op)
{
	const struct plait_aim *a = &control.area->aim;

	if (control.fixed || aim.done)
		return;
	if (t->task.id != a->thread) {
		aim.done = a->kind == PLAIT_AIM_MEET && aim.passed >= a->skip && meets_aim(op);
		return;
	}
	aim.passed += plait_is_access(op->kind);
	aim.done = aim.held && a->kind != PLAIT_AIM_MEET;
}

/* ---- times ---- */

/* Ticks, some 40 us. Between two times that are further apart it must have waited. */
#define WAITED 100000ull

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void note_time(struct follower *f, uint64_t at, uint64_t clock)
{
	if (clock < f->clock)
		return;
	f->timed = true;
	f->clock = clock;
	f->since = at;
}

/* Its operations up to the last one have been done, or a sleep behind it. */
static void pass_times(const struct control_thread *t, bool slept)
{
	const struct plait_log_part *part = &log_threads[t->log_name].times;
	struct follower *f = &followers[t->log_name];

	for (; f->time < part->first + part->n && times[f->time].at <= f->count; f->time++) {
		bool sleep = times[f->time].slept && times[f->time].at == f->count;

		if (sleep && !slept)
			return;
		note_time(f, times[f->time].at, times[f->time].clock);
		slept &= !sleep;
	}
}

void control_log_answered(uint32_t thread, uint64_t clock)
{
	struct follower *f = &followers[thread];

	f->answer++;
	note_time(f, f->count, clock);
}

/* A number below control.area->noise, the same from check mark to check mark. */
static uint64_t noise(const struct control_thread *t)
{
	uint64_t x = control.area->seed * 0x9e3779b97f4a7c15ull + t->task.id;

	x = (x ^ followers[t->log_name].mark) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 29) * 0x94d049bb133111ebull;
	return control.area->noise ? (x >> 32) % control.area->noise : 0;
}

/* Of the next operation, or of an access in front of it: `next` is the first time behind it. A thread makes operations
 * one like the other, unless it waits in between, and that would be long. */
static uint64_t time_between(const struct control_thread *t, const struct plait_log_time *next)
{
	const struct follower *f = &followers[t->log_name];
	uint64_t ahead = f->count + counts(&t->op) - f->since, n = next->at - f->since;
	uint64_t span = next->clock - f->clock;

	if (!f->timed || (!counts(&t->op) && t->op.wait) || (ahead && ahead >= n))
		return next->clock;
	if (!ahead || next->slept)
		return f->clock;
	return f->clock + (span > WAITED ? WAITED : span) * ahead / n;
}

/* When the recorded thread made what this one is about to do, as far as it is known. What comes before its first
 * operation, or behind a wait, came right before the next one that has a time. */
static uint64_t recorded_time(const struct control_thread *t)
{
	const struct plait_log_answer *a;
	const struct plait_log_part *part;
	const struct follower *f;
	uint64_t clock;

	if (!is_recorded(t))
		return UINT64_MAX;
	f = &followers[t->log_name];
	clock = f->clock;
	part = &log_threads[t->log_name].times;
	if (f->time < part->first + part->n)
		clock = later(clock, time_between(t, &times[f->time]));
	part = &log_threads[t->log_name].answers;
	a = &answers[f->answer];
	if (t->op.logged && f->answer < part->first + part->n &&
	    plait_call_how(a->call) == PLAIT_CALL_IN)
		clock = later(clock, a->clock);
	return clock + noise(t);
}

/* Who was first in the recorded run. */
static size_t earliest(struct sched_task **tasks, size_t n)
{
	uint64_t first = UINT64_MAX;
	size_t ret = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t time = recorded_time((const struct control_thread *)tasks[i]);

		if (time >= first)
			continue;
		first = time;
		ret = i;
	}
	return ret;
}

void handovers_executed(struct control_thread *t, const struct control_op *op)
{
	struct follower *f;

	if (control.area->aim.kind)
		note_aim(t, op);
	if (!is_recorded(t))
		return;
	if (op->kind == PLAIT_EV_SLEEP)
		pass_times(t, true);
	if (!counts(op))
		return;
	f = &followers[t->log_name];
	f->synced += !plait_is_access(op->kind);
	if (!control.handovers)
		return;
	f->last = expected(t);
	f->count++;
	control.area->log_done++;
	mix(t, op);
	check_mark(t);
	pass_times(t, false);
	while (f->handover < log_threads[t->log_name].handovers.first +
				     log_threads[t->log_name].handovers.n &&
	       handovers[f->handover].at <= f->count)
		f->handover++;
	while (f->result < log_threads[t->log_name].results.first +
				   log_threads[t->log_name].results.n &&
	       results[f->result].at <= f->count)
		f->result++;
}

/* Did the next operation of t come after the last one of me? */
static bool comes_after(const struct control_thread *t, const struct control_thread *me)
{
	const struct follower *f = &followers[t->log_name];
	const struct plait_log_part *part = &log_threads[t->log_name].handovers;

	for (uint64_t i = f->handover; i < part->first + part->n && handovers[i].at == f->count + 1;
	     i++)
		if (handovers[i].thread == me->log_name &&
		    handovers[i].count == followers[me->log_name].count)
			return true;
	return false;
}

/* Who waits for the condition variable of me, in the order in which rt/interpose counts them. */
uint32_t handovers_choose(const struct control_thread *me, uint32_t n)
{
	uint32_t waiter = 0, chosen = n;

	if (me->op.kind != PLAIT_EV_SIGNAL && me->op.kind != PLAIT_EV_FUTEX_WAKE)
		return n;
	for (size_t i = 0; i < control_nthreads(); i++) {
		const struct control_thread *t = control_thread_at(i);

		if (!waits_for_signal_of(t, me))
			continue;
		if (has_more(t) && !expected(t) && (chosen == n || comes_after(t, me)))
			chosen = waiter;
		if (chosen == waiter++ && comes_after(t, me))
			break;
	}
	return chosen;
}

static bool waits_to_be_released(const struct control_op *op)
{
	return op->kind == PLAIT_EV_WOKEN || (op->kind == PLAIT_EV_FUTEX_WAIT && op->wait);
}

struct control_thread *handovers_wake(void)
{
	for (size_t i = 0; i < control_nthreads(); i++) {
		struct control_thread *t = control_thread_at(i);

		if (!t->rt || t->ended || !waits_to_be_released(&t->op) || t->released ||
		    t->timed_out || judge(t) != MAY || (expected(t) && expected(t) != EINTR))
			continue;
		t->released = true;
		if (control_thread_ready(t))
			return t;
		t->released = false;
	}
	return NULL;
}

/* Move those who may go on to the others that are kept, in front; how many that makes. A wait times out if and only
 * if it did. */
static size_t keep(struct sched_task **tasks, size_t kept, size_t from, size_t n, bool late)
{
	for (size_t i = from; i < n; i++) {
		struct control_thread *t = (struct control_thread *)tasks[i];

		if (judge(t) != MAY)
			continue;
		if (late && counts(&t->op) && is_recorded(t) && !expected(t))
			continue;
		tasks[kept++] = tasks[i];
	}
	return kept;
}

bool handovers_ended(void)
{
	for (size_t i = 0; i < control_nthreads(); i++) {
		const struct control_thread *t = control_thread_at(i);

		if (t->rt && !t->ended && t->op.wait && t->op.wait->flags & CONTROL_LOG_ENDS)
			return true;
	}
	return false;
}

void control_sent_other(void)
{
	if (control.handovers)
		control_diverged("it sends something else than the recorded run did");
}

/* Where this thread is, by the log. */
static int describe(const struct control_thread *t, char *out, size_t size)
{
	const struct plait_log_handover *h = counts(&t->op) && has_more(t) ? missing(t) : NULL;
	char name[64], why[96] = "";

	control_thread_name(name, sizeof(name), t->task.id);
	if (h)
		snprintf(why, sizeof(why), ", after %llu of the log's thread %u",
			 (unsigned long long)h->count, h->thread);
	else if (t->op.wait)
		snprintf(why, sizeof(why), ", waits %s", t->op.wait->what);
	return snprintf(out, size, "; thread %s: %llu of %llu done, next is kind %u%s%s", name,
			(unsigned long long)followers[t->log_name].count,
			(unsigned long long)log_threads[t->log_name].synced, t->op.kind, why,
			has_more(t) && expected(t) ? ", which failed" : "");
}

bool handovers_await_child(void)
{
	for (size_t i = 0; i < control_nthreads(); i++) {
		const struct control_thread *t = control_thread_at(i);

		if (t->rt && !t->ended && is_recorded(t) && has_more(t) && t->op.wait &&
		    t->op.wait->flags & CONTROL_OUTSIDE)
			return control.world->wait_for_children(UINT64_MAX);
	}
	return false;
}

void handovers_stuck(void)
{
	char why[2048] = "nobody can go on in the recorded order";
	size_t n = strlen(why);
	bool held = false;

	for (size_t i = 0; i < control_nthreads() && n < sizeof(why); i++) {
		const struct control_thread *t = control_thread_at(i);

		if (!t->rt || t->ended || !is_recorded(t))
			continue;
		held |= has_more(t);
		n += (size_t)describe(t, why + n, sizeof(why) - n);
	}
	if (held && !log->cut)
		control_diverged(why);
	control_log_ended();
}

/* Those who could also make the operation after this one, if there are any: what a thread does between two
 * operations mostly came right before the second. */
static size_t prefer_late(struct sched_task **tasks, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct control_thread *t = (const struct control_thread *)tasks[i];
		struct sched_task *other = tasks[kept];

		if (is_recorded(t) && waits_before(t, counts(&t->op) ? 2 : 1))
			continue;
		tasks[kept++] = tasks[i];
		tasks[i] = other;
	}
	return kept ? kept : n;
}

/* A write of another thread waits until the thread of the aim, which is tasks[at] if it may go on, has come as far:
 * when the write is due, that thread hurries. */
static size_t hold_writes(struct sched_task **tasks, size_t at, size_t n)
{
	size_t kept = 0, first = earliest(tasks, n);

	if (at < n && first != at &&
	    meets_aim(&((const struct control_thread *)tasks[first])->op)) {
		tasks[0] = tasks[at];
		return 1;
	}
	for (size_t i = 0; i < n; i++)
		if (i == at || !meets_aim(&((const struct control_thread *)tasks[i])->op))
			tasks[kept++] = tasks[i];
	return kept ? kept : n;
}

/* The search thinks that this thread came later here, or earlier. */
static size_t obey_aim(struct sched_task **tasks, size_t n)
{
	const struct plait_aim *a = &control.area->aim;
	size_t at = 0;

	while (at < n && tasks[at]->id != a->thread)
		at++;
	if (at < n)
		aim.op = &((const struct control_thread *)tasks[at])->op;
	if (a->kind == PLAIT_AIM_MEET && !aim.done && aim.passed < a->skip)
		return hold_writes(tasks, at, n);
	if (at == n || aim.done || (a->kind == PLAIT_AIM_HOLD && aim.passed < a->skip))
		return n;
	if (a->kind == PLAIT_AIM_FIRST) {
		tasks[0] = tasks[at];
		return 1;
	}
	aim.held = true;
	tasks[at] = tasks[n - 1];
	return n - 1;
}

size_t handovers_filter(struct sched_task **tasks, size_t late, size_t n)
{
	bool timed = control_asked(PLAIT_CONTROL_TIMED);
	size_t kept;

	kept = keep(tasks, 0, 0, late, false);
	if (!kept || timed)
		kept = keep(tasks, kept, late, n, true);
	if (kept > 1 && control.area->aim.kind)
		kept = obey_aim(tasks, kept);
	if (kept > 1 && timed) {
		tasks[0] = tasks[earliest(tasks, kept)];
		kept = 1;
	}
	return kept > 1 && control_asked(PLAIT_CONTROL_LATE) ? prefer_late(tasks, kept) : kept;
}
