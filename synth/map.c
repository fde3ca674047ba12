/* synth/map.c - see map.h.
 *
 * The run of the unplait build is cut into pieces of one thread each. A piece ends where its thread is interrupted: in
 * front of its next event. That event's line has instructions in the shipped binary, by its line table; they are kept
 * if the (inlined) function around them is the event's. How often the thread has come there is counted in the events.
 *
 * Which of a line's instructions makes the access is not known. If the thread was already on that line before it was
 * interrupted (`n++`: between the load and the store), a few steps into the line come first, else its beginning. A
 * thread that could not go on is not stopped by us: it waits by itself. */
#include "synth/map.h"

#include "base/demangle.h"
#include "base/err.h"
#include "base/map.h"
#include "debug/modules.h"
#include "debug/names.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

enum {
	EVENTS_MOST = 2000000,
	PLACES_MOST = 40, /* per switch */
	STEPS_MOST = 8,	  /* into a line */
	INSTRUCTION = 3,  /* bytes, roughly */
	OTHER_HITS = 3,	  /* unrolled and inlined code comes to an instruction less often */
	SWITCHES_MOST = 200
};

#define NONE UINT32_MAX

struct piece_event {
	uint32_t thread, site;
	uint32_t nth; /* of its thread at its site, from 1, since there are two threads */
	uint32_t next, previous; /* of its thread; NONE */
	uint8_t kind;
	bool blocked; /* at the end of its piece, `next` cannot be done */
};

struct mapping {
	struct trace *trace;
	struct symbols *symbols;
	struct module *module;
	VEC(struct piece_event) events;
	struct map_plan *plan;
};

/* ---- the run ---- */

/* What blocks: held locks and living threads, while the run is read. */
struct world {
	struct map owners;  /* mutex -> thread + 1; 0 = free */
	struct map ended;   /* thread */
	struct map objects; /* event -> what it is about */
	struct map counts;
	VEC(uint32_t) last; /* per thread: its last event */
};

static void add_event(struct mapping *m, struct world *w, const struct event *ev)
{
	uint32_t number = (uint32_t)m->events.len;

	while (w->last.len <= ev->thread)
		vec_push(&w->last, NONE);
	vec_push(&m->events, ((struct piece_event){
				     .thread = ev->thread,
				     .site = ev->site,
				     .kind = ev->kind,
				     .nth = (uint32_t)++*map_put(
					     &w->counts, (uint64_t)ev->thread << 32 | ev->site, 0),
				     .next = NONE,
				     .previous = w->last.data[ev->thread] }));
	if (w->last.data[ev->thread] != NONE)
		m->events.data[w->last.data[ev->thread]].next = number;
	w->last.data[ev->thread] = number;
	*map_put(&w->objects, number, 0) = ev->kind == PLAIT_EV_JOIN ? ev->other : ev->address;
}

static struct err *read_events(struct mapping *m, struct world *w)
{
	const struct event *ev;
	struct cursor c;
	struct err *err;
	bool begun = false;

	cursor_init(&c, m->trace, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev && m->events.len < EVENTS_MOST) {
		if (begun && (plait_is_point(ev->kind) || plait_is_step(ev->kind)))
			add_event(m, w, ev);
		begun |= ev->kind == PLAIT_EV_FORK;
	}
	cursor_deinit(&c);
	return err;
}

static void do_event(struct world *w, const struct piece_event *e, uint64_t object)
{
	if (e->kind == PLAIT_EV_LOCK || e->kind == PLAIT_EV_TRYLOCK || e->kind == PLAIT_EV_WRLOCK)
		*map_put(&w->owners, object, 0) = e->thread + 1;
	else if (e->kind == PLAIT_EV_UNLOCK || e->kind == PLAIT_EV_RWUNLOCK)
		*map_put(&w->owners, object, 0) = 0;
	else if (e->kind == PLAIT_EV_EXIT)
		map_put(&w->ended, e->thread, 1);
}

