/* synth/steer.c - bring the threads of a native run into the deadlock that the dump shows.
 *
 * A passing run of the unplait build is recorded. In it we look for the moments at which a thread locks
 * with a stack of the goal: its *want*. Its *entry* is where it took the first of the locks that it holds
 * then. The published search goes back to the state before a lock was taken (001 section 4.4.1, the map
 * from held locks to states). A native run cannot go back, so the threads are held before their entries:
 *
 *	all come to their entries, one after the other goes on to its want, and then nobody can.
 *
 * Who goes in first matters (it may need the others' locks on its way), so each of them is the first
 * once. A fingerprint of watch says where each of them took the locks that it held: other moments are left out, which is
 * what makes one of many rounds through the same code the right one (001 section 7.1.5). Events are held back by place and number. Where that leaves nobody who can run, the runtime lets
 * go, and the run ends otherwise. What led the unplait build there leads the shipped binary there, too. */
#include "synth/study.h"

#include "base/err.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "debug/names.h"
#include "run/place.h"
#include "trace/trace.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	STACKS_MOST = 4,  /* threads of the cycle */
	WANTS_MOST = 256, /* moments per stack of the goal whose callers are looked at */
	GOOD_MOST = 16,	  /* of those that have all of its stack: tried */
	RUNS_MOST = 300,
	STEPS_MOST = 5000000 /* of the passing run */
};

#define NONE SIZE_MAX

/* A mutex was locked or unlocked in the passing run. */
struct lock_event {
	uint32_t thread, site;
	uint32_t nth;	 /* of this thread at this site, from 1 */
	uint32_t number; /* of this thread, from 0: the same in every build */
	size_t previous; /* of its thread; NONE */
	size_t entry; /* where it took the first lock that it holds now, before this event; NONE */
	size_t outer; /* ... and the last one of those; NONE */
	uint64_t mutex;
	bool locks;
};

struct moments VEC_FIELDS(size_t); /* events */

struct steering {
	struct study *s;
	struct own_run *own;
	struct symbols *symbols; /* of the passing run */
	VEC(struct lock_event) events;
	struct moments wants[STACKS_MOST]; /* per stack of the goal: it is complete there */
	unsigned runs;
};

/* ---- the passing run ---- */

/* What a thread holds, while the run is read. */
struct holder {
	size_t last;
	struct moments held; /* events that locked, the outermost lock first */
	uint32_t number;
};

static void let_go(const struct steering *x, struct holder *h, uint64_t mutex)
{
	for (size_t i = h->held.len; i-- > 0;)
		if (x->events.data[h->held.data[i]].mutex == mutex) {
			memmove(&h->held.data[i], &h->held.data[i + 1],
				(h->held.len - i - 1) * sizeof(h->held.data[0]));
			h->held.len--;
			return;
		}
}

static uint32_t number_at_site(struct map *counts, const struct event *ev)
{
	return (uint32_t)++*map_put(counts, (uint64_t)ev->thread << 32 | ev->site, 0);
}

static void read_event(struct steering *x, struct holder *h, struct map *counts,
		       const struct event *ev)
{
	bool locks = ev->kind == PLAIT_EV_LOCK || ev->kind == PLAIT_EV_TRYLOCK;

	vec_push(&x->events, (struct lock_event){ .thread = ev->thread,
						  .site = ev->site,
						  .nth = number_at_site(counts, ev),
						  .number = h->number++,
						  .previous = h->last,
						  .entry = h->held.len ? h->held.data[0] : NONE,
						  .outer = h->held.len ? *vec_last(&h->held) : NONE,
						  .mutex = ev->address,
						  .locks = ev->kind == PLAIT_EV_LOCK });
	h->last = x->events.len - 1;
	if (locks && !ev->result)
		vec_push(&h->held, h->last);
	else if (!locks)
		let_go(x, h, ev->address);
}

static struct err *read_run(struct steering *x, struct trace *t)
{
	VEC(struct holder) holders = { 0 };
	struct map counts = { 0 };
	const struct event *ev;
	struct cursor c;
	struct err *err;

