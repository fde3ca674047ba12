/* sym/explore/schedules.c - every interleaving of a program's threads, each state once.
 *
 * What comes in: a program with known inputs, and the table of its binary, which says what is a
 * scheduling point: the same accesses and calls as in a controlled native run. What goes out: the
 * ways in which it can end, each with a schedule that a native run can repeat, and whether that is
 * all there is.
 *
 * In every state each thread stands before an operation that others may notice. A step lets one
 * thread do its operation and everything after it that nobody notices. If the operation cannot be
 * done now (a lock that is held), the thread has no step here; if nobody has one, that is a
 * deadlock. The search is depth first over forked states; a state whose hash has been seen
 * (visited.h) is not followed again, so that loops which wait end, and the cost is the number of
 * different states, not of schedules: for three threads that is the difference between millions and
 * more than can be counted. Only the states on the current path are kept.
 *
 * States that lead to each other form a component (Tarjan's algorithm, along the way). One that is
 * complete and from which no end of the program can be reached is a livelock: whatever the
 * scheduler does, the program goes round for ever. Any other loop ends under a fair scheduler.
 *
 * Time is as unfair as can be: a sleep may end at once, a wait with a time limit may end whenever
 * it would have to wait. If another thread has the mutex of a wait that ends so, taking it again is
 * a step of its own. What the C library prints is no scheduling point here.
 *
 * Depth first search takes back the latest decisions first, and in a long run it never comes to an early one. With a
 * bound on preemptions (switches away from a thread that could go on) few decisions are left, and a place in the
 * middle of the run is as near as any; nearer still if what comes of it need not be followed to the end
 * (`steps_after`): a deadlock mostly comes soon. The paper preempts only while a thread's stack has what the stacks of the dump
 * have in common (section 4.4.2): `within`. Such a walk is an order to look in: it is never complete, and says nothing
 * of livelocks. */
#include "base/err.h"
#include "base/log.h"
#include "sym/ir/op-sites.h"
#include "sym/ir/program.h"
#include "sym/explore/visited.h"
#include "unplait/abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_OPS (100u << 20) /* of one thread between two points, when nothing else is said */

/* A state on the current path, and what is still to be tried in it. */
struct node {
	struct state *s;
	uint64_t hash[2];
	uint32_t number, low; /* in order of discovery; the lowest that it leads back to */
	bool ends;	      /* it leads to an end of the program */
	bool told;	      /* it leads to a livelock that has been reported */
	size_t open;	      /* how many states were open when it was entered */
	struct sym_turn by;   /* how we got here */
	uint32_t next;	      /* the next thread to try: see thread_of() */
	uint32_t choice;      /* and the waiter that its signal wakes */
	bool moved;	      /* some thread had a step */
	/* with a bound on preemptions: */
	uint32_t left;	/* that many may still come */
	uint32_t since; /* steps from the last one on, with it */
	bool gives_way; /* its thread cannot go on, or gets nowhere: to switch is no preemption */
};

/* Numbers of states that are done with. */
enum { CLOSED = UINT32_MAX - 1, HANGS };

struct search {
	const struct sites *sites;
	struct sym_schedules *ret;
	struct visited visited;
	VEC(struct node) path;
	struct words open; /* hashes of states that are left but may lead back to the path */
	struct map seen;   /* outcome -> index into ret->ends */
	bool incomplete, stop;
	uint32_t bound;	 /* on preemptions; 0 = none */
	uint32_t within; /* name of the function in which they may be; NAMES_NONE = anywhere */
};

/* --- points --- */

/* Of an instruction that became several operations, the first is the point. */
static void find_points(void *arg, struct function *f)
{
	const struct search *x = arg;
	uint32_t *points = op_sites(x->sites, f), before = 0;

	for (uint32_t pc = 0; pc < f->nops; pc++) {
		uint32_t site = points[pc];
		const struct plait_site *s = site ? &x->sites->sites[site - 1] : NULL;

		if (!s || !(s->flags & PLAIT_SITE_POINT) || s->kind > PLAIT_SITE_ATOMIC_RMW ||
		    site == before)
			points[pc] = 0;
		before = site;
	}
	f->points = points;
}

/* --- ends --- */

static bool is_error(const struct machine *m, const struct sym_outcome *o)
{
	return sym_kind_is_error(o->kind) ||
	       (m->config->exit_is_error && o->kind == SYM_EXIT && o->code);
}

