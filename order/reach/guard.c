/* order/reach/guard.c - a copy of a model in which everything behind a moment is void.
 *
 * What comes in: a model and a question (reach.h). What goes out: a model whose whole runs are the
 * prefixes asked for, each with some rest behind it that means nothing.
 *
 * The moment is a cell, "reached". A thread with a goal ends there: it marks the cell and gives back
 * the locks it holds. Every other thread keeps all its events. Before each event that could hold it
 * up, and behind each decision, it reads the cell: what the event or the decision needs must be
 * there, or the moment is over. The cell never goes back, so a thread that has seen it is behind the
 * moment with everything that follows.
 *
 *   - A decision: its condition, or reached. Only reached, if it is about what a thread that was joined
 *     read behind its end here: that join has not happened before the moment.
 *   - A semaphore is a counter, a barrier a counter of arrivals, the end of a thread a flag; what
 *     waits for them reads them, or reached.
 *   - Signals: where they are not left to the solver, each counts up; a wait reads the counter
 *     before and after, and it must have moved. One signal may so wake two waiters: the referee
 *     sorts that out.
 *   - Locks: where they are not left to the solver, each is a cell with its owner's number.
 *
 * A thread whose creation lies behind the end of its creator has no events at all.
 *
 * What an event means is said here in terms and in order/model/validate.c in plain steps, on purpose
 * twice: the referee checks what was asked with these terms, and would repeat our mistakes if it
 * shared them. test/unit/test-order-reach.c compares both with enumeration. */
#include "order/reach/guard.h"

#include <stdlib.h>

enum { COUNT_BITS = 64, OWNER_BITS = 16, WRITER = 0x8000 };

struct guard {
	const struct guard_input *in;
	const struct order_model *m;
	size_t at; /* in in->sorted: decisions of this thread that are still to come */
	const struct order_question *q;
	enum guard_form form;
	struct guarded *out;
	struct order_model *c;
	uint32_t *end;	  /* per thread: how many of its events are kept */
	bool *goal;	  /* per thread */
	bool *unread;	  /* per term: it is about a read that is not kept */
	uint32_t *cell;	  /* per object: the cell that stands for it, ORDER_NONE */
	uint32_t *ended;  /* per thread: the flag of its end, ORDER_NONE */
	uint32_t *depth;  /* per object: how often this thread holds the lock */
	bool *exclusive;  /* per object: this thread holds it as a writer */
	uint32_t reached; /* cell: how many goals are reached */
	uint32_t thread;  /* being written */
	bool undecided;	  /* it stops before some of its decisions */
	term_id over;	  /* read of `reached` before the next event; TERM_NONE: not yet */
	term_id before;	  /* signals before the wait; places in the barrier */
};

void guarded_deinit(struct guarded *g)
{
	order_model_free(g->m);
	vec_deinit(&g->old);
	vec_deinit(&g->marks);
	*g = (struct guarded){ 0 };
}

/* ---- events of the copy ---- */

static void note_old(struct guard *g, uint32_t old)
{
	while (g->out->old.len < g->c->events.len)
		vec_push(&g->out->old, ORDER_NONE);
	g->out->old.data[g->c->events.len - 1] = old;
}

/* An event that says something about the order only. */
static uint32_t aside(struct guard *g, enum order_kind kind, uint32_t cell)
{
	uint32_t e = order_event(g->c, g->thread, kind, cell);

	g->c->events.data[e].aside = true;
	note_old(g, ORDER_NONE);
	return e;
}

/* The event itself, about another object perhaps, with a symbol of its own if it reads. */
static uint32_t as(struct guard *g, uint32_t old, enum order_kind kind, uint32_t object)
{
	uint32_t e = order_event(g->c, g->thread, kind, object);

	g->c->events.data[e].site = g->m->events.data[old].site;
	note_old(g, old);
	return e;
}

/* The event as it is. */
static void same(struct guard *g, uint32_t old)
{
	struct order_event e = g->m->events.data[old];
	uint32_t id = (uint32_t)g->c->events.len;
	struct order_thread *t = &g->c->threads.data[g->thread];

	e.index = (uint32_t)t->len;
	vec_push(&g->c->events, e);
	vec_push(t, id);
	if (e.symbol != ORDER_NONE)
		g->c->symbols.data[e.symbol].event = id;
	note_old(g, old);
}

static term_id number(struct guard *g, unsigned bits, uint64_t n)
{
	return term_const(&g->c->terms, bits, n);
}

