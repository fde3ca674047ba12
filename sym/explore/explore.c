/* sym/explore/explore.c - follow every path.
 *
 * States wait in two queues: those that are at a place nobody has been to yet, and the rest. A
 * place is the stack of calls with, for each, how many symbolic branches it has met: the fifth
 * character of a comparison that the second argument takes part in is such a place. Going to new
 * places first reaches, in few paths, every comparison that can succeed. Depth order always takes
 * the newest state, breadth order the oldest; cover order takes new places first and otherwise
 * alternates. At a branch the running state takes the side its own model takes; the other side, if
 * possible, becomes a new state. A side that the solver could not decide in a part of the time that a question may
 * take waits until nothing else is left, and is then asked about with all of it. */
#include "base/err.h"
#include "base/log.h"
#include "sym/machine/machine.h"
#include "sym/ir/program.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_PATIENCE = 10 };

/* A queue open at both ends. */
struct deque {
	struct state **data;
	size_t head, len, cap; /* ring; cap is a power of two */
};

struct explore {
	struct deque fresh, rest;
	struct deque open; /* sides that the solver could not decide in time */
	enum { DEPTH, BREADTH, COVER } order;
	uint64_t picks;
	struct sym_result *result;
	struct map seen;   /* errors already reported, by place and kind */
	struct map places; /* where states have been */
	bool keep_paths;
	uint64_t nerrors;
	bool incomplete;
};

static void deque_push(struct deque *q, struct state *s)
{
	if (q->len == q->cap) {
		size_t cap = q->cap ? q->cap * 2 : 64;
		struct state **data = xmalloc(cap * sizeof(*data));

		for (size_t i = 0; i < q->len; i++)
			data[i] = q->data[(q->head + i) & (q->cap - 1)];
		free(q->data);
		q->data = data;
		q->head = 0;
		q->cap = cap;
	}
	q->data[(q->head + q->len++) & (q->cap - 1)] = s;
}

static struct state *deque_newest(struct deque *q)
{
	return q->data[(q->head + --q->len) & (q->cap - 1)];
}

static struct state *deque_oldest(struct deque *q)
{
	struct state *s = q->data[q->head];

	q->head = (q->head + 1) & (q->cap - 1);
	q->len--;
	return s;
}

/* Of a question that is asked for the first time. */
static uint32_t first_patience(const struct machine *m)
{
	return MAX(machine_query_ms(m) / FIRST_PATIENCE, 1u);
}

static size_t waiting(const struct explore *x)
{
	return x->fresh.len + x->rest.len + x->open.len;
}

/* Has no state been here before? From now on one has. */
static bool is_new_place(struct explore *x, const struct state *s)
{
	uint64_t h = s->current;
	size_t before = x->places.len;

	for (const struct frame *f = s->threads[s->current].top; f; f = f->caller)
		h = hash_u64(h * 31 +
			     ((uint64_t)f->f->index << 40 ^ (uint64_t)f->pc << 16 ^ f->forks));
	map_put(&x->places, h, 1);
	return x->places.len != before;
}

static void enqueue(struct machine *m, struct state *s)
{
	struct explore *x = m->guide->data;
	bool fresh = x->order == COVER && is_new_place(x, s);

	deque_push(fresh ? &x->fresh : &x->rest, s);
	m->stats.states++;
	m->stats.max_states = MAX(m->stats.max_states, waiting(x) + 1);
}

/* The first side that is decided after all. */
static struct state *pick_open(struct machine *m)
{
	struct explore *x = m->guide->data;

	while (x->open.len && !machine_should_stop(m)) {
		struct state *s = deque_oldest(&x->open);
		struct model *model = NULL;
		enum answer answer;

		solver_set_patience(m->solver, machine_query_ms(m));
		answer = solver_check(m->solver, s->path, s->undecided, s->model, &model);
		solver_set_patience(m->solver, first_patience(m));
		if (answer == ANSWER_YES) {
			machine_assume(m, s, s->undecided, model);
			s->undecided = 0;
			return s;
		}
		if (answer == ANSWER_UNKNOWN) {
			machine_note(
				m, "a branch whose other side the solver could not decide in time "
				   "was not followed");
			x->incomplete = true;
		}
		state_free(s);
	}
	return x->open.len ? deque_oldest(&x->open) : NULL; /* the time is up */
}

