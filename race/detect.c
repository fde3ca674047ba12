/* race/detect.c - happens-before over a plait.
 *
 * One pass feeds every event to the two machines that the runtime uses, too: sched/happens.c (who
 * knows of whom) and sched/cells.c (who touched what). The time of an event is its place among all
 * events. A cell remembers of an access its thread, site and time only, so a second pass, where there
 * are races at all, looks up which events these times stand for.
 *
 * Memory orders come from the site tables of the binaries. Where these are not at hand, or older,
 * every atomic counts as sequentially consistent: fewer races, none that is not there. */
#include "race/detect.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "debug/names.h"
#include "sched/cells.h"
#include "trace/trace.h"

#include <assert.h>
#include <string.h>

enum { SEQ_CST = 5, NOT_CAS = 7 };

/* A race as the first pass knows it. */
struct found {
	uint32_t first, second; /* times */
	struct race_instance instance;
};

struct detector {
	struct trace *trace;
	struct symbols *symbols; /* NULL: no site tables */
	struct arena memory;
	struct happens happens;
	struct cells cells;
	struct map blocks;	   /* address: bytes */
	struct map orders;	   /* site: order, and that of a failure << 4 */
	struct map pairs;	   /* two sites: how many instances are kept */
	VEC(bool) in_handler;	   /* by thread */
	VEC(uint32_t) orders_said; /* by thread: PLAIT_EV_ORDER + 1, 0 none */
	VEC(uint8_t) ignores;	   /* by thread: PLAIT_EV_IGNORE */
	VEC(struct found) found;   /* those of one event stand together */
	const struct event *ev;	   /* being looked at */
	struct race_access now;	   /* the same */
	uint32_t time;
	struct race_instances *out;
};

static void *get(void *context, size_t bytes)
{
	return arena_alloc(context, bytes);
}

/* ---- memory orders ---- */

/* What the event in front of it says: code of other compilers. */
static uint64_t orders_said(struct detector *d, uint32_t thread)
{
	uint32_t said = d->orders_said.data[thread] - 1;

	d->orders_said.data[thread] = 0;
	return (said & 15) | (uint64_t)(said >> 4 ? (said >> 4) - 1 : NOT_CAS) << 4;
}

static uint64_t orders_of(struct detector *d, uint32_t site, uint32_t thread)
{
	uint64_t *known = map_find(&d->orders, site), orders = SEQ_CST | NOT_CAS << 4;
	struct code_point at;

	if (thread < d->orders_said.len && d->orders_said.data[thread])
		return orders_said(d, thread);
	if (known)
		return *known;
	if (d->symbols && symbols_site(d->symbols, site, &at) && at.site) {
		uint32_t order = (at.site->flags & PLAIT_SITE_ORDER) >> PLAIT_SITE_ORDER_SHIFT;
		uint32_t failing =
			(at.site->flags & PLAIT_SITE_FAILING) >> PLAIT_SITE_FAILING_SHIFT;

		d->out->orders_unknown |= !order;
		orders = (order ? order - 1 : SEQ_CST) | (failing ? failing - 1 : NOT_CAS) << 4;
	} else {
		d->out->orders_unknown = true;
	}
	return *map_put(&d->orders, site, orders);
}

static struct happens_event clock_event(struct detector *d, const struct event *ev)
{
	struct happens_event e = {
		.kind = ev->kind,
		.thread = ev->thread,
		.time = d->time,
		.other = ev->other,
		.object = ev->address,
		.object2 = ev->address2,
		.n = ev->n,
		.result = ev->result,
		.order = SEQ_CST,
		.wrote = true,
	};

	if (ev->kind == PLAIT_EV_FENCE) {
		e.order = (uint32_t)ev->n;
	} else if (plait_is_atomic(ev->kind)) {
		uint64_t orders = orders_of(d, ev->site, ev->thread);

		e.order = orders & 15;
		if (ev->kind == PLAIT_EV_ATOMIC_RMW && ev->value == ev->value2 &&
		    orders >> 4 != NOT_CAS) {
			e.wrote = false;
			e.order = (uint32_t)(orders >> 4);
		}
	}
	return e;
}

