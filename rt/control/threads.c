/* rt/control/threads.c - a thread's life under control: named by its creator, born, ended, reaped.
 *
 * A thread is alive from control_thread_new() to control_thread_end(). Afterwards it stays in the
 * table, so that others can join it and a replay can name it. */
#include "rt/control/engine.h"

#include "rt/control/gone.h"
#include "rt/control/turns.h"
#include "rt/control/handovers.h"
#include "rt/control/prints.h"
#include "rt/control/vectors.h"
#include "rt/core/real.h"

#include <string.h>

struct control_thread *control_alive[PLAIT_MAX_THREADS];
struct sched_task *control_tasks[PLAIT_MAX_THREADS];
static struct control_thread threads[PLAIT_MAX_THREADS];
static struct control_thread *leaving; /* ended, and not reaped yet */

void threads_begin(void)
{
	control.nthreads = control.nalive = 0;
	leaving = NULL;
}

struct control_thread *control_thread_new(struct control_thread *parent, struct rt_thread *rt)
{
	struct control_thread *t;

	if (!rt || rt->index >= PLAIT_MAX_THREADS)
		control_full("too many threads");
	t = &threads[rt->index];
	memset(t, 0, sizeof(*t));
	t->rt = rt;
	t->task.id = rt->index;
	t->noted_salt = rt->index + 1;
	t->task.op.kind = t->op.kind = parent ? PLAIT_EV_START : 0;
	t->task.parent = parent ? &parent->task : NULL;
	t->signal_mask = parent ? parent->signal_mask : 0;
	rt->control = t;
	if (rt->index >= control.nthreads)
		control.nthreads = rt->index + 1;
	control_tasks[control.nalive] = &t->task;
	control_alive[control.nalive++] = t;
	control_quick_begin();
	if (control.nalive > control.area->max_alive)
		control.area->max_alive = control.nalive;
	control.area->nthreads = control.nthreads;
	sched_task_new(&control.sched, &t->task);
	learn_born(t, parent);
	vectors_thread_new(t, parent);
	handovers_thread_new(t, parent);
	turns_thread_new(t);
	return t;
}

static void forget(struct control_thread *t)
{
	size_t i, behind;

	CONTROL_ASSERT(!t->ended);
	for (i = 0; i < control.nalive && control_alive[i] != t; i++)
		;
	CONTROL_ASSERT(i < control.nalive);
	behind = control.nalive - i - 1;
	memmove(&control_alive[i], &control_alive[i + 1], behind * sizeof(control_alive[0]));
	memmove(&control_tasks[i], &control_tasks[i + 1], behind * sizeof(control_tasks[0]));
	control.nalive--;
	control_quick_begin();
	t->ended = true;
}

void threads_forget_others(void)
{
	gone_begin();
	for (size_t i = control.nthreads; i-- > 0;)
		if (&threads[i] != control.current && threads[i].rt && !threads[i].ended) {
			forget(&threads[i]);
			threads[i].joined = true;
		}
}

/* libc allocates while it makes a thread, and a malloc of the program's own takes locks. Those are
 * not under control: the new thread cannot run yet, and most threads are made without it
 * (birth_warm). */
int control_thread_birth(struct control_thread *me, struct control_thread *t,
			 const pthread_attr_t *attr)
{
	int r;

	CONTROL_ASSERT(t->start && t->gate.body && t->gate.end);
	t->gate.native = me->gate.native;
	t->gate.arg = t;
	me->rt->depth++;
	r = birth_thread(&t->gate, t->task.id, &t->handle, attr);
	me->rt->depth--;
	control.area->slots = birth_used();
	if (r) {
		forget(t);
		t->joined = true;
		return r;
	}
	control_changed();
	return 0;
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

void threads_arrived(void)
{
	struct control_thread *t = leaving;

	leaving = NULL;
	if (!t || !t->detached || t->joined)
		return;
	t->joined = true;
	birth_reap(&t->gate, t->handle);
}

void control_thread_begin(struct control_thread *t)
{
	CONTROL_ASSERT(control.current == t && !t->ended);
	threads_arrived();
	control_op_executed(t);
}

void control_thread_end(struct control_thread *t)
{
	struct control_thread *to;

	CONTROL_ASSERT(control.current == t && !t->ended);
	t->op = (struct control_op){ .kind = PLAIT_EV_EXIT, .object = t, .writes = true };
	if (control.rule != CONTROL_RULE_SITES) /* somebody may ask whether it has ended */
		control_choice_before(t, &t->op);
	handovers_take_rest(t);
	control_op_executed(t);
	control.world->thread_ended(t);
	gone_thread_ended(t);
	control_changed();
	rt_thread_end(t->rt);
	t->rt->depth = 1;
	if (!t->gate.main)
		rt_buffer_close(t->rt);
	forget(t);
	if (control.nalive == (control_timers != NULL))
		real.exit(0); /* as libc would, which cannot count our threads */
	control.area->points_taken = ++control.points;
	to = control_pick(NULL);
	control.area->switches++;
	if (unlikely(prints_on))
		prints_note(t->task.id);
	control.current = to;
	control.area->current = to->task.id;
	leaving = t;
	gate_leave(&t->gate, &to->gate);
}
