/* race/orders.c - can two accesses be next at once, in any order of a run's events?
 *
 * The passes before this one keep sections of a lock in their order (predict.c), or let them change
 * places only if they do not conflict (wcp.c). The order engine knows no such rule: locks exclude each
 * other, a thread does what it did as long as its reads see the recorded values, and nothing else
 * must be as it was. That is everything that a run says about races of others ("maximal"), so what is
 * asked here is asked last, about the few pairs that are left, and in bounded time. */
#include "race/orders.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "order/reach/reach.h"
#include "solve/load.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

#define QUESTION_SECONDS 0.3
#define ALL_SECONDS	 1.0

/* ---- from an access to the event of the model ---- */

/* Which step of its thread each access is, from 0; two for each pair. */
struct steps {
	const struct race_instance *pairs;
	size_t n;
	uint32_t *of;	/* 2 * pair + side */
	uint32_t *seen; /* steps so far, by thread */
	bool unknown; /* something orders threads that the model does not have: messages, OpenMP */
};

static const struct race_access *side_of(const struct race_instance *p, size_t side)
{
	return side ? &p->second : &p->first;
}

static void note_event(struct steps *s, const struct event *ev)
{
	for (size_t i = 0; i < 2 * s->n && plait_is_access(ev->kind); i++) {
		const struct race_access *a = side_of(&s->pairs[i / 2], i % 2);

		if (a->thread == ev->thread && a->index == ev->index)
			s->of[i] = s->seen[ev->thread];
	}
	s->seen[ev->thread] += load_is_step(ev->kind, ev->thread);
	s->unknown |= ev->kind == PLAIT_EV_ACQUIRE;
}

static struct err *find_steps(struct trace *t, struct steps *s)
{
	const struct event *ev;
	struct cursor c;
	struct err *err;

	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev)
		if (ev->thread < trace_meta(t)->nthreads)
			note_event(s, ev);
	cursor_deinit(&c);
	return err;
}

/* The thread is about to do this step; false: the model does not have it. */
static bool goal_before(const struct order_built *b, uint32_t thread, uint32_t step,
			struct order_goal *ret)
{
	const struct order_thread *t = &b->m->threads.data[thread];

	for (size_t i = 0; i < t->len; i++) {
		const struct order_event *e = &b->m->events.data[t->data[i]];

		if (b->step[t->data[i]] != step || e->synthetic || e->aside)
			continue;
		*ret = (struct order_goal){ thread, e->index, UINT32_MAX, false };
		return true;
	}
	return false;
}

/* ---- questions ---- */

static struct err *ask(struct order_reach *r, const struct order_goal goals[2], bool *ret)
{
	struct order_question q = { goals, 2, TERM_NONE };
	struct order_budget budget = { .seconds = QUESTION_SECONDS, .seed = 1 };
	struct order_reached answer = { 0 };
	struct err *err = order_reach_ask(r, &q, &budget, &answer);

	*ret = !err && answer.status == ORDER_SAT;
	order_reached_deinit(&answer);
	return err;
}

static struct err *ask_all(const struct loaded *l, const struct steps *s, bool *ret)
{
	struct order_reach *r = order_reach_open(l->built.m);
	double end = clock_seconds() + ALL_SECONDS;
	struct err *err = NULL;

	for (size_t i = 0; i < s->n && !err && clock_seconds() < end; i++) {
		struct order_goal goals[2];

		if (goal_before(&l->built, s->pairs[i].first.thread, s->of[2 * i], &goals[0]) &&
		    goal_before(&l->built, s->pairs[i].second.thread, s->of[2 * i + 1], &goals[1]))
			err = ask(r, goals, &ret[i]);
	}
	order_reach_close(r);
	return err;
}

struct err *orders_meet(struct trace *t, const struct race_instance *pairs, size_t n, bool *ret)
{
	struct steps s = { .pairs = pairs, .n = n };
	struct loaded l = { 0 };
	struct err *err;

	memset(ret, 0, n * sizeof(*ret));
	if (!n || !load_has_values(t))
		return NULL;
	err = load_values(t, &l);
	if (err)
		return err;
	s.of = xcalloc(2 * n, sizeof(*s.of));
	s.seen = xcalloc(trace_meta(t)->nthreads + 1, sizeof(*s.seen));
	if (!l.unsupported)
		err = find_steps(t, &s);
	if (!err && !l.unsupported && !s.unknown)
		err = ask_all(&l, &s, ret);
	free(s.of);
	free(s.seen);
	loaded_deinit(&l);
	return err;
}