/* ---- the first pass ---- */

static void on_race(void *context, uint64_t address, const struct cell_access *first,
		    const struct cell_access *second)
{
	struct detector *d = context;
	uint64_t *kept;

	/* a wide access meets another in several granules: one race */
	for (size_t i = d->found.len; i-- > 0 && d->found.data[i].second == d->time;)
		if (d->found.data[i].first == first->time)
			return;
	d->out->seen++;
	kept = map_put(&d->pairs, (uint64_t)first->site << 32 | second->site, 0);
	if (++*kept > RACE_PER_PAIR)
		return;
	vec_push(&d->found,
		 (struct found){
			 .first = first->time,
			 .second = d->time,
			 .instance = { .second = d->now,
				       .address = address + (unsigned)__builtin_ctz(
								    first->bytes & second->bytes) },
		 });
}

/* What access_of() needs to know of the events before. */
static void note(struct detector *d, const struct event *ev)
{
	bool enters = ev->kind == PLAIT_EV_SIGNAL_ENTER;

	if (ev->kind == PLAIT_EV_ALLOC)
		*map_put(&d->blocks, ev->address, 0) = ev->n;
	if (!enters && ev->kind != PLAIT_EV_SIGNAL_LEAVE)
		return;
	while (d->in_handler.len <= ev->thread)
		vec_push(&d->in_handler, false);
	d->in_handler.data[ev->thread] = enters;
}

/* What a race report says about an event. */
struct race_access race_access_of(const struct event *ev)
{
	return (struct race_access){
		.thread = ev->thread,
		.index = ev->index,
		.step = ev->clock,
		.site = ev->site,
		.address = ev->address,
		.size = ev->n,
		.kind = ev->kind,
		.is_write = plait_is_access(ev->kind) && event_is_write(ev),
		.is_atomic = plait_is_atomic(ev->kind),
	};
}

static struct race_access access_of(struct detector *d, const struct event *ev)
{
	struct race_access a = race_access_of(ev);

	if (ev->kind == PLAIT_EV_FREE) {
		a.size = map_get_or(&d->blocks, ev->address, 0);
		a.is_write = true;
	}
	a.in_handler = ev->thread < d->in_handler.len && d->in_handler.data[ev->thread];
	return a;
}

static void look_at_access(struct detector *d, const struct happens_event *e)
{
	const struct event *ev = d->ev;
	uint8_t flags = (e->wrote && plait_writes(ev->kind) ? CELL_WRITE : 0) |
			(plait_is_atomic(ev->kind) ? CELL_ATOMIC : 0);
	struct cell_access a = {
		.time = d->time, .site = ev->site, .thread = (uint16_t)ev->thread, .flags = flags
	};

	if (ev->thread < d->ignores.len &&
	    d->ignores.data[ev->thread] & (plait_writes(ev->kind) ? 2 : 1))
		return;
	d->now = access_of(d, ev);
	cells_access(&d->cells, ev->address, ev->n, a);
}

static void look_at_memory(struct detector *d)
{
	const struct event *ev = d->ev;
	struct cell_access a = { .time = d->time,
				 .site = ev->site,
				 .thread = (uint16_t)ev->thread };

	switch (ev->kind) {
	case PLAIT_EV_FREE:
		d->now = access_of(d, ev);
		cells_free(&d->cells, ev->address, d->now.size, a);
		break;
	case PLAIT_EV_BENIGN:
		cells_benign(&d->cells, ev->address, ev->n);
		break;
	case PLAIT_EV_ORDER:
		while (d->orders_said.len <= ev->thread)
			vec_push(&d->orders_said, 0);
		d->orders_said.data[ev->thread] = (uint32_t)ev->n + 1;
		break;
	case PLAIT_EV_IGNORE:
		while (d->ignores.len <= ev->thread)
			vec_push(&d->ignores, 0);
		d->ignores.data[ev->thread] = (uint8_t)ev->n;
		break;
	case PLAIT_EV_ALLOC:
	case PLAIT_EV_STACK:
		cells_clear(&d->cells, ev->address, ev->n);
		break;
	default:
		break;
	}
}