static term_id is(struct guard *g, enum term_op op, term_id a, uint64_t n)
{
	return term_binary(&g->c->terms, op, a, number(g, term_get(&g->c->terms, a)->width, n));
}

static term_id plus(struct guard *g, term_id a, uint64_t n)
{
	return term_binary(&g->c->terms, TERM_ADD, a,
			   number(g, term_get(&g->c->terms, a)->width, n));
}

/* Is the moment over, just before the next event? */
static term_id over(struct guard *g)
{
	if (g->over == TERM_NONE)
		g->over = is(g, TERM_EQ, order_value(g->c, aside(g, ORDER_READ, g->reached)),
			     g->q->n);
	return g->over;
}

/* Call before the event that the condition is about: `late` is over(), TERM_NONE in a thread with a
 * goal. */
static term_id late(struct guard *g)
{
	return g->goal[g->thread] ? TERM_NONE : over(g);
}

static void require(struct guard *g, term_id late, term_id condition)
{
	order_condition(g->c, late == TERM_NONE
				      ? condition
				      : term_binary(&g->c->terms, TERM_OR, late, condition));
}

static void set_value(struct guard *g, uint32_t event, term_id value)
{
	g->c->events.data[event].value = value;
}

/* ---- counters ---- */

static uint32_t new_cell(struct guard *g, const char *name, unsigned bits, uint64_t initial)
{
	return order_object(g->c, ORDER_OBJECT_CELL, name, bits, initial);
}

static uint32_t cell_of(struct guard *g, uint32_t object, unsigned bits, uint64_t initial)
{
	if (g->cell[object] == ORDER_NONE)
		g->cell[object] = new_cell(g, g->m->objects.data[object].name, bits, initial);
	return g->cell[object];
}

static void semaphore(struct guard *g, uint32_t old)
{
	const struct order_event *e = &g->m->events.data[old];
	uint32_t cell = cell_of(g, e->object, COUNT_BITS, g->m->objects.data[e->object].initial);
	term_id void_now = e->kind == ORDER_SEM_POST ? TERM_NONE : late(g), now;
	uint32_t id = as(g, old, e->kind == ORDER_SEM_FAILED ? ORDER_READ : ORDER_RMW, cell);

	now = order_value(g->c, id);
	if (e->kind == ORDER_SEM_POST) {
		set_value(g, id, plus(g, now, 1));
		return;
	}
	require(g, void_now, is(g, e->kind == ORDER_SEM_WAIT ? TERM_NE : TERM_EQ, now, 0));
	if (e->kind == ORDER_SEM_WAIT)
		set_value(g, id, plus(g, now, UINT64_MAX));
}

static void barrier(struct guard *g, uint32_t old)
{
	const struct order_event *e = &g->m->events.data[old];
	struct terms *ts = &g->c->terms;
	uint64_t n = g->m->objects.data[e->object].initial;
	uint32_t cell = cell_of(g, e->object, COUNT_BITS, 0), id;
	term_id void_now, round;

	if (e->kind == ORDER_BARRIER_ENTER) {
		id = as(g, old, ORDER_RMW, cell);
		g->before = order_value(g->c, id);
		set_value(g, id, plus(g, g->before, 1));
		return;
	}
	void_now = late(g);
	id = as(g, old, ORDER_READ, cell);
	round = plus(g, term_binary(ts, TERM_UDIV, g->before, number(g, COUNT_BITS, n)), 1);
	round = term_binary(ts, TERM_MUL, round, number(g, COUNT_BITS, n));
	require(g, void_now, term_binary(ts, TERM_ULE, round, order_value(g->c, id)));
}

/* Nothing that a thread with a goal does is void. But a thread that has a goal itself, or holds a
 * lock at its end, has events behind the moment. */
static bool is_real_join(const struct guard *g, uint32_t old)
{
	uint32_t child = g->m->events.data[old].object;
	const struct order_thread *t = &g->m->threads.data[child];

	return g->goal[g->m->events.data[old].thread] && !g->goal[child] &&
	       !(t->len && g->m->events.data[t->data[t->len - 1]].synthetic) &&
	       !order_thread_holds(g->m, child);
}

static void join(struct guard *g, uint32_t old)
{
	uint32_t child = g->m->events.data[old].object;
	term_id void_now = late(g);

	require(g, void_now,
		is(g, TERM_EQ, order_value(g->c, as(g, old, ORDER_READ, g->ended[child])), 1));
}

/* ---- locks as cells: 0 free, else its owner; of a reader-writer lock: readers, or WRITER ---- */

