/* sym/explore/search.c - search for a path to a stack (001 sections 4.2 and 4.3).
 *
 * States wait at branches, in several orders at once: nearest to the goal first, those at new places
 * first, longest in its loop first, oldest first, and one order for each intermediate goal (standing.h):
 * those that have met most needs first, then those that are nearest to a store that meets this one. For
 * each step one of the orders is picked at random (seeded) and its first state runs. At a branch the running
 * state goes the way that its own model goes; the other side, if it is possible, waits; when that is
 * nearer to what the order is after the running state waits, too. A state that was picked for its loop runs on
 * to its end instead. A side from which the goal cannot be reached is dropped without a question to the solver.
 *
 * A side that the solver could not decide in time waits as a question: it is asked again when it is
 * picked, after everything else that is as near. */
#include "base/err.h"
#include "base/log.h"
#include "sym/ir/program.h"
#include "sym/explore/standing.h"
#include "sym/ir/reach.h"
#include "sym/machine/machine.h"

#include <stdlib.h>
#include <string.h>

enum {
	UNDECIDED_FAR = 1 << 20,
	FIRST_PATIENCE = 100,	/* a question gets this part of the time when it is asked first, */
	PATIENCE_GROWS = 5,	/* and so many times as long each time it is asked again */
	QUANTUM = 32,		/* forks before a state waits again */
	LOOP_QUANTUM = 1 << 16, /* of one that was picked for its loop */
};

/* A state, in all orders; gone from them when it was taken. */
struct waiting {
	struct state *s;
	expr_id undecided; /* must hold for it to be a state at all; 0 = it is one */
	uint32_t patience; /* for that question, when it is asked again: milliseconds */
	uint32_t distance, loops;
	uint64_t number;
	struct standing standing;
	uint32_t passed; /* events of the goal */
	bool hard;	 /* its question was asked before, and there was no answer */
	bool fresh;	 /* at a place that no state has been to */
	uint8_t refs;	 /* orders that still hold it */
	uint32_t toward
		[]; /* per need: to the nearest store that meets it; of needs that are met: to the goal */
};

/* Behind these there is one for each need. */
enum order { NEAREST, NEW_PLACES, LOOPS, OLDEST, ORDERS };
enum { QUEUES_MOST = ORDERS + 32 };

struct heap VEC_FIELDS(struct waiting *);

struct search {
	const struct sym_aim *aim;
	bool guided; /* distances count */
	bool depth;  /* the newest first, nothing else */
	bool random; /* any of them next */
	struct heap heaps[QUEUES_MOST];
	unsigned nheaps;
	unsigned order;	  /* that the running state was picked by */
	uint32_t quantum; /* forks that it may still make */
	struct map places;
	size_t waiting;
	uint64_t number, rng;
	sym_found_fn *found;
	void *found_arg;
	bool over, incomplete;
	bool park; /* the running state is to wait */
	struct sym_result *result;
};

/* ---- orders ---- */

static bool before(unsigned order, const struct waiting *a, const struct waiting *b)
{
	if (order >= ORDERS) {
		uint32_t x = a->toward[order - ORDERS], y = b->toward[order - ORDERS];

		if (a->standing.late != b->standing.late)
			return a->standing.late < b->standing.late;
		if (a->standing.unmet != b->standing.unmet)
			return a->standing.unmet < b->standing.unmet;
		if (a->standing.gap != b->standing.gap)
			return a->standing.gap < b->standing.gap;
		if (a->hard != b->hard)
			return b->hard;
		return x != y ? x < y : a->number > b->number;
	}
	if (order == NEAREST) {
		if (a->passed != b->passed)
			return a->passed > b->passed;
		if (a->distance != b->distance)
			return a->distance < b->distance;
		if (a->fresh != b->fresh)
			return a->fresh;
		return a->number > b->number;
	}
	if (order == NEW_PLACES) {
		if (a->fresh != b->fresh)
			return a->fresh;
		return a->number > b->number;
	}
	if (order == LOOPS) {
		if (a->loops != b->loops)
			return a->loops > b->loops;
		return a->distance != b->distance ? a->distance < b->distance
						  : a->number > b->number;
	}
	return a->number < b->number;
}