static struct state *pick(struct machine *m)
{
	struct explore *x = m->guide->data;

	if (x->fresh.len)
		return deque_newest(&x->fresh);
	if (!x->rest.len)
		return pick_open(m);
	x->picks++;
	if (x->order == BREADTH || (x->order == COVER && x->picks % 2))
		return deque_oldest(&x->rest);
	return deque_newest(&x->rest);
}

static void show_progress(const struct machine *m, const struct explore *x)
{
	progress("explore: %llu paths, %zu states waiting, %zu findings, %llu branch questions",
		 (unsigned long long)m->stats.paths, waiting(x), x->result->paths.len,
		 (unsigned long long)m->stats.branch_queries);
}

/* --- branches --- */

static bool explore_branch(struct machine *m, expr_id cond, uint32_t yes_pc, uint32_t no_pc)
{
	struct explore *x = m->guide->data;
	struct state *s = m->s, *c;
	bool yes = machine_value(m, s, cond);
	expr_id mine = yes ? cond : expr_not(&m->exprs, cond),
		other = yes ? expr_not(&m->exprs, cond) : cond;
	struct model *model = NULL;
	struct frame *f = s->threads[s->current].top;
	enum answer answer;

	if ((m->stats.branch_queries++ & 63) == 0)
		show_progress(m, x);
	f->forks++;
	f->f->covered[yes ? yes_pc : no_pc] = 1;
	answer = solver_check(m->solver, s->path, other, s->model, &model);
	if (answer == ANSWER_NO)
		return yes;
	s->forks++;
	if (m->config->max_states && waiting(x) >= m->config->max_states) {
		machine_note(m,
			     "the limit of %llu waiting states was reached; some paths were not "
			     "followed",
			     (unsigned long long)m->config->max_states);
		x->incomplete = true;
		model_unref(model);
		machine_assume(m, s, mine, NULL);
		return yes;
	}
	c = state_fork(s, m->next_state++);
	m->stats.forks++;
	cache_clear(m);
	frame_own(&c->threads[c->current].top)->pc = yes ? no_pc : yes_pc;
	machine_assume(m, s, mine, NULL);
	if (answer == ANSWER_UNKNOWN) {
		c->undecided = other;
		deque_push(&x->open, c);
		m->stats.states++;
		return yes;
	}
	machine_assume(m, c, other, model);
	enqueue(m, c);
	return yes;
}

/* --- results --- */

static uint64_t value_of(const struct model *model, uint32_t symbol)
{
	return model && symbol < model->count ? model->values[symbol] & 0xff : 0;
}

/* The program's arguments, input and environment under the model. */
void machine_inputs(struct machine *m, const struct model *model, struct sym_path *p)
{
	const struct sym_config *c = m->config;
	uint32_t nenv = 0;

	p->nargs = c->nargs + m->s->sym_args;
	p->args = xcalloc(p->nargs + 1, sizeof(char *));
	for (uint32_t i = 0; i < p->nargs; i++)
		p->args[i] = i < c->nargs ? xstrdup(c->args[i]) : xcalloc(1, c->sym_arg_len + 1);
	p->input_len = c->sym_stdin ? c->sym_stdin : c->input_len;
	p->input = xcalloc(1, p->input_len + 1);
	if (!c->sym_stdin && c->input)
		memcpy(p->input, c->input, c->input_len);
	while (c->sym_env && c->sym_env[nenv])
		nenv++;
	p->nenv = nenv;
	p->env = xcalloc(nenv + 1, sizeof(char *));
	for (uint32_t i = 0; i < nenv; i++) {
		p->env[i] = xcalloc(1, strlen(c->sym_env[i]) + c->sym_env_len + 2);
		memcpy(p->env[i], c->sym_env[i], strlen(c->sym_env[i]));
		p->env[i][strlen(c->sym_env[i])] = '=';
	}
	for (uint32_t i = m->s->inputs[0]; i < m->s->inputs[1]; i++) {
		const struct sym_input *in = &m->inputs.data[i];
		char v = (char)value_of(model, in->symbol);

		if (in->source == SYM_FROM_ARG)
			p->args[in->index][in->offset] = v;
		else if (in->source == SYM_FROM_STDIN)
			p->input[in->offset] = (uint8_t)v;
		else if (in->source == SYM_FROM_ENV)
			p->env[in->index][strlen(c->sym_env[in->index]) + 1 + in->offset] = v;
	}
}