static void take(struct guard *g, uint32_t old, uint32_t lock, bool reader)
{
	bool rw = g->m->objects.data[lock].kind == ORDER_OBJECT_RWLOCK;
	uint32_t cell = cell_of(g, lock, OWNER_BITS, 0), id;
	term_id void_now, now;

	if (!rw && g->depth[lock]++) {
		as(g, old, ORDER_POINT, ORDER_NONE);
		return;
	}
	void_now = late(g);
	id = as(g, old, ORDER_RMW, cell);
	now = order_value(g->c, id);
	g->exclusive[lock] = rw && !reader;
	require(g, void_now, reader ? is(g, TERM_ULT, now, WRITER) : is(g, TERM_EQ, now, 0));
	set_value(g, id,
		  reader ? plus(g, now, 1) : number(g, OWNER_BITS, rw ? WRITER : g->thread + 1));
}

static void give_back(struct guard *g, uint32_t old, uint32_t lock)
{
	bool rw = g->m->objects.data[lock].kind == ORDER_OBJECT_RWLOCK;
	uint32_t cell = cell_of(g, lock, OWNER_BITS, 0), id;

	if (!rw && --g->depth[lock]) {
		as(g, old, ORDER_POINT, ORDER_NONE);
		return;
	}
	if (rw && !g->exclusive[lock]) {
		id = as(g, old, ORDER_RMW, cell);
		set_value(g, id, plus(g, order_value(g->c, id), UINT64_MAX));
		return;
	}
	g->exclusive[lock] = false;
	set_value(g, as(g, old, ORDER_WRITE, cell), number(g, OWNER_BITS, 0));
}

static void find_taken(struct guard *g, uint32_t old)
{
	const struct order_event *e = &g->m->events.data[old];
	uint32_t cell = cell_of(g, e->object, OWNER_BITS, 0);
	term_id void_now = late(g), now;

	now = order_value(g->c, as(g, old, ORDER_READ, cell));
	require(g, void_now,
		e->kind == ORDER_RDLOCK_FAILED ? is(g, TERM_EQ, now, WRITER)
					       : is(g, TERM_NE, now, 0));
}

static void lock_event(struct guard *g, uint32_t old)
{
	const struct order_event *e = &g->m->events.data[old];

	if (g->form != GUARD_ALL) {
		/* "the lock was taken" is a condition, and the solver's own cannot be void */
		same(g, old);
		return;
	}
	switch (e->kind) {
	case ORDER_LOCK:
	case ORDER_WRLOCK:
	case ORDER_RDLOCK:
		take(g, old, e->object, e->kind == ORDER_RDLOCK);
		break;
	case ORDER_UNLOCK:
	case ORDER_RWUNLOCK:
		give_back(g, old, e->object);
		break;
	default:
		find_taken(g, old);
	}
}

/* ---- condition variables ---- */

static void retake(struct guard *g, uint32_t old, uint32_t mutex)
{
	if (g->form == GUARD_ALL)
		take(g, old, mutex, false);
	else
		as(g, old, ORDER_LOCK, mutex);
}

static void signal_event(struct guard *g, uint32_t old)
{
	const struct order_event *e = &g->m->events.data[old];
	uint32_t count, id;
	term_id void_now;

	if (g->form == GUARD_REAL) {
		same(g, old);
		return;
	}
	count = cell_of(g, e->object, COUNT_BITS, 0);
	switch (e->kind) {
	case ORDER_WAIT:
		g->before = order_value(g->c, aside(g, ORDER_READ, count));
		if (g->form == GUARD_ALL)
			give_back(g, old, e->mutex);
		else
			as(g, old, ORDER_UNLOCK, e->mutex);
		break;
	case ORDER_WAKE:
		void_now = late(g);
		id = aside(g, ORDER_READ, count);
		require(g, void_now,
			term_binary(&g->c->terms, TERM_NE, order_value(g->c, id), g->before));
		retake(g, old, e->mutex);
		break;
	case ORDER_WAKE_TIMEOUT:
		retake(g, old, e->mutex);
		break;
	default:
		id = as(g, old, ORDER_RMW, count);
		set_value(g, id, plus(g, order_value(g->c, id), 1));
	}
}

/* ---- threads ---- */