static void heap_push(struct heap *h, unsigned order, struct waiting *w)
{
	size_t i = h->len;

	vec_push(h, w);
	for (; i > 0 && before(order, w, h->data[(i - 1) / 2]); i = (i - 1) / 2)
		h->data[i] = h->data[(i - 1) / 2];
	h->data[i] = w;
}

static struct waiting *heap_pop(struct heap *h, unsigned order)
{
	struct waiting *first = h->data[0], *last = vec_pop(h);
	size_t i = 0, child;

	if (!h->len)
		return first;
	for (; (child = 2 * i + 1) < h->len; i = child) {
		if (child + 1 < h->len && before(order, h->data[child + 1], h->data[child]))
			child++;
		if (!before(order, h->data[child], last))
			break;
		h->data[i] = h->data[child];
	}
	h->data[i] = last;
	return first;
}

static void waiting_unref(struct waiting *w)
{
	if (!--w->refs)
		free(w);
}

/* ---- distances ---- */

/* The next event of the goal that is still to come; NULL = none is. */
static const struct reach_ways *next_event(const struct search *x, const struct state *s)
{
	return s->passed < x->aim->to_events.len ? &x->aim->to_events.data[s->passed] : NULL;
}

/* Of one thread, to the goal and, if that can be reached, to `event` (NULL = the goal itself); its innermost frame is
 * taken to be at pc. That no way to an event is known does not mean that there is none. */
static uint32_t thread_distance(const struct search *x, const struct thread *t, uint32_t pc,
				const struct reach_ways *event, bool *at)
{
	struct reach_frame frames[FRAMES_MOST];
	uint32_t n = thread_frames(t, pc, frames);
	uint32_t d = reach_distance(&x->aim->reach, frames + FRAMES_MOST - n, n, at);

	if (event && d != REACH_NEVER)
		d = MIN(reach_ways_distance(event, &x->aim->reach, frames + FRAMES_MOST - n, n),
			REACH_NEVER / 2);
	return d;
}

/* Of the nearest thread. pc: of the running thread's innermost frame. */
static uint32_t distance(const struct search *x, const struct state *s, uint32_t pc)
{
	uint32_t best = REACH_NEVER;
	bool at;

	if (!x->guided)
		return 0;
	for (uint32_t i = 0; i < s->nthreads; i++) {
		const struct thread *t = &s->threads[i];
		uint32_t d;

		if (!t->top || t->status == TH_DONE)
			continue;
		d = thread_distance(x, t, i == s->current ? pc : t->top->pc, next_event(x, s), &at);
		best = MIN(best, d);
	}
	return best;
}

static bool is_at_goal(const struct search *x, const struct state *s)
{
	const struct thread *t = &s->threads[s->current];
	bool at = false;

	if (x->guided && t->top && !next_event(x, s))
		thread_distance(x, t, t->top->pc, NULL, &at);
	return at;
}

static bool is_hopeless(const struct search *x, uint32_t distance)
{
	return distance == REACH_NEVER && x->aim->reach.exact;
}

/* ---- the queue ---- */

static bool is_new_place(struct search *x, const struct state *s)
{
	uint64_t h = s->current;
	size_t known = x->places.len;

	for (const struct frame *f = s->threads[s->current].top; f; f = f->caller)
		h = hash_u64(h * 31 +
			     ((uint64_t)f->f->index << 40 ^ (uint64_t)f->pc << 16 ^ f->forks));
	map_put(&x->places, h, 1);
	return x->places.len != known;
}

static uint64_t random_of(struct search *x, uint64_t n)
{
	x->rng = x->rng * 6364136223846793005ull + 1442695040888963407ull;
	return hash_u64(x->rng) % n;
}

/* How the waiting state stands with the intermediate goals. */
static void stand(const struct search *x, struct waiting *w)
{
	const struct frame *top = w->s->threads[w->s->current].top;

	if (!x->aim->intermediate.ways.len)
		return;
	w->standing = state_standing(&x->aim->intermediate, &x->aim->reach, w->s, top ? top->pc : 0,
				     w->toward);
	for (size_t i = 0; i < x->aim->intermediate.ways.len; i++)
		if (!w->toward[i])
			w->toward[i] = w->distance;
}

