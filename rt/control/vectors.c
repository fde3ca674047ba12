/* rt/control/vectors.c - obeying access vectors.
 *
 * A thread may access an element only when it is next in the element's vector. Together with
 * program order that is a partial order, and every run that obeys it computes the same; so the
 * running thread simply goes on while it may, and the others wait.
 *
 * A vector that has been used up says that nobody accessed the element any more until the recorded
 * run ended. A thread that wants to do so all the same comes last, when nobody else can go on.
 *
 * When nobody is next, the vectors contradict each other (they may come from different runs): the
 * weakest one that is in the way gives way for the rest of the run. If only hard ones are in the
 * way, the run ends at once: infeasible. */
#include "rt/control/vectors.h"

#include "rt/control/engine.h"
#include "rt/core/elements.h"

#include <stdio.h>
#include <stdlib.h>

enum { PER_EVENT = 2 };
enum permission { MAY, PAST, HELD };

struct progress {
	uint32_t run, used;
	bool dropped;
};

static const struct plait_vectors_request *request;
static const struct plait_vectors_name *names;
static const struct plait_vectors_element *elements;
static const struct plait_vectors_run *runs;
static struct progress progress[ELEMENTS_MAX];

void vectors_begin(void)
{
	const char *at = (const char *)control.area + PLAIT_CONTROL_VECTORS;
	const struct plait_vectors_site *sites;

	control.vectors = control.area->vectors_len != 0;
	if (!control.vectors)
		return;
	request = (const struct plait_vectors_request *)at;
	names = (const struct plait_vectors_name *)(request + 1);
	elements = (const struct plait_vectors_element *)(names + request->nnames);
	sites = (const struct plait_vectors_site *)(elements + request->nelements);
	runs = (const struct plait_vectors_run *)(sites + request->nsites);
	if (request->nelements >= ELEMENTS_MAX)
		control_full("too many elements");
	elements_clear();
	for (uint32_t i = 0; i < request->nelements; i++) {
		progress[i] = (struct progress){ 0 };
		if (!elements_put(elements[i].id, i + 1))
			control_full("too many elements");
	}
	for (uint32_t i = 0; i < request->nsites; i++)
		if (!elements_set_site(sites[i].site, sites[i].element + 1))
			control_full("too many sites");
}

void vectors_thread_new(struct control_thread *t, const struct control_thread *parent)
{
	uint32_t ordinal = rt_run->threads[t->task.id].ordinal;

	t->name = 0;
	if (!control.vectors || !parent)
		return;
	t->name = PLAIT_ANY;
	for (uint32_t i = 1; i < request->nnames; i++)
		if (names[i].parent == parent->name && names[i].ordinal == ordinal)
			t->name = i;
}

/* The elements (numbers from 1) that an operation belongs to. */
static unsigned elements_of(const struct control_op *op, uint32_t ret[PER_EVENT])
{
	uint32_t number = elements_of_site(op->site);
	unsigned n = 0;

	if (rt_run->nthreads < 2)
		return 0;
	if (plait_is_access(op->kind)) {
		if (number)
			ret[n++] = number;
		return n;
	}
	if (!plait_vectors_sync(op->kind))
		return 0;
	number = number ? number : elements_find(elements_of_sync(op->object));
	if (number)
		ret[n++] = number;
	if (op->kind == PLAIT_EV_WAIT || op->kind == PLAIT_EV_WOKEN) {
		number = elements_find(elements_of_sync(op->object2));
		if (number)
			ret[n++] = number;
	}
	return n;
}

static enum permission permission(const struct control_thread *t, uint32_t number)
{
	const struct plait_vectors_element *e = &elements[number - 1];
	const struct progress *p = &progress[number - 1];

	if (p->dropped)
		return MAY;
	if (p->run >= e->nruns)
		return PAST;
	return runs[e->first + p->run].name == t->name ? MAY : HELD;
}