	cursor_init(&c, t, CURSOR_ALL, 0);
	while (!(err = cursor_next(&c, &ev)) && ev) {
		if (ev->kind != PLAIT_EV_LOCK && ev->kind != PLAIT_EV_TRYLOCK &&
		    ev->kind != PLAIT_EV_UNLOCK)
			continue;
		while (holders.len <= ev->thread)
			vec_push(&holders, ((struct holder){ .last = NONE }));
		read_event(x, &holders.data[ev->thread], &counts, ev);
	}
	cursor_deinit(&c);
	map_deinit(&counts);
	for (size_t i = 0; i < holders.len; i++)
		vec_deinit(&holders.data[i].held);
	vec_deinit(&holders);
	return err;
}

/* ---- where the goal's stacks are complete ---- */

static struct plait_pattern pattern_of(const struct lock_event *e)
{
	return (struct plait_pattern){
		.thread = e->thread, .site_low = e->site, .site_high = e->site, .nth = e->nth
	};
}

static bool is_at(const struct steering *x, const struct lock_event *e,
		  const struct synth_point *want)
{
	struct code_point p;

	return e->locks && e->entry != NONE && symbols_site(x->symbols, e->site, &p) &&
	       (p.line == want->line || !want->line) && !strcmp(p.function, want->function);
}

static bool has_stack(const struct steering *x, const struct plait_stack *k,
		      const struct synth_stack *want)
{
	struct plait_blocked b = { .nframes = k->nframes };
	struct places places = { 0 };
	bool has;
	size_t lost;

	memcpy(b.frames, k->frames, k->nframes * sizeof(b.frames[0]));
	places_of_blocked_all(x->symbols, &b, &places);
	has = stack_agrees(want, &places, &lost) != NOT_SAME;
	places_deinit(&places);
	return has;
}

/* The passing run once more, asked for the stacks at some moments: those that do not have the stack are set to NONE. */
static struct err *ask_stacks(struct steering *x, size_t *some, size_t n,
			      const struct synth_stack *want)
{
	struct plait_constraint c[PLAIT_MAX_CONSTRAINTS] = { 0 };
	struct run_request req = { .strategy = PLAIT_STRATEGY_FOLLOW,
				   .constraints = c,
				   .nconstraints = n };
	const struct plait_stack *stacks = session_stacks(x->own->session);
	struct run_result run = { 0 };
	struct err *err;

	for (size_t i = 0; i < n; i++)
		c[i] = (struct plait_constraint){ .kind = PLAIT_CONSTRAINT_STACK,
						  .a = pattern_of(&x->events.data[some[i]]) };
	err = session_run(x->own->session, &req, &run);
	x->s->r->attempts++;
	for (size_t i = 0; !err && i < n; i++)
		if (!stacks[i].step || !has_stack(x, &stacks[i], want))
			some[i] = NONE;
	run_result_deinit(&run);
	return err;
}

/* Keep the moments whose thread took its lock number `depth`, counted from the innermost that it held, with this
 * stack; depth 0: the moment itself has it. */
static struct err *keep_with_stack(struct steering *x, struct moments *some, size_t depth,
				   const struct synth_stack *want)
{
	struct err *err = NULL;
	size_t kept = 0;

	for (size_t from = 0; from < some->len && !err; from += PLAIT_MAX_CONSTRAINTS) {
		size_t asked[PLAIT_MAX_CONSTRAINTS], of[PLAIT_MAX_CONSTRAINTS], n = 0;

		for (size_t i = from; i < MIN(some->len, from + PLAIT_MAX_CONSTRAINTS); i++) {
			size_t at = some->data[i];

			for (size_t d = 0; d < depth && at != NONE; d++)
				at = x->events.data[at].outer;
			if (at != NONE) {
				of[n] = some->data[i];
				asked[n++] = at;
			}
		}
		err = n ? ask_stacks(x, asked, n, want) : NULL;
		for (size_t i = 0; i < n; i++)
			if (asked[i] != NONE)
				some->data[kept++] = of[i];
	}
	some->len = kept;
	return err;
}

/* Keep the moments at which the thread had taken its locks where the fingerprint says. */
static struct err *keep_by_locks(struct steering *x, struct moments *some, size_t g)
{
	struct held held = { 0 };
	struct err *err = NULL;
	size_t before = some->len;