/* The caller may carry the schedule out natively, which is not our time. */
static void tell_end(struct machine *m, struct search *x, const struct sym_end *e)
{
	double start = clock_seconds();

	if (!m->config->ended)
		return;
	if (m->config->ended(m->config->ended_arg, e))
		x->stop = x->incomplete = true;
	if (m->deadline > 0)
		m->deadline += clock_seconds() - start;
}

/* Where every thread stands that lives, with its callers. */
static uint64_t hash_stacks(const struct state *s, uint64_t hash)
{
	for (uint32_t i = 0; i < s->nthreads; i++) {
		if (s->threads[i].status == TH_DONE)
			continue;
		hash = hash_bytes(&i, sizeof(i), hash);
		for (const struct frame *f = s->threads[i].top; f; f = f->caller) {
			uint32_t at[2] = { f->f->index, f->pc };

			hash = hash_bytes(at, sizeof(at), hash);
		}
	}
	return hash;
}

static void add_end(struct machine *m, struct search *x, const struct sym_turn *last)
{
	const struct sym_outcome *o = &m->outcome;
	uint64_t key = hash_bytes(o->stack, o->kind == SYM_EXIT ? 0 : strlen(o->stack),
				  (uint64_t)o->kind << 32 | (uint32_t)o->code);
	uint64_t *known;
	struct sym_end *e;

	if (m->config->whole_ends && o->kind == SYM_DEADLOCK)
		key = hash_stacks(m->s, key);
	known = map_put(&x->seen, key, UINT64_MAX);
	if (o->kind == SYM_UNSUPPORTED || o->kind == SYM_BUDGET)
		x->incomplete = true;
	if (*known != UINT64_MAX) {
		x->ret->ends.data[*known].times++;
		return;
	}
	*known = x->ret->ends.len;
	e = vec_add(&x->ret->ends);
	e->outcome = *o;
	e->times = 1;
	e->key = key;
	for (size_t i = 1; i < x->path.len; i++)
		vec_push(&e->turns, x->path.data[i].by);
	if (last)
		vec_push(&e->turns, *last);
	if (is_error(m, o) && !m->config->all_errors)
		x->stop = x->incomplete = true;
	tell_end(m, x, e);
}

/* --- steps --- */

static uint32_t alive(const struct state *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nthreads; i++)
		n += s->threads[i].status != TH_DONE;
	return n;
}

/* Run the current thread until its next point. */
static enum stop run_thread(struct machine *m, bool pass)
{
	uint64_t limit = m->s->ops + (m->config->max_ops ? m->config->max_ops : STEP_OPS);
	struct thread *t = current_thread(m);
	const char *why;
	enum stop st;

	m->pass = pass;
	m->stops = alive(m->s) > 1;
	t->hash[0] = t->hash[1] = 0;
	do {
		st = interp(m);
		if (st == STOP_BUDGET && (why = machine_should_stop(m)))
			return machine_fault(m, SYM_BUDGET, "%s", why);
		if (st == STOP_BUDGET && m->s->ops >= limit)
			return machine_fault(m, SYM_BUDGET,
					     "more than %llu operations without a scheduling point",
					     (unsigned long long)(limit - m->s->ops));
	} while (st == STOP_BUDGET);
	current_thread(m)->fresh = false;
	return st;
}

/* New threads go to their first point at once: nobody notices. */
static enum stop run_fresh(struct machine *m)
{
	enum stop st = STOP_NONE;

	for (uint32_t i = 0; i < m->s->nthreads && st != STOP_END; i++) {
		if (!m->s->threads[i].fresh)
			continue;
		m->s->current = i;
		st = run_thread(m, false);
	}
	return st;
}

static void time_out(struct state *s, struct thread *t)
{
	t->timed_out = true;
	s->clock = MAX(s->clock, t->wake_time);
	t->status = TH_RUNNABLE;
}

/* While one thread is alone it needs no decisions, and native runs make none. */
static enum stop run_alone(struct machine *m, enum stop st)
{
	bool tried = false;

	while (st != STOP_END && alive(m->s) == 1) {
		struct thread *t = m->s->threads;

		while (t->status == TH_DONE)
			t++;
		/* nobody is left who could signal or give something back */
		if (t->status == TH_BLOCKED && (tried || t->wait_kind == WAIT_COND)) {
			if (!t->timed)
				break; /* for ever: a deadlock */
			time_out(m->s, t);
		}
		m->s->current = (uint32_t)(t - m->s->threads);
		t->status = TH_RUNNABLE;
		st = run_thread(m, false);
		tried = true;
		if (st != STOP_END)
			st = run_fresh(m);
	}
	return st;
}