static uint32_t first_patience(const struct machine *m)
{
	return MAX(machine_query_ms(m) / FIRST_PATIENCE, 1u);
}

/* patience: of an undecided side, for its question; 0 = none. */
static void wait_here(struct machine *m, struct state *s, uint32_t distance, expr_id undecided,
		      uint32_t patience)
{
	struct search *x = m->guide->data;
	size_t needs = x->aim->intermediate.ways.len;
	struct waiting *w = xcalloc(1, sizeof(*w) + needs * sizeof(uint32_t));

	*w = (struct waiting){ .s = s,
			       .undecided = undecided,
			       .patience = patience,
			       .hard = patience > first_patience(m),
			       .distance = distance,
			       .passed = s->passed,
			       .loops = s->forks,
			       .number = x->number++,
			       .fresh = !x->depth && !x->random && is_new_place(x, s),
			       .refs = (uint8_t)x->nheaps };
	stand(x, w);
	if (x->random)
		w->number = random_of(x, UINT32_MAX);
	if (w->hard && w->distance < REACH_NEVER - UNDECIDED_FAR)
		w->distance += UNDECIDED_FAR;
	for (unsigned i = 0; i < x->nheaps; i++)
		heap_push(&x->heaps[i], i, w);
	x->waiting++;
	m->stats.max_states = MAX(m->stats.max_states, x->waiting + 1);
}

static void add_state(struct machine *m, struct state *s)
{
	const struct search *x = m->guide->data;
	const struct frame *top = s->threads[s->current].top;

	m->stats.states++;
	wait_here(m, s, distance(x, s, top ? top->pc : 0), 0, 0);
}

/* The goal's distance knows the way, but not which values open it; those are set by the writers of
 * needs, and in places that no state has been to yet. */
static unsigned pick_order(struct search *x)
{
	static const enum order orders[] = { NEAREST,	 NEAREST,    NEAREST, NEW_PLACES,
					     NEW_PLACES, NEW_PLACES, LOOPS,   OLDEST };

	if (x->depth || x->random)
		return NEAREST; /* by number alone: see wait_here */
	if (x->nheaps > ORDERS && random_of(x, 2))
		return ORDERS + (unsigned)random_of(x, x->nheaps - ORDERS);
	return orders[random_of(x, ARRAY_SIZE(orders))];
}

/* The question of an undecided side, once more. False when it has no state, or not yet. */
static bool decide(struct machine *m, struct waiting *w)
{
	struct search *x = m->guide->data;
	struct model *model = NULL;
	enum answer answer;

	if (!w->undecided)
		return true;
	solver_set_patience(m->solver, MIN(w->patience, machine_query_ms(m)));
	answer = solver_check(m->solver, w->s->path, w->undecided, w->s->model, &model);
	solver_set_patience(m->solver, first_patience(m));
	if (answer == ANSWER_YES) {
		machine_assume(m, w->s, w->undecided, model);
		return true;
	}
	if (answer == ANSWER_UNKNOWN && w->patience < machine_query_ms(m)) {
		wait_here(m, w->s, w->distance, w->undecided, w->patience * PATIENCE_GROWS);
		return false;
	}
	if (answer == ANSWER_UNKNOWN) {
		machine_note(m, "a branch that the solver could not decide was given up");
		x->incomplete = true;
	}
	state_free(w->s);
	return false;
}

static struct state *pick(struct machine *m)
{
	struct search *x = m->guide->data;

	while (x->waiting) {
		unsigned order = pick_order(x);
		struct waiting *w = heap_pop(&x->heaps[order], order);
		struct state *s = w->s;

		if (s) {
			x->waiting--;
			if (!decide(m, w))
				s = NULL;
			w->s = NULL;
		}
		waiting_unref(w);
		if (s) {
			x->order = s->forks ? order
					    : LOOPS; /* at first to the end, with the first model */
			x->quantum = x->order == LOOPS ? LOOP_QUANTUM : QUANTUM;
			return s;
		}
	}
	return NULL;
}