static void look_at(struct detector *d, const struct event *ev)
{
	struct happens_event e = clock_event(d, ev);

	d->ev = ev;
	note(d, ev);
	happens_acquire(&d->happens, &e);
	if (plait_is_access(ev->kind))
		look_at_access(d, &e);
	else
		look_at_memory(d);
	happens_release(&d->happens, &e);
}

static struct err *first_pass(struct detector *d)
{
	struct cursor c;
	struct err *err;
	const struct event *ev;

	cursor_init(&c, d->trace, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		d->time++;
		look_at(d, ev);
	}
	cursor_deinit(&c);
	return err;
}

/* ---- the second pass ---- */

static int by_first(const void *a, const void *b)
{
	const struct found *x = *(const struct found *const *)a,
			   *y = *(const struct found *const *)b;

	return x->first < y->first ? -1 : x->first > y->first;
}

static struct err *second_pass(struct detector *d)
{
	VEC(struct found *) wanted = { 0 };
	struct cursor c;
	struct err *err;
	const struct event *ev;
	size_t next = 0;

	for (size_t i = 0; i < d->found.len; i++)
		vec_push(&wanted, &d->found.data[i]);
	vec_sort(&wanted, by_first);
	map_clear(&d->blocks);
	vec_clear(&d->in_handler);
	d->time = 0;
	cursor_init(&c, d->trace, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev && next < wanted.len) {
		d->time++;
		note(d, ev);
		for (; next < wanted.len && wanted.data[next]->first == d->time; next++)
			wanted.data[next]->instance.first = access_of(d, ev);
	}
	cursor_deinit(&c);
	vec_deinit(&wanted);
	return err;
}

/* ---- all of it ---- */

static struct err *check_kind(const struct trace_meta *m, const char *path)
{
	if (m->mode != PLAIT_MODE_FULL && m->mode != PLAIT_MODE_CONTROL)
		return err_new(
			ERR_ENV,
			"%s has no memory accesses (mode %s): record it with `unplait record "
			"--mode full`, or give the plait of a hunt",
			path, mode_name(m->mode));
	if (m->nevents >= UINT32_MAX)
		return err_new(ERR_ENV, "%s is too long: %llu events", path,
			       (unsigned long long)m->nevents);
	return NULL;
}

static void detector_deinit(struct detector *d)
{
	symbols_close(d->symbols);
	arena_deinit(&d->memory);
	map_deinit(&d->blocks);
	map_deinit(&d->orders);
	map_deinit(&d->pairs);
	vec_deinit(&d->in_handler);
	vec_deinit(&d->ignores);
	vec_deinit(&d->orders_said);
	vec_deinit(&d->found);
}

struct err *race_detect(struct trace *t, struct race_instances *ret)
{
	struct detector d = { .trace = t, .out = ret };
	struct err *err = check_kind(trace_meta(t), trace_path(t));

	if (err)
		return err;
	assert(!ret->len);
	err_free(symbols_open(t, &d.symbols)); /* without it: no memory orders */
	happens_init(&d.happens, get, &d.memory);
	d.cells = (struct cells){ .happens = &d.happens, .race = on_race, .context = &d };
	err = first_pass(&d);
	if (!err && d.found.len)
		err = second_pass(&d);
	for (size_t i = 0; !err && i < d.found.len; i++)
		vec_push(ret, d.found.data[i].instance);
	ret->lost = d.cells.lost;
	ret->exact = trace_meta(t)->clock == PLAIT_CLOCK_STEPS;
	detector_deinit(&d);
	return err;
}

void race_instances_deinit(struct race_instances *r)
{
	vec_deinit(r);
}