/* The second half of a call that has two. */
static void next_half(struct thread *t)
{
	if (t->point == PLAIT_EV_WAIT)
		t->point = PLAIT_EV_WOKEN;
	else if (t->point == PLAIT_EV_BARRIER_WAIT)
		t->point = PLAIT_EV_BARRIER_LEAVE;
}

static bool is_stuck(const struct thread *t, uint8_t phase)
{
	return t->status == TH_BLOCKED && t->phase == phase;
}

/* Let thread i of the state do its operation. False when it cannot; else *st says how it ended. */
static bool step(struct machine *m, struct state *s, uint32_t i, struct sym_turn *turn,
		 enum stop *st)
{
	struct thread *t = &s->threads[i];
	uint8_t phase = t->phase;
	bool waits = t->status == TH_BLOCKED && t->wait_kind == WAIT_COND;

	*turn = (struct sym_turn){
		.thread = i, .site = t->point_site, .kind = t->point, .choice = m->choice
	};
	if (waits && !t->timed)
		return false;
	cache_clear(m);
	m->s = s;
	m->nchoices = 0;
	s->current = i;
	if (!waits) {
		t->status = TH_RUNNABLE;
		*st = run_thread(m, true);
		t = &s->threads[i];
	}
	if ((waits || is_stuck(t, phase)) && *st != STOP_END) {
		if (!t->timed)
			return false;
		turn->timed_out = true;
		time_out(s, t);
		*st = run_thread(m, true);
		t = &s->threads[i];
		turn->gives_up = *st != STOP_END && is_stuck(t, phase);
	}
	turn->nchoices = m->nchoices;
	if (*st == STOP_THREAD && t->status == TH_BLOCKED)
		next_half(t);
	if (*st != STOP_END)
		*st = run_fresh(m);
	*st = run_alone(m, *st);
	return true;
}

/* --- the search --- */

static void push(struct search *x, struct state *s, const struct sym_turn *by, uint32_t left,
		 uint32_t since, const uint64_t hash[2])
{
	uint32_t number = (uint32_t)x->visited.len;

	vec_push(&x->path, ((struct node){ .s = s,
					   .by = *by,
					   .hash = { hash[0], hash[1] },
					   .number = number,
					   .low = number,
					   .left = left,
					   .since = since,
					   .gives_way = by->kind == PLAIT_EV_YIELD ||
							by->kind == PLAIT_EV_SLEEP,
					   .open = x->open.len }));
	x->ret->depth = MAX(x->ret->depth, (uint32_t)x->path.len);
}

/* Everybody tries and blocks; then the machine can say who waits for what. */
static void add_deadlock(struct machine *m, struct search *x, struct state *s)
{
	struct sym_turn turn;
	enum stop st = STOP_NONE;

	for (uint32_t i = 0; i < s->nthreads; i++)
		if (s->threads[i].status != TH_DONE)
			step(m, s, i, &turn, &st);
	m->s = s;
	if (!schedule(m))
		add_end(m, x, NULL);
}

static bool out_of_budget(struct machine *m, struct search *x)
{
	const char *why;

	if (m->config->max_states && x->visited.len >= m->config->max_states) {
		machine_note(m, "the limit of %llu states was reached",
			     (unsigned long long)m->config->max_states);
		return true;
	}
	if (m->config->max_work &&
	    m->stats.ops + x->visited.bytes / 2 + 500 * x->ret->steps > m->config->max_work) {
		machine_note(m, "the budget was used up");
		return true;
	}
	why = (x->ret->steps & 255) == 0 ? machine_should_stop(m) : NULL;
	if (why)
		machine_note(m, "%s", why);
	return why;
}

/* Whose turn is the node's n-th? With a bound the thread goes on that got us here; the others come behind it. */
static uint32_t thread_of(const struct search *x, const struct node *n)
{
	uint32_t first = n->by.thread;

	if (!x->bound)
		return n->next;
	return !n->next ? first : n->next <= first ? n->next - 1 : n->next;
}

/* Does the thread stand in the function in which preemptions may be? Inlined ones count. */
static bool is_within(const struct machine *m, const struct search *x, const struct thread *t)
{
	if (x->within == NAMES_NONE)
		return true;
	for (const struct frame *f = t->top; f; f = f->caller) {
		uint32_t pc = f == t->top ? f->pc : f->pc - 1;

		for (uint32_t at = f->f->src[pc].place; at; at = m->ir->places.data[at].outer)
			if (m->ir->places.data[at].function == x->within)
				return true;
	}
	return false;
}