	held_read(x->s, g, &held);
	for (size_t d = 1; d <= held.stacks.len && !err; d++)
		err = keep_with_stack(x, some, d, &held.stacks.data[held.stacks.len - d]);
	if (held.stacks.len)
		log_verbose("steer: %zu of %zu moments hold the locks of the fingerprint",
			    some->len, before);
	held_deinit(&held);
	return err;
}

static struct err *find_wants(struct steering *x, size_t g)
{
	const struct synth_stack *k = &x->s->r->goal.stacks.data[g];
	struct moments *some = &x->wants[g];
	struct err *err;
	size_t candidates;

	for (size_t i = 0; k->points.len && i < x->events.len && some->len < WANTS_MOST; i++)
		if (is_at(x, &x->events.data[i], &k->points.data[0]))
			vec_push(some, i);
	candidates = some->len;
	err = keep_with_stack(x, some, 0, k);
	log_verbose("steer: %zu of %zu moments have stack %zu of the dump", some->len, candidates,
		    g);
	if (!err)
		err = keep_by_locks(x, some, g);
	some->len = MIN(some->len, (size_t)GOOD_MOST);
	return err;
}

/* ---- into the deadlock ---- */

struct constraints VEC_FIELDS(struct plait_constraint);

/* `second` waits until its thread's event in front of `first` has run: the other stands before it. */
static void hold(const struct steering *x, size_t first, size_t second, struct constraints *to)
{
	size_t before = x->events.data[first].previous;

	if (before != NONE)
		vec_push(to,
			 ((struct plait_constraint){ .kind = PLAIT_CONSTRAINT_BEFORE,
						     .a = pattern_of(&x->events.data[before]),
						     .b = pattern_of(&x->events.data[second]) }));
}

/* The first goes in when all the others stand before their entries; each of them when the one before it
 * stands before its want; nobody takes what it wants before the last one is there. */
static void plan(const struct steering *x, const size_t *wants, size_t n, struct constraints *to)
{
	for (size_t i = 1; i < n; i++) {
		size_t entry = x->events.data[wants[i]].entry;

		hold(x, entry, x->events.data[wants[0]].entry, to);
		hold(x, wants[i - 1], entry, to);
		hold(x, wants[n - 1], wants[i - 1], to);
	}
}

static struct err *run_plan(struct steering *x, const size_t *wants, size_t n,
			    struct run_result *run)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_FOLLOW };
	struct constraints c = { 0 };
	struct err *err;

	plan(x, wants, n, &c);
	req.constraints = c.data;
	req.nconstraints = c.len;
	err = session_run(x->own->session, &req, run);
	x->s->r->attempts++;
	x->runs++;
	vec_deinit(&c);
	return err;
}

/* One order of the wants; if it leads to the dump, the shipped binary can be steered in the same way. */
static struct err *try_order(struct steering *x, const size_t *wants, size_t n, const char *plait,
			     enum agreement *ret)
{
	struct run_result run = { 0 };
	struct study *s = x->s;
	struct err *err = run_plan(x, wants, n, &run);

	if (!err)
		err = keep_if_better(s, x->own, &run, plait, ret);
	run_result_deinit(&run);
	if (err || *ret == NOT_SAME)
		return err;
	s->steered.len = 0;
	for (size_t i = 0; i < n; i++) {
		const struct lock_event *e = &x->events.data[wants[i]];

		vec_push(&s->steered, ((struct steered){ e->thread, e->number }));
	}
	return NULL;
}

static bool over(const struct steering *x)
{
	return x->runs >= RUNS_MOST || interrupted() ||
	       (x->s->deadline > 0 && clock_seconds() > x->s->deadline);
}

/* One moment of each stack, of different threads; then each of these threads goes first once. */
static struct err *try_all(struct steering *x, size_t *chosen, size_t n, const char *plait,
			   enum agreement *ret)
{
	size_t stacks = x->s->r->goal.stacks.len;
	struct err *err = NULL;