/* ---- branches ---- */

static void die(struct machine *m)
{
	machine_fault(m, SYM_RECORDING_END, "the goal cannot be reached from here");
	m->halted = true;
}

/* The other side as a state of its own. */
static void fork_side(struct machine *m, expr_id cond, uint32_t pc, struct model *model,
		      uint32_t distance, bool undecided, uint32_t patience)
{
	struct state *c = state_fork(m->s, m->next_state++);

	m->stats.forks++;
	m->stats.states++;
	cache_clear(m);
	frame_own(&c->threads[c->current].top)->pc = pc;
	if (!undecided)
		machine_assume(m, c, cond, model);
	wait_here(m, c, distance, undecided ? cond : 0, undecided ? patience : 0);
}

/* Should the running state wait? When the other side waits (other_way is its distance) and is nearer to what
 * the order is after, or when the state has had its share. */
static bool should_wait(struct search *x, const struct state *s, uint32_t my_pc, uint32_t other_pc,
			uint32_t my_way, uint32_t other_way)
{
	if (x->depth || x->random)
		return other_way < my_way;
	if (!x->quantum || !--x->quantum)
		return true;
	if (x->order == LOOPS)
		return false;
	if (x->order < ORDERS || other_way == REACH_NEVER)
		return other_way < my_way;
	return state_toward(&x->aim->intermediate, &x->aim->reach, s, other_pc, x->order - ORDERS) <
	       state_toward(&x->aim->intermediate, &x->aim->reach, s, my_pc, x->order - ORDERS);
}

static bool search_branch(struct machine *m, expr_id cond, uint32_t yes_pc, uint32_t no_pc)
{
	struct search *x = m->guide->data;
	struct state *s = m->s;
	struct frame *f = s->threads[s->current].top;
	bool yes = machine_value(m, s, cond);
	expr_id mine = yes ? cond : expr_not(&m->exprs, cond),
		other = yes ? expr_not(&m->exprs, cond) : cond;
	uint32_t my_way = distance(x, s, yes ? yes_pc : no_pc), other_way;
	struct model *model = NULL;
	enum answer answer = ANSWER_NO;

	if (path_settles(&m->exprs, s->path, s->model, cond)) { /* there is no other side */
		if (is_hopeless(x, my_way))
			die(m);
		return yes;
	}
	other_way = distance(x, s, yes ? no_pc : yes_pc);
	f->forks++;
	if (is_hopeless(x, other_way)) {
		;
	} else if (x->order == LOOPS) { /* nobody asks before somebody wants to go there */
		answer = ANSWER_UNKNOWN;
	} else {
		m->stats.branch_queries++;
		answer = solver_check(m->solver, s->path, other, s->model, &model);
	}
	if (answer != ANSWER_NO) {
		s->forks++;
		fork_side(
			m, other, yes ? no_pc : yes_pc, model, other_way, answer == ANSWER_UNKNOWN,
			x->order == LOOPS ? first_patience(m) : first_patience(m) * PATIENCE_GROWS);
	}
	if (is_hopeless(x, my_way)) {
		die(m);
		return yes;
	}
	if (answer != ANSWER_NO || is_hopeless(x, other_way))
		machine_assume(m, s, mine, NULL);
	x->park = should_wait(x, s, yes ? yes_pc : no_pc, yes ? no_pc : yes_pc, my_way,
			      answer == ANSWER_YES ? other_way : REACH_NEVER);
	return yes;
}

static bool search_park(struct machine *m, struct state *s)
{
	struct search *x = m->guide->data;

	if (!x->park)
		return false;
	x->park = false;
	wait_here(m, s, distance(x, s, s->threads[s->current].top->pc), 0, 0);
	return true;
}

/* ---- events ---- */

/* A call was made: is it what must happen next? */
static void search_called(struct machine *m, const struct frame *f, uint32_t pc)
{
	const struct search *x = m->guide->data;
	const struct sym_event *e = &x->aim->events[m->s->passed];

	if (!next_event(x, m->s))
		return;
	for (size_t i = 0; i < e->n; i++)
		if (e->places[i].function == f->f->index && e->places[i].pc == pc) {
			m->s->passed++;
			return;
		}
}