/* Can the thread's next event not be done now? */
static bool is_blocked(const struct world *w, const struct piece_event *e, uint64_t object)
{
	if (e->kind == PLAIT_EV_LOCK || e->kind == PLAIT_EV_WRLOCK) {
		uint64_t owner = map_get_or(&w->owners, object, 0);

		return owner && owner != e->thread + 1;
	}
	if (e->kind == PLAIT_EV_JOIN)
		return !map_find(&w->ended, object);
	return plait_may_block(e->kind) || e->kind == PLAIT_EV_EXIT;
}

static void mark_blocked(struct mapping *m, struct world *w)
{
	for (uint32_t i = 0; i < m->events.len; i++) {
		struct piece_event *e = &m->events.data[i];

		do_event(w, e, map_get_or(&w->objects, i, 0));
		e->blocked = e->next == NONE || is_blocked(w, &m->events.data[e->next],
							   map_get_or(&w->objects, e->next, 0));
	}
}

static void world_deinit(struct world *w)
{
	map_deinit(&w->owners);
	map_deinit(&w->ended);
	map_deinit(&w->objects);
	map_deinit(&w->counts);
	vec_deinit(&w->last);
}

/* ---- places ---- */

static bool in_function(struct module *m, uint64_t at, const char *function)
{
	struct source_frames frames = { 0 };
	char *have, *want = function_own_name(function);
	bool same = false;

	module_frames(m, at, &frames);
	have = function_own_name(frames.len && frames.data[0].function ? frames.data[0].function
								       : "");
	same = !strcmp(have, want);
	free(have);
	free(want);
	free(frames.data);
	return same;
}

/* The ranges of an event's line, those of its column first. */
static void find_ranges(struct mapping *m, const struct code_point *p, struct line_ranges *ret)
{
	struct line_ranges all = { 0 };

	module_lines(m->module, p->file, p->line, &all);
	for (unsigned column = 0; column < 2; column++)
		for (size_t i = 0; i < all.len; i++)
			if ((all.data[i].column == p->column) == !column &&
			    in_function(m->module, all.data[i].low, p->function))
				vec_push(ret, all.data[i]);
	free(all.data);
}

static void add_place(struct mapping *m, struct map_switch *s, uint32_t thread, uint64_t at,
		      uint32_t hit, uint32_t steps)
{
	struct turn t = { .at = at, .hit = hit, .steps = steps };

	if (s->places.len >= PLACES_MOST)
		return;
	snprintf(t.thread, sizeof(t.thread), "%s", trace_meta(m->trace)->threads[thread].name);
	vec_push(&s->places, t);
	m->plan->nplaces++;
}

static bool same_line(struct mapping *m, uint32_t site, const struct code_point *p)
{
	struct code_point other;

	return symbols_site(m->symbols, site, &other) && other.line == p->line &&
	       !strcmp(other.file, p->file);
}

static void add_line(struct mapping *m, const struct piece_event *last,
		     const struct piece_event *next, struct map_switch *to)
{
	struct line_ranges ranges = { 0 };
	struct code_point p;
	uint32_t first;

	if (!symbols_site(m->symbols, next->site, &p) || !p.line)
		return;
	first = same_line(m, last->site, &p);
	find_ranges(m, &p, &ranges);
	for (uint32_t n = 0; n <= STEPS_MOST; n++) {
		uint32_t steps = (first + n) % (STEPS_MOST + 1);

		for (size_t i = 0; i < ranges.len; i++)
			if (!steps ||
			    steps * INSTRUCTION <= ranges.data[i].high - ranges.data[i].low)
				add_place(m, to, next->thread, ranges.data[i].low, next->nth,
					  steps);
	}
	for (uint32_t less = 1; less <= OTHER_HITS && less < next->nth; less++)
		for (size_t i = 0; i < ranges.len; i++)
			add_place(m, to, next->thread, ranges.data[i].low, next->nth - less, first);
	free(ranges.data);
}