/* A wait for a condition touches the same element twice when cond and mutex are one element: the
 * second time is judged like the first. */
static enum permission judge(const struct control_thread *t, const struct control_op *op)
{
	uint32_t number[PER_EVENT];
	unsigned n = elements_of(op, number);
	enum permission worst = MAY;

	for (unsigned i = 0; i < n; i++) {
		enum permission p = permission(t, number[i]);

		if (p > worst)
			worst = p;
	}
	return worst;
}

bool vectors_allow(const struct control_thread *t, const struct control_op *op)
{
	return judge(t, op) == MAY;
}

void vectors_executed(const struct control_thread *t, const struct control_op *op)
{
	uint32_t number[PER_EVENT];
	unsigned n = elements_of(op, number);

	for (unsigned i = 0; i < n; i++) {
		const struct plait_vectors_element *e = &elements[number[i] - 1];
		struct progress *p = &progress[number[i] - 1];

		if (p->dropped || p->run >= e->nruns || runs[e->first + p->run].name != t->name)
			continue;
		if (++p->used >= runs[e->first + p->run].count) {
			p->run++;
			p->used = 0;
		}
	}
}

/* The first run at or behind the present one that is this thread's. */
static uint32_t turn_of(const struct control_thread *t, uint32_t number)
{
	const struct plait_vectors_element *e = &elements[number - 1];
	uint32_t i = progress[number - 1].run;

	while (i < e->nruns && runs[e->first + i].name != t->name)
		i++;
	return i;
}

uint32_t vectors_choose(const struct control_thread *me, uint32_t n)
{
	uint32_t number[PER_EVENT], best = UINT32_MAX, chosen = n, waiter = 0;

	if (me->op.kind != PLAIT_EV_SIGNAL || !elements_of(&me->op, number) ||
	    progress[number[0] - 1].dropped)
		return n;
	for (size_t i = 0; i < control_nthreads(); i++) {
		const struct control_thread *t = control_thread_at(i);

		if (!waits_for_signal_of(t, me))
			continue;
		if (turn_of(t, number[0]) < best) {
			best = turn_of(t, number[0]);
			chosen = waiter;
		}
		waiter++;
	}
	return best < elements[number[0] - 1].nruns ? chosen : n;
}

/* Move those with this permission to the front; how many. */
static size_t keep(struct sched_task **tasks, size_t from, size_t n, enum permission wanted)
{
	size_t kept = 0;

	for (size_t i = from; i < n; i++) {
		struct control_thread *t = (struct control_thread *)tasks[i];

		if (judge(t, &t->op) == wanted)
			tasks[kept++] = tasks[i];
	}
	return kept;
}

/* The weakest soft vector that holds somebody back gives way. */
static bool drop_weakest(struct sched_task **tasks, size_t n)
{
	uint32_t weakest = 0;

	for (size_t i = 0; i < n; i++) {
		struct control_thread *t = (struct control_thread *)tasks[i];
		uint32_t number[PER_EVENT];
		unsigned k = elements_of(&t->op, number);

		while (k-- > 0)
			if (permission(t, number[k]) == HELD &&
			    elements[number[k] - 1].strength != PLAIT_VECTORS_HARD &&
			    (!weakest ||
			     elements[number[k] - 1].strength < elements[weakest - 1].strength))
				weakest = number[k];
	}
	if (!weakest)
		return false;
	progress[weakest - 1].dropped = true;
	control.area->vectors_dropped++;
	return true;
}

size_t vectors_filter(struct sched_task **tasks, size_t late, size_t n)
{
	size_t kept;

	for (;;) {
		if ((kept = keep(tasks, 0, late, MAY)) || (kept = keep(tasks, late, n, MAY)) ||
		    (kept = keep(tasks, 0, late, PAST)) || (kept = keep(tasks, late, n, PAST)))
			return kept;
		if (!drop_weakest(tasks, n))
			control_infeasible();
	}
}