	for (size_t i = 0;
	     n < stacks && i < x->wants[n].len && !err && *ret == NOT_SAME && !over(x); i++) {
		bool taken = false;

		chosen[n] = x->wants[n].data[i];
		for (size_t k = 0; k < n; k++)
			taken |= x->events.data[chosen[k]].thread ==
				 x->events.data[chosen[n]].thread;
		if (!taken)
			err = try_all(x, chosen, n + 1, plait, ret);
	}
	for (size_t first = 0; n == stacks && first < n && !err && *ret == NOT_SAME && !over(x);
	     first++) {
		size_t order[STACKS_MOST];

		for (size_t k = 0; k < n; k++)
			order[k] = chosen[(first + k) % n];
		err = try_order(x, order, n, plait, ret);
	}
	return err;
}

/* A passing run, read. Not the first run: that one may have made files which the others find. */
static struct err *record_passing(struct steering *x, const char *passing, struct trace **ret)
{
	struct run_request req = { .strategy = PLAIT_STRATEGY_FOLLOW };
	struct run_result run = { 0 };
	struct err *err = session_run(x->own->session, &req, &run);

	x->s->r->attempts++;
	if (!err)
		err = save_plait(x->own->session, &run, passing);
	run_result_deinit(&run);
	if (!err)
		err = trace_open(passing, ret);
	return err ? err : read_run(x, *ret);
}

static void steering_deinit(struct steering *x)
{
	for (size_t i = 0; i < STACKS_MOST; i++)
		vec_deinit(&x->wants[i]);
	vec_deinit(&x->events);
}

static struct err *steer_run(struct steering *x, const char *passing, const char *plait,
			     enum agreement *ret)
{
	size_t chosen[STACKS_MOST], n = x->s->r->goal.stacks.len;
	struct trace *t = NULL;
	struct err *err = record_passing(x, passing, &t);

	if (!err)
		err = symbols_open(t, &x->symbols);
	for (size_t g = 0; g < n && !err; g++)
		err = find_wants(x, g);
	if (!err)
		err = try_all(x, chosen, 0, plait, ret);
	symbols_close(x->symbols);
	trace_close(t);
	return err;
}

struct err *steer(struct study *s, struct own_run *own, const char *plait, enum agreement *ret)
{
	struct steering x = { .s = s, .own = own };
	const struct synth_goal *g = &s->r->goal;
	char *passing = xasprintf("%s.passing", plait);
	struct err *err = NULL;

	if (g->kind == SYNTH_DEADLOCK && g->has_lines && g->stacks.len > 1 &&
	    g->stacks.len <= STACKS_MOST && !run_failed(&s->r->run) && s->r->run.steps < STEPS_MOST)
		err = steer_run(&x, passing, plait, ret);
	steering_deinit(&x);
	free(passing);
	return err;
}

/* ---- the shipped binary ----
 *
 * The runtime sees its synchronisation calls and little of its stacks. But a thread makes the same calls in the same
 * order, whoever compiled it: the n-th lock of the unplait build is its n-th lock. */

static size_t event_of(const struct steering *x, const struct steered *k)
{
	for (size_t i = 0; i < x->events.len; i++) {
		const struct lock_event *e = &x->events.data[i];

		if (e->thread == k->thread && e->number == k->number)
			return e->locks && e->entry != NONE ? i : NONE;
	}
	return NONE;
}

struct err *steer_shipped(struct study *s, struct own_run *own, const char *plait,
			  enum agreement *ret)
{
	struct steering x = { .s = s, .own = own };
	char *passing = xasprintf("%s.passing", plait);
	size_t wants[STACKS_MOST], n = s->steered.len, known = 0;
	struct run_result run = { 0 };
	struct trace *t = NULL;
	struct err *err = n ? record_passing(&x, passing, &t) : NULL;

	assert(n <= STACKS_MOST);
	for (size_t i = 0; !err && i < n; i++) {
		wants[i] = event_of(&x, &s->steered.data[i]);
		known += wants[i] != NONE;
	}
	if (!err && n && known == n)
		err = run_plan(&x, wants, n, &run);
	if (!err && run_failed(&run))
		err = save_plait(own->session, &run, plait);
	if (!err && run_failed(&run))
		err = shipped_agrees_whole(s, &run, plait, ret);
	run_result_deinit(&run);
	trace_close(t);
	steering_deinit(&x);
	free(passing);
	return err;
}
