/* rt/control/report.c - how a controlled run ends when it does not end by itself.
 *
 * What is known goes into the control area (in words, and as one struct plait_blocked per thread
 * that waits) and into the run's failure record; then the process exits at once, with no handler
 * run: the other threads are in the middle of something and stay there. */
#include "rt/control/again.h"
#include "rt/control/engine.h"
#include "rt/control/handovers.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum { EXIT_STATUS = 70 }; /* the tool looks at the control area, not at this */

/* A debugger stops here (run/plait.py): everything is as it was, and what went wrong is noted. */
static _Noreturn __attribute__((noinline)) void control_leave(void)
{
	control_stop();
	rt_finish(EXIT_STATUS);
	again_end(EXIT_STATUS << 8);
	for (;;)
		rt_syscall(SYS_exit_group, EXIT_STATUS, 0, 0, 0, 0, 0);
}

static _Noreturn void leave(enum plait_control_end end)
{
	control.area->end = end;
	control_leave();
}

/* "0.1.2" */
void control_thread_name(char *out, size_t size, uint32_t index)
{
	uint32_t chain[16] = { 0 }, n = 0, i = index;
	size_t len;

	while (i && n < 16) {
		chain[n++] = rt_run->threads[i].ordinal;
		i = rt_run->threads[i].parent;
	}
	len = (size_t)snprintf(out, size, "0");
	while (n-- > 0 && len < size)
		len += (size_t)snprintf(out + len, size - len, ".%u", chain[n]);
}

static struct plait_blocked *blocked_at(uint32_t i)
{
	return (struct plait_blocked *)((char *)control.area + PLAIT_CONTROL_BLOCKED) + i;
}

static void note_blocked(const struct control_thread *t)
{
	uint32_t holder = t->op.wait && t->op.wait->holder ? t->op.wait->holder(t) : 0;
	struct plait_blocked *b;

	if (control.area->nblocked >= PLAIT_CONTROL_BLOCKED_MAX)
		return;
	b = blocked_at(control.area->nblocked++);
	memset(b, 0, sizeof(*b));
	b->thread = t->task.id;
	b->holder = holder && holder <= control.nthreads ? holder - 1 : PLAIT_ANY;
	b->kind = t->op.kind;
	b->site = t->op.site;
	b->object = (uint64_t)t->op.object;
	snprintf(b->what, sizeof(b->what), "%s", t->op.wait ? t->op.wait->what : "to go on");
	b->nframes = rt_walk_frames(t->task.id, (uint64_t)t->frame, b->frames, PLAIT_MAX_FRAMES);
}

/* ---- in words ---- */

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	char *text = control.area->text;
	size_t len = strlen(text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(text + len, sizeof(control.area->text) - len, format, ap);
	va_end(ap);
}

static bool wait_alike(const struct plait_blocked *a, const struct plait_blocked *b)
{
	return a->holder == b->holder && strcmp(a->what, b->what) == 0;
}

/* How many wait as the i-th does? *before: one that was told before it is among them. */
static uint32_t count_alike(uint32_t i, bool *before)
{
	uint32_t n = 0;

	*before = false;
	for (uint32_t k = 0; k < control.area->nblocked; k++) {
		bool alike = wait_alike(blocked_at(k), blocked_at(i));

		n += alike;
		*before |= alike && k < i;
	}
	return n;
}

static void say_waits(uint32_t i, uint32_t more)
{
	const struct plait_blocked *b = blocked_at(i);
	char name[64];

	control_thread_name(name, sizeof(name), b->thread);
	say("%sthread%s %s", control.area->text[0] ? "; " : "", more ? "s" : "", name);
	if (more)
		say(" and %u more", more);
	say(" wait%s %s", more ? "" : "s", b->what);
	if (b->holder == PLAIT_ANY)
		return;
	control_thread_name(name, sizeof(name), b->holder);
	say(b->kind == PLAIT_EV_JOIN ? " %s" : " held by thread %s", name);
}

/* A few threads get a sentence each; a crowd that waits for the same gets one together. */
enum { CROWD = 4 };

static void say_all(void)
{
	for (uint32_t i = 0; i < control.area->nblocked; i++) {
		bool before;
		uint32_t n = count_alike(i, &before);

		if (n < CROWD || !before)
			say_waits(i, n < CROWD ? 0 : n - 1);
	}
}

static void note_all(bool only_waiting)
{
	size_t i;

	control.area->nblocked = 0;
	for (i = 0; i < control.nthreads; i++) {
		struct control_thread *t = control_thread_at(i);

		if (t->rt && !t->ended && t != control_timers &&
		    !(only_waiting && control_thread_ready(t)))
			note_blocked(t);
	}
	say_all();
}

void control_deadlock(void)
{
	control.area->text[0] = 0;
	note_all(true);
	rt_failure(PLAIT_OUTCOME_DEADLOCK, 0, 0, NULL, control.area->text);
	leave(PLAIT_END_DEADLOCK);
}

void control_hang(const char *why)
{
	snprintf(control.area->text, sizeof(control.area->text), "%s", why);
	note_all(false);
	rt_failure(PLAIT_OUTCOME_HANG, 0, 0, NULL, control.area->text);
	leave(PLAIT_END_BUDGET);
}

void control_misuse(enum plait_misuse kind, const char *what, const void *object,
		    const char *detail, uint32_t site)
{
	snprintf(control.area->text, sizeof(control.area->text), "%s (%p)%s%s", what, object,
		 *detail ? ": " : "", detail);
	control.area->end = PLAIT_END_MISUSE;
	rt_failure(PLAIT_OUTCOME_ASSERT, SIGABRT, (int)kind, object, what);
	rt_run->failure.site = site;
	abort();
}

void control_predicate_broken(const char *text, uint32_t site)
{
	char what[256];

	snprintf(control.area->text, sizeof(control.area->text), "the predicate `%s' does not hold",
		 text);
	snprintf(what, sizeof(what), "%s", control.area->text);
	rt_failure(PLAIT_OUTCOME_ASSERT, SIGABRT, 0, NULL, what);
	rt_run->failure.site = site;
	abort();
}

void control_diverged(const char *why)
{
	char name[64];

	control_thread_name(name, sizeof(name), control.current->task.id);
	snprintf(control.area->text, sizeof(control.area->text),
		 "%s (after %llu events, thread %s)", why, (unsigned long long)rt_steps, name);
	control.area->diverged_step = rt_steps;
	handovers_left(control.current);
	leave(PLAIT_END_DIVERGED);
}

void control_full(const char *what)
{
	snprintf(control.area->text, sizeof(control.area->text), "%s", what);
	leave(PLAIT_END_FULL);
}

void control_broken(const char *rule, const char *file, int line)
{
	snprintf(control.area->text, sizeof(control.area->text),
		 "the control engine is broken: %s does not hold (%s:%d); please report this", rule,
		 file, line);
	leave(PLAIT_END_BROKEN);
}

void control_log_ended(void)
{
	snprintf(control.area->text, sizeof(control.area->text), "the recording ends here");
	leave(PLAIT_END_LOG);
}

void control_infeasible(void)
{
	control.area->text[0] = 0;
	note_all(false);
	control.area->diverged_step = rt_steps;
	leave(PLAIT_END_INFEASIBLE);
}