static void watch_calls(struct ir *ir, const struct sym_event *e)
{
	for (size_t i = 0; i < e->n; i++) {
		struct function *f = ir->functions.data[e->places[i].function];

		ir->functions.data[f->ops[e->places[i].pc].b]->watched = true;
	}
}

static void events_init(struct sym_aim *a, struct ir *ir, const struct sym_goal *goal)
{
	a->events = goal->events;
	for (uint32_t i = 0; i < goal->nevents; i++) {
		const struct sym_event *e = &goal->events[i];
		struct reach_place *to = xcalloc(e->n + 1, sizeof(*to));

		for (size_t k = 0; k < e->n; k++)
			to[k] = (struct reach_place){ e->places[k].function, e->places[k].pc };
		reach_ways_init(vec_add(&a->to_events), &a->reach, to, e->n);
		watch_calls(ir, e);
		free(to);
	}
}

static void events_deinit(struct sym_aim *a)
{
	for (size_t i = 0; i < a->to_events.len; i++)
		reach_ways_deinit(&a->to_events.data[i]);
	vec_deinit(&a->to_events);
}

/* ---- results ---- */

static void tell(struct machine *m, const struct sym_outcome *o, const struct model *model, bool at)
{
	struct search *x = m->guide->data;
	double start = clock_seconds();
	struct sym_path *p;

	if (next_event(x, m->s))
		return; /* not the way that the original went */
	/* with threads, what ends well here may fail in another order */
	if (!sym_kind_is_error(o->kind) && (o->kind != SYM_EXIT || m->s->nthreads < 2))
		return;
	p = vec_add(&x->result->paths);
	p->outcome = *o;
	p->id = m->s->id;
	p->ops = m->s->ops;
	p->lacks = state_lacks(&x->aim->intermediate, m->s);
	machine_inputs(m, model, p);
	x->over |= x->found(x->found_arg, p, at);
	if (m->deadline > 0) { /* what others did with it is not our time */
		m->deadline += clock_seconds() - start;
		solver_set_deadline(m->solver, m->deadline);
	}
}

/* What was not tried once a path has ended so: other orders of its threads, values that it was not given, and what the
 * native program does behind an error that need not end it. (One at the goal is told, and judged natively.) */
static void note_untried(struct machine *m, const struct state *s, const struct sym_outcome *o,
			 bool at)
{
	struct search *x = m->guide->data;

	if (s->nthreads > 1) {
		x->incomplete = true;
		machine_note(m, "not every order of the threads was tried for every input");
	}
	if (!at && sym_kind_is_error(o->kind) && o->kind != SYM_ASSERT && o->kind != SYM_ABORT) {
		x->incomplete = true;
		machine_note(m, "what comes behind an error was not followed (%s)", o->message);
	}
	x->incomplete |= s->bounded;
}

static void search_error(struct machine *m, struct state *s, const struct sym_outcome *o,
			 struct model *model)
{
	bool at = is_at_goal(m->guide->data, s);

	m->stats.paths++;
	note_untried(m, s, o, at);
	tell(m, o, model, at);
}

static void search_end(struct machine *m, struct state *s)
{
	struct search *x = m->guide->data;
	bool at = is_at_goal(x, s);

	m->stats.paths++;
	if (m->outcome.kind == SYM_BUDGET || m->outcome.kind == SYM_UNSUPPORTED) {
		x->incomplete = true;
		machine_note(m, "a path was given up: %s", m->outcome.message);
	}
	note_untried(m, s, &m->outcome, at);
	tell(m, &m->outcome, s->model, at);
}

/* ---- the whole ---- */

static void search_all(struct machine *m)
{
	struct search *x = m->guide->data;
	struct state *s;

	while (!x->over && (s = pick(m))) {
		enum stop st;

		if (machine_should_stop(m)) {
			x->incomplete = true;
			state_free(s);
			return;
		}
		progress("synth: %llu states, %zu waiting, %llu questions",
			 (unsigned long long)m->stats.states, x->waiting,
			 (unsigned long long)m->stats.queries);
		m->s = NULL; /* the cache belongs to another state */
		m->halted = false;
		x->park = false;
		st = machine_run(m, s);
		if (st == STOP_PARK)
			continue;
		search_end(m, s);
		m->s = NULL;
		state_free(s);
	}
	x->incomplete |= x->over;
}