/* May another thread than the one that got us here have the next step? */
static bool may_switch(const struct machine *m, const struct search *x, const struct node *n)
{
	return !x->bound || !n->next || n->gives_way ||
	       (n->left && !(m->config->behind_calls && n->by.site) &&
		is_within(m, x, &n->s->threads[n->by.thread]));
}

/* A step led to this state: down into it if it is new. */
static bool enter(struct machine *m, struct search *x, struct state *c, const struct sym_turn *turn)
{
	struct node *n = vec_last(&x->path);
	bool preempts = x->bound && n->next && !n->gives_way;
	uint32_t *number, left = n->left - preempts;
	uint64_t hash[2];

	cache_clear(m);
	state_hash(&x->visited, m, c, hash);
	if (x->bound) /* what may come depends on them, too */
		hash[0] ^= hash_u64((uint64_t)turn->thread << 32 | (left + 1));
	number = visited_put(&x->visited, hash);
	if (!*number) {
		*number = (uint32_t)x->visited.len;
		push(x, c, turn, left, n->since + (preempts || n->since), hash);
		return true;
	}
	if (*number < CLOSED)
		n->low = MIN(n->low, *number);
	n->gives_way |= !n->next && *number < CLOSED;
	n->ends |= *number == CLOSED;
	n->told |= *number == HANGS;
	return false;
}

/* One step from the node on top: down into a new state, or nothing. */
static void advance(struct machine *m, struct search *x)
{
	size_t at = x->path.len - 1; /* enter() may move the path */
	struct node *n = &x->path.data[at];
	struct state *c = state_fork(n->s, 0);
	struct sym_turn turn;
	enum stop st = STOP_NONE;
	bool moved;

	m->choice = n->choice;
	moved = step(m, c, thread_of(x, n), &turn, &st);
	n->moved |= moved;
	n->gives_way |= !n->next && !moved;
	x->ret->steps++;
	if (moved && st == STOP_END) {
		n->ends = true;
		add_end(m, x, &turn);
	} else if (moved && enter(m, x, c, &turn)) {
		c = NULL;
	}
	n = &x->path.data[at];
	if (moved && turn.nchoices > n->choice + 1) {
		n->choice++;
	} else {
		n->choice = 0;
		n->next++;
	}
	if (!c)
		return;
	m->s = NULL;
	state_free(c);
}

static void close_state(struct search *x, const uint64_t hash[2], bool ends)
{
	*visited_put(&x->visited, hash) = ends ? CLOSED : HANGS;
}

/* The states from `n` on that lead back to it, and nowhere else. */
static void close_component(struct machine *m, struct search *x, struct node *n)
{
	close_state(x, n->hash, n->ends);
	while (x->open.len > n->open) {
		x->open.len -= 2;
		close_state(x, &x->open.data[x->open.len], n->ends);
	}
	if (n->ends || n->told)
		return;
	n->told = true;
	m->s = n->s;
	n->s->current = n->by.thread;
	machine_outcome(m, &m->outcome, SYM_LIVELOCK,
			"the threads go on, but the program can no longer end");
	add_end(m, x, NULL);
}

static void leave(struct machine *m, struct search *x)
{
	struct node *n = vec_last(&x->path), *up = x->path.len > 1 ? n - 1 : NULL;

	if (!n->moved) {
		add_deadlock(m, x, n->s);
		n->ends = true;
	}
	n->ends |= x->bound > 0;
	if (n->low == n->number) {
		close_component(m, x, n);
	} else {
		vec_push(&x->open, n->hash[0]);
		vec_push(&x->open, n->hash[1]);
		up->low = MIN(up->low, n->low);
	}
	if (up) {
		up->ends |= n->ends;
		up->told |= n->told;
	}
	m->s = NULL;
	state_free(n->s);
	x->path.len--;
}

/* Without what would come of it. */
static void drop(struct machine *m, struct search *x)
{
	struct node *n = vec_last(&x->path);

	n->moved = true;
	n->next = n->s->nthreads;
	leave(m, x);
}

/* The thread has ended. */
static void skip(const struct search *x, struct node *n)
{
	n->gives_way |= thread_of(x, n) == n->by.thread;
	n->next++;
}

