/* witness/visits.c - see visits.h. */
#include "witness/visits.h"

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "trace/trace.h"

#include <string.h>

/* Steps of each thread, counted along with the events: a schedule says who ran from when on. */
struct counter {
	const struct decisions *decisions;
	size_t next;	  /* decision */
	uint64_t clock;	  /* steps of the run so far */
	uint32_t current; /* who makes them */
	VEC(uint64_t) steps;
};

static uint64_t *steps_of(struct counter *c, uint32_t thread)
{
	while (c->steps.len <= thread)
		vec_push(&c->steps, 0);
	return &c->steps.data[thread];
}

static void count_until(struct counter *c, uint64_t clock)
{
	while (c->clock < clock) {
		const struct decision *d =
			c->next < c->decisions->len ? &c->decisions->data[c->next] : NULL;
		uint64_t end = d && d->step < clock ? d->step : clock;

		if (end > c->clock)
			*steps_of(c, c->current) += end - c->clock;
		c->clock = end > c->clock ? end : c->clock;
		if (!d || d->step > c->clock || c->clock == clock)
			break;
		if (d->kind != DECISION_CHOICE)
			c->current = d->value;
		c->next++;
	}
}

static bool is_shown(const struct event *ev)
{
	return plait_is_step(ev->kind) && ev->kind != PLAIT_EV_START && ev->kind != PLAIT_EV_EXIT;
}

static bool belongs(const struct visit *v, const struct code_point *at, const struct event *ev)
{
	if (v->at.line != at->line || strcmp(v->at.function, at->function) != 0 ||
	    v->child != PLAIT_ANY || v->nevents == VISIT_EVENTS)
		return false;
	for (size_t i = 0; i < v->nevents; i++)
		if (v->events[i].kind == ev->kind && v->events[i].address == ev->address)
			return false;
	return true;
}

static void add_event(struct visits *all, struct map *latest, const struct event *ev,
		      const struct code_point *at, uint64_t steps)
{
	uint64_t *last = map_put(latest, ev->thread, 0); /* its latest visit, + 1 */
	struct visit *v = *last ? &all->data[*last - 1] : NULL;

	if (!v || !belongs(v, at, ev) || ev->kind == PLAIT_EV_FORK) {
		vec_push(all, (struct visit){ .thread = ev->thread,
					      .at = *at,
					      .child = PLAIT_ANY,
					      .first = steps });
		*last = all->len;
		v = vec_last(all);
	}
	if (ev->kind == PLAIT_EV_FORK)
		v->child = ev->other;
	v->last = steps;
	v->events[v->nevents].kind = ev->kind;
	v->events[v->nevents++].address = ev->address;
}

struct err *visits_of(struct trace *t, struct symbols *symbols, const struct schedule *schedule,
		      struct visits *ret)
{
	struct counter counter = { .decisions = schedule ? &schedule->decisions : NULL };
	struct map latest = { 0 };
	const struct event *ev;
	struct cursor c;
	struct err *err;

	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		struct code_point at;

		if (schedule)
			count_until(&counter, ev->clock);
		if (is_shown(ev) && symbols_site(symbols, ev->site, &at) && at.line)
			add_event(ret, &latest, ev, &at,
				  schedule ? *steps_of(&counter, ev->thread) : 0);
	}
	cursor_deinit(&c);
	map_deinit(&latest);
	vec_deinit(&counter.steps);
	return err;
}