static void add_path(struct machine *m, struct state *s, const struct sym_outcome *o,
		     const struct model *model)
{
	struct explore *x = m->guide->data;
	struct sym_path *p;

	if (o->kind == SYM_EXIT && !x->keep_paths)
		return;
	if (o->kind != SYM_EXIT && !m->config->all_errors) {
		uint64_t key = hash_bytes(o->stack, strlen(o->stack), (uint64_t)o->kind);

		if (map_find(&x->seen, key))
			return;
		map_put(&x->seen, key, 1);
	}
	x->nerrors += sym_kind_is_error(o->kind);
	p = vec_add(&x->result->paths);
	p->outcome = *o;
	p->id = s->id;
	p->parent = s->parent;
	p->ops = s->ops;
	p->constraints = s->path ? s->path->count : 0;
	machine_inputs(m, model, p);
}

static void explore_error(struct machine *m, struct state *s, const struct sym_outcome *o,
			  struct model *model)
{
	m->stats.paths++;
	add_path(m, s, o, model);
}

static void explore_end(struct machine *m, struct state *s)
{
	struct explore *x = m->guide->data;

	m->stats.paths++;
	if (m->outcome.kind == SYM_BUDGET || m->outcome.kind == SYM_UNSUPPORTED)
		x->incomplete = true;
	if (m->outcome.kind == SYM_BUDGET)
		machine_note(m, "a path was given up: %s", m->outcome.message);
	else
		add_path(m, s, &m->outcome, s->model);
	if (s->bounded)
		x->incomplete = true;
}

static bool out_of_budget(struct machine *m)
{
	const struct explore *x = m->guide->data;

	if (m->config->max_errors && x->nerrors >= m->config->max_errors)
		return true;
	if (m->config->max_paths && m->stats.paths >= m->config->max_paths)
		return true;
	return machine_should_stop(m) != NULL;
}

static void drop_all(struct deque *q)
{
	while (q->len)
		state_free(deque_newest(q));
}

static void explore_all(struct machine *m, struct explore *x)
{
	struct state *s;

	while ((s = pick(m))) {
		if (out_of_budget(m)) {
			const char *why = machine_should_stop(m);

			machine_note(m, "stopped with %zu states waiting%s%s", waiting(x) + 1,
				     why ? ": " : "", why ? why : "");
			x->incomplete = true;
			state_free(s);
			drop_all(&x->fresh);
			drop_all(&x->rest);
			drop_all(&x->open);
			return;
		}
		m->s = NULL; /* the cache belongs to another state */
		machine_run(m, s);
		explore_end(m, s);
		m->s = NULL;
		state_free(s);
		if ((m->stats.paths & 255) == 0)
			show_progress(m, x);
	}
}

struct err *sym_explore(struct sym_program *p, const struct sym_config *config,
			struct sym_result *ret)
{
	struct explore x = { .result = ret, .order = COVER, .keep_paths = config->keep_paths };
	struct guide guide = {
		.branch = explore_branch, .error = explore_error, .forked = enqueue, .data = &x
	};
	double start = clock_seconds();
	struct machine m;
	struct state *s;
	struct err *err;

	if (config->order && !strcmp(config->order, "depth"))
		x.order = DEPTH;
	else if (config->order && !strcmp(config->order, "breadth"))
		x.order = BREADTH;
	else if (config->order && strcmp(config->order, "cover"))
		return err_new(ERR_USAGE, "--order is depth, breadth or cover, not '%s'",
			       config->order);
	machine_init(&m, p->ir, config);
	m.guide = &guide;
	solver_set_patience(m.solver, first_patience(&m));
	err = machine_start(&m, &s);
	if (!err) {
		m.next_state = 1;
		enqueue(&m, s);
		explore_all(&m, &x);
		progress_done();
		for (size_t i = 0; i < m.notes.len; i++)
			names_intern(&ret->notes, m.notes.text[i]);
		m.stats.seconds = clock_seconds() - start;
		m.stats.exprs = m.exprs.nodes.len - 1;
		m.stats.symbols = m.exprs.symbols.len;
		ret->stats = m.stats;
		ret->complete = !x.incomplete;
	}
	free(x.fresh.data);
	free(x.rest.data);
	free(x.open.data);
	map_deinit(&x.seen);
	map_deinit(&x.places);
	machine_deinit(&m);
	return err;
}
