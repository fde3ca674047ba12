/* sym/explore/search.c - search for a path to a stack (001 sections 4.2 and 4.3).
 *
 * States wait at branches, in several orders at once: nearest to the goal first, those at new places
 * first, longest in its loop first, oldest first. For each step one of the orders is picked at random (seeded) and its first state
 * runs. At a branch the running state goes the way that its own model goes; the other side, if it is
 * possible, waits; when that is nearer to the goal the running state waits, too. A side from which the
 * goal cannot be reached is dropped without a question to the solver.
 *
 * A side that the solver could not decide in time waits as a question: it is asked again when it is
 * picked, after everything else that is as near. */
#include "base/err.h"
#include "base/log.h"
#include "sym/ir/program.h"
#include "sym/ir/reach.h"
#include "sym/machine/machine.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES_MOST = 256, UNDECIDED_FAR = 1 << 20 };

/* A state, in all orders; gone from them when it was taken. */
struct waiting {
	struct state *s;
	expr_id undecided; /* must hold for it to be a state at all; 0 = it is one */
	uint32_t distance, loops;
	uint64_t number;
	bool fresh;   /* at a place that no state has been to */
	uint8_t refs; /* orders that still hold it */
};

enum order { NEAREST, NEW_PLACES, LOOPS, OLDEST, ORDERS };

struct heap VEC_FIELDS(struct waiting *);