/* The run failed before the thread's next event, which is not known therefore: somewhere behind its last one. */
static void add_behind(struct mapping *m, const struct piece_event *last, struct map_switch *to)
{
	struct line_ranges ranges = { 0 };
	struct code_point p;

	if (last->kind == PLAIT_EV_EXIT || !symbols_site(m->symbols, last->site, &p) || !p.line)
		return;
	find_ranges(m, &p, &ranges);
	for (uint32_t steps = 1; steps <= STEPS_MOST; steps++)
		for (size_t i = 0; i < ranges.len; i++)
			add_place(m, to, last->thread, ranges.data[i].low, last->nth, steps);
	free(ranges.data);
}

/* ends: with the run. */
static void add_switch(struct mapping *m, const struct piece_event *last, bool ends)
{
	struct map_switch s = { 0 };

	if (last->blocked)
		add_place(m, &s, last->thread, 0, 0, 0);
	if (last->next != NONE)
		add_line(m, last, &m->events.data[last->next], &s);
	else if (!ends)
		add_behind(m, last, &s);
	if (!s.places.len)
		add_place(m, &s, last->thread, 0, 0, 0);
	vec_push(&m->plan->switches, s);
}

static struct err *fill_plan(struct mapping *m)
{
	struct world w = { 0 };
	struct err *err = read_events(m, &w);

	if (!err)
		mark_blocked(m, &w);
	for (size_t i = 0; !err && i < m->events.len; i++)
		if (i + 1 == m->events.len ||
		    m->events.data[i].thread != m->events.data[i + 1].thread)
			add_switch(m, &m->events.data[i], i + 1 == m->events.len);
	if (m->plan->switches.len > SWITCHES_MOST)
		map_plan_deinit(m->plan);
	world_deinit(&w);
	return err;
}

struct err *map_schedule(const char *plait, const char *program, struct map_plan *ret)
{
	struct mapping m = { .plan = ret };
	struct modules *modules = modules_new();
	struct err *err = trace_open(plait, &m.trace);

	if (!err)
		err = symbols_open(m.trace, &m.symbols);
	if (!err)
		err = modules_get(modules, program, NULL, &m.module);
	if (!err)
		err = fill_plan(&m);
	symbols_close(m.symbols);
	trace_close(m.trace);
	modules_free(modules);
	vec_deinit(&m.events);
	return err;
}

void map_plan_deinit(struct map_plan *p)
{
	for (size_t i = 0; i < p->switches.len; i++)
		vec_deinit(&p->switches.data[i].places);
	vec_deinit(&p->switches);
	*p = (struct map_plan){ 0 };
}

/* ---- the walk: all choices, by the sum of their ranks ---- */

/* Give so much to the choices from `from` on, the last ones first; false: they cannot take it. */
static bool deal(const struct map_plan *p, struct map_walk *w, size_t from, size_t rest)
{
	for (size_t i = p->switches.len; i-- > from;) {
		size_t most = p->switches.data[i].places.len - 1;

		w->chosen.data[i] = rest < most ? rest : most;
		rest -= w->chosen.data[i];
	}
	return !rest;
}

static bool step_walk(const struct map_plan *p, struct map_walk *w)
{
	size_t behind = 0;

	for (size_t i = p->switches.len; i-- > 0; behind += w->chosen.data[i])
		if (behind && w->chosen.data[i] + 1 < p->switches.data[i].places.len) {
			w->chosen.data[i]++;
			return deal(p, w, i + 1, behind - 1);
		}
	return deal(p, w, 0, ++w->sum);
}

bool map_next(const struct map_plan *p, struct map_walk *w, struct script *ret)
{
	if (!p->switches.len)
		return false;
	if (!w->begun) {
		w->begun = true;
		for (size_t i = 0; i < p->switches.len; i++)
			vec_push(&w->chosen, 0);
	} else if (!step_walk(p, w)) {
		return false;
	}
	ret->turns.len = 0;
	for (size_t i = 0; i < p->switches.len; i++)
		vec_push(&ret->turns, p->switches.data[i].places.data[w->chosen.data[i]]);
	return true;
}

void map_walk_deinit(struct map_walk *w)
{
	vec_deinit(&w->chosen);
}