static void search_deinit(struct search *x)
{
	for (unsigned i = 0; i < x->nheaps; i++) {
		for (size_t k = 0; k < x->heaps[i].len; k++) {
			state_free(x->heaps[i].data[k]->s);
			x->heaps[i].data[k]->s = NULL;
			waiting_unref(x->heaps[i].data[k]);
		}
		vec_deinit(&x->heaps[i]);
	}
	map_deinit(&x->places);
}

/* Input that nobody has looked at yet is text: long, so that loops over it go on by themselves. Arguments
 * are empty: mostly they are options, which are short. */
static struct model *first_model(const struct machine *m, const struct state *s)
{
	struct model *model = model_new((uint32_t)m->exprs.symbols.len);

	for (uint32_t i = s->inputs[0]; i < s->inputs[1]; i++)
		if (m->inputs.data[i].source == SYM_FROM_STDIN)
			model->values[m->inputs.data[i].symbol] = 'a';
	return model;
}

/* One state for each number of arguments: one more argument is like a branch. */
static struct err *start_all(struct machine *m)
{
	struct err *err = NULL;
	struct state *s;

	for (uint32_t n = 0; n <= m->config->sym_args && !err; n++) {
		m->sym_args = n;
		err = machine_start(m, &s);
		if (err)
			break;
		s->id = m->next_state++;
		s->model = first_model(m, s);
		add_state(m, s);
	}
	return err;
}

struct sym_aim *sym_aim_new(struct sym_program *p, const struct sym_goal *goal, bool for_guide)
{
	struct sym_aim *a = xcalloc(1, sizeof(*a));

	a->possible = reach_init(&a->reach, p->ir, goal->points, goal->n);
	if (for_guide)
		intermediate_init(&a->intermediate, p->ir, &a->reach, goal);
	events_init(a, p->ir, goal);
	return a;
}

uint32_t sym_aim_stored(const struct sym_aim *a)
{
	return a->intermediate.stored;
}

void sym_aim_free(struct sym_aim *a)
{
	if (!a)
		return;
	events_deinit(a);
	intermediate_deinit(&a->intermediate);
	reach_deinit(&a->reach);
	free(a);
}

struct err *sym_search(struct sym_program *p, const struct sym_config *config,
		       const struct sym_aim *aim, sym_found_fn *found, void *arg,
		       struct sym_result *ret)
{
	struct search x = { .aim = aim,
			    .found = found,
			    .found_arg = arg,
			    .result = ret,
			    .rng = config->seed,
			    .guided = !config->order || !strcmp(config->order, "goal"),
			    .depth = config->order && !strcmp(config->order, "depth"),
			    .random = config->order && !strcmp(config->order, "random-path") };
	struct guide guide = { .branch = search_branch,
			       .error = search_error,
			       .forked = add_state,
			       .park = search_park,
			       .called = search_called,
			       .data = &x };
	double start = clock_seconds();
	struct sym_config own = *config;
	struct machine m;
	struct err *err;

	own.seed = 0; /* in the machine it means random switches */
	if (!aim->possible && x.guided) {
		names_intern(&ret->notes, "the dump's stack is not one of this program's: the "
					  "search has no direction");
		x.guided = false;
	}
	x.nheaps = ORDERS + (unsigned)aim->intermediate.ways.len;
	machine_init(&m, p->ir, &own);
	m.guide = &guide;
	solver_set_patience(m.solver, first_patience(&m));
	err = start_all(&m);
	if (!err) {
		search_all(&m);
		progress_done();
		for (size_t i = 0; i < m.notes.len; i++)
			names_intern(&ret->notes, m.notes.text[i]);
		m.stats.seconds = clock_seconds() - start;
		m.stats.exprs = m.exprs.nodes.len - 1;
		ret->stats = m.stats;
		ret->complete = !x.incomplete;
	}
	search_deinit(&x);
	machine_deinit(&m);
	return err;
}