struct search {
	struct reach reach;
	bool guided; /* distances count */
	bool depth;  /* the newest first, nothing else */
	bool random; /* any of them next */
	struct heap heaps[ORDERS];
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

static bool before(enum order order, const struct waiting *a, const struct waiting *b)
{
	if (order == NEAREST) {
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

static void heap_push(struct heap *h, enum order order, struct waiting *w)
{
	size_t i = h->len;

	vec_push(h, w);
	for (; i > 0 && before(order, w, h->data[(i - 1) / 2]); i = (i - 1) / 2)
		h->data[i] = h->data[(i - 1) / 2];
	h->data[i] = w;
}

static struct waiting *heap_pop(struct heap *h, enum order order)
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

/* Of one thread; its innermost frame is taken to be at pc. */
static uint32_t thread_distance(const struct search *x, const struct thread *t, uint32_t pc,
				bool *at)
{
	struct reach_frame frames[FRAMES_MOST];
	uint32_t n = 0, i = FRAMES_MOST;

	for (const struct frame *f = t->top; f && i > 0; f = f->caller, n++)
		frames[--i] = (struct reach_frame){ f->f->index, n ? f->pc : pc };
	return reach_distance(&x->reach, frames + i, n < FRAMES_MOST ? n : FRAMES_MOST, at);
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
		d = thread_distance(x, t, i == s->current ? pc : t->top->pc, &at);
		best = MIN(best, d);
	}
	return best;
}

static bool is_at_goal(const struct search *x, const struct state *s)
{
	const struct thread *t = &s->threads[s->current];
	bool at = false;

	if (x->guided && t->top)
		thread_distance(x, t, t->top->pc, &at);
	return at;
}

static bool is_hopeless(const struct search *x, uint32_t distance)
{
	return distance == REACH_NEVER && x->reach.exact;
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

static void wait_here(struct machine *m, struct state *s, uint32_t distance, expr_id undecided)
{
	struct search *x = m->guide->data;
	struct waiting *w = xcalloc(1, sizeof(*w));

	*w = (struct waiting){ .s = s,
			       .undecided = undecided,
			       .distance = distance,
			       .loops = s->threads[s->current].top
						? s->threads[s->current].top->forks
						: 0,
			       .number = x->number++,
			       .fresh = !x->depth && !x->random && is_new_place(x, s),
			       .refs = ORDERS };
	if (x->random)
		w->number = random_of(x, UINT32_MAX);
	if (undecided && w->distance < REACH_NEVER - UNDECIDED_FAR)
		w->distance += UNDECIDED_FAR;
	for (unsigned i = 0; i < ORDERS; i++)
		heap_push(&x->heaps[i], (enum order)i, w);
	x->waiting++;
	m->stats.max_states = MAX(m->stats.max_states, x->waiting + 1);
}

static void add_state(struct machine *m, struct state *s)
{
	const struct search *x = m->guide->data;
	const struct frame *top = s->threads[s->current].top;

	m->stats.states++;
	wait_here(m, s, distance(x, s, top ? top->pc : 0), 0);
}

/* The goal's distance knows the way, but not which values open it; those are set in places that no
 * state has been to yet. */
static enum order pick_order(struct search *x)
{
	static const enum order orders[] = { NEAREST,	 NEAREST,    NEAREST, NEW_PLACES,
					     NEW_PLACES, NEW_PLACES, LOOPS,   OLDEST };

	if (x->depth || x->random)
		return NEAREST; /* by number alone: see wait_here */
	return orders[random_of(x, ARRAY_SIZE(orders))];
}

/* The question of an undecided side, once more. False when it has no state. */
static bool decide(struct machine *m, struct waiting *w)
{
	struct search *x = m->guide->data;
	struct model *model = NULL;

	if (!w->undecided)
		return true;
	switch (solver_check(m->solver, w->s->path, w->undecided, w->s->model, &model)) {
	case ANSWER_YES:
		machine_assume(m, w->s, w->undecided, model);
		return true;
	case ANSWER_NO:
		return false;
	default:
		machine_note(m, "a branch that the solver could not decide was given up");
		x->incomplete = true;
		return false;
	}
}

static struct state *pick(struct machine *m)
{
	struct search *x = m->guide->data;

	while (x->waiting) {
		enum order order = pick_order(x);
		struct waiting *w = heap_pop(&x->heaps[order], order);
		struct state *s = w->s;

		if (s) {
			x->waiting--;
			if (!decide(m, w)) {
				state_free(s);
				s = NULL;
			}
			w->s = NULL;
		}
		waiting_unref(w);
		if (s)
			return s;
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
		      uint32_t distance, bool undecided)
{
	struct state *c = state_fork(m->s, m->next_state++);

	m->stats.forks++;
	m->stats.states++;
	cache_clear(m);
	frame_own(&c->threads[c->current].top)->pc = pc;
	if (!undecided)
		machine_assume(m, c, cond, model);
	wait_here(m, c, distance, undecided ? cond : 0);
}

static bool search_branch(struct machine *m, expr_id cond, uint32_t yes_pc, uint32_t no_pc)
{
	struct search *x = m->guide->data;
	struct state *s = m->s;
	struct frame *f = s->threads[s->current].top;
	bool yes = machine_value(m, s, cond);
	expr_id mine = yes ? cond : expr_not(&m->exprs, cond),
		other = yes ? expr_not(&m->exprs, cond) : cond;
	uint32_t my_way = distance(x, s, yes ? yes_pc : no_pc),
		 other_way = distance(x, s, yes ? no_pc : yes_pc);
	struct model *model = NULL;
	enum answer answer = ANSWER_NO;

	f->forks++;
	if (!is_hopeless(x, other_way)) {
		m->stats.branch_queries++;
		answer = solver_check(m->solver, s->path, other, s->model, &model);
	}
	if (answer != ANSWER_NO) {
		s->forks++;
		fork_side(m, other, yes ? no_pc : yes_pc, model, other_way,
			  answer == ANSWER_UNKNOWN);
	}
	if (is_hopeless(x, my_way)) {
		die(m);
		return yes;
	}
	if (answer != ANSWER_NO || is_hopeless(x, other_way))
		machine_assume(m, s, mine, NULL);
	x->park = answer == ANSWER_YES && other_way < my_way;
	return yes;
}

static bool search_park(struct machine *m, struct state *s)
{
	struct search *x = m->guide->data;

	if (!x->park)
		return false;
	x->park = false;
	wait_here(m, s, distance(x, s, s->threads[s->current].top->pc), 0);
	return true;
}

/* ---- results ---- */

static void tell(struct machine *m, const struct sym_outcome *o, const struct model *model, bool at)
{
	struct search *x = m->guide->data;
	struct sym_path *p;

	if (!sym_kind_is_error(o->kind))
		return;
	p = vec_add(&x->result->paths);
	p->outcome = *o;
	p->id = m->s->id;
	p->ops = m->s->ops;
	machine_inputs(m, model, p);
	x->over |= x->found(x->found_arg, p, at);
}

static void search_error(struct machine *m, struct state *s, const struct sym_outcome *o,
			 struct model *model)
{
	m->stats.paths++;
	tell(m, o, model, is_at_goal(m->guide->data, s));
}

static void search_end(struct machine *m, struct state *s)
{
	struct search *x = m->guide->data;

	m->stats.paths++;
	if (m->outcome.kind == SYM_BUDGET || m->outcome.kind == SYM_UNSUPPORTED) {
		x->incomplete = true;
		machine_note(m, "a path was given up: %s", m->outcome.message);
	}
	x->incomplete |= s->bounded;
	tell(m, &m->outcome, s->model, is_at_goal(x, s));
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
	for (unsigned i = 0; i < ORDERS; i++) {
		for (size_t k = 0; k < x->heaps[i].len; k++) {
			state_free(x->heaps[i].data[k]->s);
			x->heaps[i].data[k]->s = NULL;
			waiting_unref(x->heaps[i].data[k]);
		}
		vec_deinit(&x->heaps[i]);
	}
	map_deinit(&x->places);
	reach_deinit(&x->reach);
}

struct err *sym_search(struct sym_program *p, const struct sym_config *config,
		       const struct sym_goal *goal, sym_found_fn *found, void *arg,
		       struct sym_result *ret)
{
	struct search x = { .found = found,
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
			       .data = &x };
	double start = clock_seconds();
	struct sym_config own = *config;
	struct machine m;
	struct state *s;
	struct err *err;

	own.seed = 0; /* in the machine it means random switches */
	if (!reach_init(&x.reach, p->ir, goal->points, goal->n) && x.guided) {
		names_intern(&ret->notes, "the dump's stack is not one of this program's: the "
					  "search has no direction");
		x.guided = false;
	}
	machine_init(&m, p->ir, &own);
	m.guide = &guide;
	err = machine_start(&m, &s);
	if (!err) {
		m.next_state = 1;
		add_state(&m, s);
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

/* ---- what the program asks for ---- */

static const char *constant_text(const struct ir *ir, const struct function *f, int32_t r)
{
	uint64_t address;
	uint32_t id;

	if (r >= 0)
		return NULL;
	address = f->consts[f->nconst + r];
	id = (uint32_t)(address >> 32) & 0x3fffffff;
	if (!(address & ADDR_TAG) || !id || id > ir->globals.len || address != object_address(id) ||
	    !ir->globals.data[id - 1].init)
		return NULL;
	return memchr(ir->globals.data[id - 1].init, 0, ir->globals.data[id - 1].size)
		       ? (const char *)ir->globals.data[id - 1].init
		       : NULL;
}

bool sym_has_function(struct sym_program *p, const char *name)
{
	const struct ir *ir = p->ir;

	for (size_t i = 0; i < ir->functions.len; i++) {
		struct function *f = ir->functions.data[i];

		if (f->declared_only || f->is_model)
			continue;
		ir_lower(p->ir, f);
		for (uint32_t pc = 0; pc < f->nops; pc++)
			for (uint32_t at = f->src[pc].place; at; at = ir->places.data[at].outer)
				if (!strcmp(ir->names.text[ir->places.data[at].function], name))
					return true;
	}
	return false;
}

void sym_env_names(struct sym_program *p, struct names *ret)
{
	struct ir *ir = p->ir;

	for (size_t i = 0; i < ir->functions.len; i++) {
		struct function *f = ir->functions.data[i];

		if (f->declared_only || f->is_model)
			continue;
		ir_lower(ir, f);
		for (uint32_t pc = 0; pc < f->nops; pc++) {
			const struct op *o = &f->ops[pc];
			const char *name;

			if (o->code != OP_CALL || !(o->imm >> 32))
				continue;
			if (strcmp(ir->functions.data[o->b]->name, "getenv") != 0 &&
			    strcmp(ir->functions.data[o->b]->name, "secure_getenv") != 0)
				continue;
			name = constant_text(ir, f, ir->args.data[(uint32_t)o->imm]);
			if (name)
				names_intern(ret, name);
		}
	}
}
