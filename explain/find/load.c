#include "explain/find/load.h"

#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "explain/find/alone.h"
#include "run/run.h"
#include "trace/trace.h"

#include <string.h>

/* Access: its bytes. A freed block: all of it. Synchronisation: none. */
static uint32_t size_of(const struct event *ev, struct map *blocks)
{
	if (plait_is_access(ev->kind))
		return (uint32_t)MIN(ev->n, UINT32_MAX);
	if (ev->kind == PLAIT_EV_FREE)
		return (uint32_t)MIN(map_get_or(blocks, ev->address, 1), UINT32_MAX);
	return 0;
}

static uint64_t value_of(const struct event *ev)
{
	if (plait_is_access(ev->kind))
		return ev->value;
	if (ev->kind == PLAIT_EV_WAIT || ev->kind == PLAIT_EV_WOKEN)
		return ev->address2;
	return (uint64_t)ev->result;
}

static void add_step(struct steps *s, const struct event *ev, struct map *blocks, uint32_t *counts)
{
	struct step e = { .thread = ev->thread,
			  .kind = ev->kind,
			  .site = ev->site,
			  .clock = ev->clock,
			  .address = ev->address,
			  .value = value_of(ev),
			  .size = size_of(ev, blocks),
			  .source = STEP_NONE };

	if (ev->kind == PLAIT_EV_ALLOC)
		*map_put(blocks, ev->address, 0) = ev->n;
	if (!step_reads(&e) && !step_writes(&e))
		return;
	e.index = counts[ev->thread]++;
	vec_push(s, e);
}

static void note_life(struct steps *s, const struct event *ev)
{
	if (ev->other >= s->nthreads)
		return;
	if (ev->kind == PLAIT_EV_FORK) {
		s->births[ev->other] = (struct birth){ .parent = ev->thread,
						       .clock = ev->clock + 1,
						       .site = ev->site };
	} else if (ev->kind == PLAIT_EV_JOIN && !ev->result) {
		s->births[ev->other].joined = ev->clock + 1;
		s->births[ev->other].joiner = ev->thread;
	}
}

static void note_handler(struct steps *s, const struct event *ev)
{
	if (ev->kind == PLAIT_EV_SIGNAL_ENTER)
		vec_push(&s->handlers,
			 ((struct handler_run){ ev->thread, (uint32_t)ev->n, ev->clock, 0 }));
	for (size_t i = s->handlers.len; ev->kind == PLAIT_EV_SIGNAL_LEAVE && i-- > 0;) {
		struct handler_run *h = &s->handlers.data[i];

		if (h->thread != ev->thread || h->to)
			continue;
		h->to = ev->clock;
		return;
	}
}

struct err *steps_load(struct trace *trace, struct steps *ret)
{
	uint32_t nthreads = (uint32_t)trace_meta(trace)->nthreads;
	_cleanup_(xfreep) uint32_t *counts = xcalloc(nthreads, sizeof(*counts));
	_cleanup_(map_deinit) struct map blocks = { 0 }; /* address -> size */
	_cleanup_(cursor_deinit) struct cursor cur;
	const struct event *ev;
	struct err *err;

	memset(ret, 0, sizeof(*ret));
	ret->nthreads = nthreads;
	ret->births = xcalloc(nthreads, sizeof(*ret->births));
	if (trace_meta(trace)->clock != PLAIT_CLOCK_STEPS)
		return err_new(
			ERR_ENV,
			"%s was not recorded under control: its order is not exact; `unplait "
			"hunt` makes a recording that can be explained",
			trace_path(trace));
	cursor_init(&cur, trace, CURSOR_ALL, 0);
	while (!(err = cursor_next(&cur, &ev)) && ev) {
		add_step(ret, ev, &blocks, counts);
		note_life(ret, ev);
		note_handler(ret, ev);
	}
	if (err) {
		steps_deinit(ret);
		return err;
	}
	steps_link(ret);
	steps_mark_alone(ret, ret->births);
	return NULL;
}

uint32_t steps_add_caught(struct steps *s, const struct run_result *r)
{
	const struct plait_failure *f = &r->failure;
	/* whether it reads or writes, it depends on what is there */
	struct step e = { .thread = f->thread,
			  .kind = PLAIT_EV_READ,
			  .clock = r->steps,
			  .site = f->site,
			  .address = f->address,
			  .size = 1,
			  .pending = true };

	if (r->end != PLAIT_END_MISUSE || !f->address || f->thread >= s->nthreads)
		return STEP_NONE;
	for (size_t k = 0; k < s->len; k++)
		e.index += s->data[k].thread == e.thread;
	vec_push(s, e);
	steps_link(s);
	return (uint32_t)s->len - 1;
}