static void event(struct guard *g, uint32_t old)
{
	switch (order_kind_object((enum order_kind)g->m->events.data[old].kind)) {
	case ORDER_OBJECT_SEM:
		semaphore(g, old);
		break;
	case ORDER_OBJECT_BARRIER:
		barrier(g, old);
		break;
	case ORDER_OBJECT_MUTEX:
	case ORDER_OBJECT_RWLOCK:
		lock_event(g, old);
		break;
	case ORDER_OBJECT_COND:
		signal_event(g, old);
		break;
	case ORDER_OBJECT_THREAD:
		if (g->m->events.data[old].kind == ORDER_JOIN && !is_real_join(g, old))
			join(g, old);
		else
			same(g, old);
		break;
	default:
		same(g, old);
	}
}

static const struct order_goal *goal_of(const struct guard *g, uint32_t thread)
{
	for (size_t i = 0; i < g->q->n; i++)
		if (g->q->goals[i].thread == thread && !g->q->goals[i].passes)
			return &g->q->goals[i];
	return NULL;
}

/* The decisions of this thread just before its event number `index`. */
static void decisions(struct guard *g, uint32_t index)
{
	const struct order_goal *goal = goal_of(g, g->thread);

	for (; g->at < g->in->nsorted; g->at++) {
		uint32_t condition = g->in->sorted[g->at];
		const struct order_place *p = &g->m->places.data[condition];

		if (p->thread != g->thread || p->index > index)
			break;
		if (goal && index == goal->index && p->nth >= goal->nth) {
			g->undecided = true;
			continue;
		}
		require(g, late(g),
			g->unread[g->m->conditions.data[condition]]
				? number(g, 1, 0)
				: g->m->conditions.data[condition]);
	}
}

static void mark(struct guard *g)
{
	uint32_t id = aside(g, ORDER_RMW, g->reached);

	set_value(g, id, plus(g, order_value(g->c, id), 1));
	vec_push(&g->out->marks, id);
}

/* A thread that may go on behind its goal is like any other: before the goal the moment cannot be
 * over. */
static void mark_passing(struct guard *g, uint32_t index)
{
	for (size_t i = 0; i < g->q->n; i++)
		if (g->q->goals[i].passes && g->q->goals[i].thread == g->thread &&
		    g->q->goals[i].index == index)
			mark(g);
}

static void reach(struct guard *g)
{
	mark(g);
	if (g->q->n > 1) { /* it stays here until the others have come */
		g->over = TERM_NONE;
		order_condition(g->c, over(g));
	}
}

/* A thread that holds a lock at its end holds it until the moment is over. */
static void close_locks(struct guard *g)
{
	size_t n;

	if (!order_thread_holds(g->c, g->thread))
		return;
	if (!g->goal[g->thread]) {
		g->over = TERM_NONE; /* its last decisions may lie before */
		order_condition(g->c, over(g));
	}
	n = g->c->events.len;
	order_close_thread(g->c, g->thread);
	while (g->out->old.len < g->c->events.len)
		vec_push(&g->out->old, ORDER_NONE);
	for (size_t i = n; i < g->c->events.len; i++)
		g->c->events.data[i].aside = true;
}

/* Does it come to its end before the moment is over? */
static bool has_all(const struct guard *g, uint32_t t)
{
	const struct order_thread *x = &g->m->threads.data[t];

	return x->len && !g->undecided &&
	       (g->end[t] == x->len || g->m->events.data[x->data[g->end[t]]].synthetic);
}

static void thread(struct guard *g, uint32_t t)
{
	const struct order_thread *from = &g->m->threads.data[t];

	g->thread = t;
	g->undecided = false;
	while (g->at < g->in->nsorted && g->m->places.data[g->in->sorted[g->at]].thread < t)
		g->at++;
	for (size_t i = 0; i < g->m->objects.len; i++) {
		g->depth[i] = 0;
		g->exclusive[i] = false;
	}
	for (uint32_t i = 0; i < g->end[t] && !g->m->events.data[from->data[i]].synthetic; i++) {
		g->over = TERM_NONE;
		mark_passing(g, i);
		decisions(g, i);
		event(g, from->data[i]);
	}
	g->over = TERM_NONE;
	mark_passing(g, g->end[t]);
	if (g->end[t] || t == 0 || g->goal[t])
		decisions(g, g->end[t]);
	if (g->ended[t] != ORDER_NONE && has_all(g, t))
		set_value(g, aside(g, ORDER_WRITE, g->ended[t]), number(g, 1, 1));
	if (g->goal[t])
		reach(g);
	close_locks(g);
}

static bool has_goal(const struct guard *g, uint32_t thread)
{
	for (size_t i = 0; i < g->q->n; i++)
		if (g->q->goals[i].thread == thread && g->q->goals[i].index)
			return true;
	return false;
}