static void search_all(struct machine *m, struct search *x)
{
	while (x->path.len && !x->stop) {
		struct node *n = vec_last(&x->path);

		if (out_of_budget(m, x)) {
			x->incomplete = true;
			break;
		}
		if (m->config->steps_after && n->since > m->config->steps_after)
			drop(m, x);
		else if (n->next == n->s->nthreads)
			leave(m, x);
		else if (n->s->threads[thread_of(x, n)].status == TH_DONE)
			skip(x, n);
		else if (!may_switch(m, x, n))
			n->next = n->s->nthreads;
		else
			advance(m, x);
		if ((x->ret->steps & 0x3ff) == 0)
			progress("schedules: %zu states, %llu steps, depth %zu", x->visited.len,
				 (unsigned long long)x->ret->steps, x->path.len);
	}
	while (x->path.len)
		state_free(vec_pop(&x->path).s);
	progress_done();
}

static bool model_branch(struct machine *m, expr_id cond, uint32_t yes_pc, uint32_t no_pc)
{
	(void)yes_pc;
	(void)no_pc;
	return machine_value(m, m->s, cond);
}

static void drop_fork(struct machine *m, struct state *s)
{
	(void)m;
	state_free(s);
}

static void finish(struct machine *m, struct search *x)
{
	struct sym_schedules *r = x->ret;

	for (size_t i = 0; i < m->notes.len; i++)
		names_intern(&r->notes, m->notes.text[i]);
	r->states = x->visited.len;
	r->complete = !x->incomplete;
	r->reads_clock = m->clock_read;
	r->stats = m->stats;
	for (size_t i = 0; i < m->ir->functions.len; i++) {
		free(m->ir->functions.data[i]->points);
		m->ir->functions.data[i]->points = NULL;
	}
	m->ir->on_lowered = NULL;
	m->ir->locals = false;
	visited_deinit(&x->visited);
	vec_deinit(&x->path);
	vec_deinit(&x->open);
	map_deinit(&x->seen);
}

static struct err *explore(struct machine *m, struct search *x)
{
	struct sym_turn none = { 0 };
	uint64_t hash[2];
	enum stop st;
	struct state *s;
	struct err *err;

	m->ir->on_lowered = find_points;
	m->ir->on_lowered_arg = x;
	m->ir->locals = true;
	for (size_t i = 0; i < m->ir->functions.len; i++)
		if (m->ir->functions.data[i]->lowered)
			find_points(x, m->ir->functions.data[i]);
	err = machine_start(m, &s);
	if (err)
		return err;
	st = run_alone(m, STOP_NONE);
	if (st == STOP_END) {
		add_end(m, x, NULL);
		state_free(s);
	} else {
		cache_clear(m);
		state_hash(&x->visited, m, s, hash);
		*visited_put(&x->visited, hash) = 1;
		push(x, s, &none, x->bound, 0, hash);
		search_all(m, x);
	}
	return NULL;
}

static void note_output(void *arg, int fd, const void *data, size_t len)
{
	struct sym_schedules *ret = arg;

	(void)fd, (void)data;
	ret->prints |= len > 0;
}

struct err *sym_schedules(struct sym_program *p, const struct sym_config *config,
			  struct sym_schedules *ret)
{
	struct search x = { .ret = ret,
			    .bound = config->preemptions,
			    .incomplete = config->preemptions > 0,
			    .within = config->within ? names_intern(&p->ir->names, config->within)
						     : NAMES_NONE };
	struct guide guide = {
		.points = true, .branch = model_branch, .forked = drop_fork, .data = &x
	};
	double start = clock_seconds();
	struct sym_config own = *config;
	struct sites *sites = NULL;
	struct machine m;
	struct err *err;

	own.preemptions = 0; /* the machine's own are those of paths */
	if (!p->native || p->source)
		return err_new(ERR_ENV, "schedules are explored at the scheduling points that a "
					"binary's table names; build it with `unplait cc`");
	err = sites_open(p->native, &sites);
	if (err)
		return err;
	x.sites = sites;
	machine_init(&m, p->ir, &own);
	m.guide = &guide;
	m.output = note_output;
	m.output_arg = ret;
	err = explore(&m, &x);
	m.stats.seconds = clock_seconds() - start;
	finish(&m, &x);
	machine_deinit(&m);
	sites_close(sites);
	return err;
}

void sym_schedules_deinit(struct sym_schedules *r)
{
	for (size_t i = 0; i < r->ends.len; i++)
		vec_deinit(&r->ends.data[i].turns);
	vec_deinit(&r->ends);
	names_deinit(&r->notes);
}