/* Who is never created has no events; so have those that only such a thread creates. */
static void find_ends(struct guard *g)
{
	const struct order_model *m = g->m;
	bool more = true;

	for (uint32_t t = 0; t < m->threads.len; t++) {
		const struct order_goal *goal = goal_of(g, t);

		g->goal[t] = goal != NULL;
		g->end[t] = goal ? goal->index : (uint32_t)m->threads.data[t].len;
	}
	while (more) {
		more = false;
		for (uint32_t t = 0; t < m->threads.len; t++)
			for (uint32_t i = g->end[t]; i < m->threads.data[t].len; i++) {
				const struct order_event *e =
					&m->events.data[m->threads.data[t].data[i]];

				if (e->kind == ORDER_FORK && g->end[e->object]) {
					g->out->impossible |= has_goal(g, e->object);
					g->end[e->object] = 0;
					more = true;
				}
			}
	}
}

static void find_unread(struct guard *g)
{
	const struct order_model *m = g->m;

	for (term_id id = 0; id < m->terms.len; id++) {
		const struct term *t = term_get(&m->terms, id);
		const term_id operand[] = { t->a, t->b, t->c };
		uint32_t read = t->op == TERM_SYMBOL ? m->symbols.data[t->value].event : ORDER_NONE;

		if (read != ORDER_NONE)
			g->unread[id] =
				m->events.data[read].index >= g->end[m->events.data[read].thread];
		for (unsigned i = 0; i < term_arity(t); i++)
			g->unread[id] |= g->unread[operand[i]];
	}
}

/* Symbols that nobody reads any more are not inputs either. */
static void drop_symbols(struct guard *g)
{
	for (size_t i = 0; i < g->c->symbols.len; i++)
		if (g->c->symbols.data[i].event != ORDER_NONE)
			g->c->symbols.data[i].event = 0;
}

static struct order_model *empty_copy(const struct order_model *m)
{
	struct order_model *c = order_model_copy(m);

	for (size_t t = 0; t < c->threads.len; t++)
		c->threads.data[t].len = 0;
	c->events.len = c->conditions.len = c->places.len = 0;
	c->failure = TERM_NONE;
	c->failure_event = ORDER_NONE;
	c->stuck = 0;
	return c;
}

/* Joins come to life before the thread they wait for: flags first. */
static void make_flags(struct guard *g)
{
	for (size_t i = 0; i < g->m->events.len; i++) {
		const struct order_event *e = &g->m->events.data[i];

		if (e->kind == ORDER_JOIN && !is_real_join(g, (uint32_t)i) &&
		    g->ended[e->object] == ORDER_NONE)
			g->ended[e->object] =
				new_cell(g, "ended", 1, !g->m->threads.data[e->object].len);
	}
}

void guard_model(const struct guard_input *in, const struct order_question *q, enum guard_form form,
		 struct guarded *ret)
{
	const struct order_model *m = in->m;
	size_t nt = m->threads.len + 1, no = m->objects.len + 1;
	struct guard g = { .in = in, .m = m, .q = q, .form = form, .out = ret, .c = empty_copy(m) };

	*ret = (struct guarded){ .m = g.c };
	g.end = xcalloc(nt, sizeof(*g.end));
	g.goal = xcalloc(nt, sizeof(*g.goal));
	g.unread = xcalloc(m->terms.len + 1, sizeof(*g.unread));
	g.ended = xcalloc(nt, sizeof(*g.ended));
	g.cell = xcalloc(no, sizeof(*g.cell));
	g.depth = xcalloc(no, sizeof(*g.depth));
	g.exclusive = xcalloc(no, sizeof(*g.exclusive));
	memset(g.ended, 0xff, nt * sizeof(*g.ended));
	memset(g.cell, 0xff, no * sizeof(*g.cell));
	drop_symbols(&g);
	find_ends(&g);
	find_unread(&g);
	g.reached = new_cell(&g, "reached", 8, 0);
	make_flags(&g);
	for (uint32_t t = 0; t < m->threads.len; t++)
		thread(&g, t);
	for (size_t i = 0; i < m->conditions.len; i++)
		if (m->places.data[i].thread == ORDER_NONE)
			order_condition(g.c, m->conditions.data[i]);
	if (q->condition != TERM_NONE)
		order_condition(g.c, q->condition);
	free(g.end);
	free(g.goal);
	free(g.unread);
	free(g.ended);
	free(g.cell);
	free(g.depth);
	free(g.exclusive);
}
