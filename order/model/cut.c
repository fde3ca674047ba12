/* order/model/cut.c - another path: a model in which one thread decides differently.
 *
 * Sometimes no order of the recorded paths goes well: the threads have already decided to take more
 * than there is, and the thread that comes last fails. Then the nearest good run leaves a path. Let it be
 * the failing thread's, at one of its decisions, the latest first: behind what that decision looked
 * at, the thread's recorded steps say nothing about such a run and are left out; the decision, as
 * it was taken, is the failure. An order of what is left that "does not fail" is a run up to the
 * point where the thread goes another way. What comes then, a native run shows. */
#include "order/order.h"

#include "base/map.h"

/* The latest read of a thread below a term, as its index there + 1; 0: none. `ret_other`: reads of
 * other threads, or inputs, are below it too. */
static uint32_t last_read(const struct order_model *m, term_id id, uint32_t thread,
			  struct map *seen, bool *ret_other)
{
	const struct term *t = term_get(&m->terms, id);
	const term_id operand[] = { t->a, t->b, t->c };
	uint32_t last = 0;

	if (map_find(seen, id))
		return 0;
	map_put(seen, id, 1);
	if (t->op == TERM_SYMBOL) {
		uint32_t e = m->symbols.data[t->value].event;

		if (e != ORDER_NONE && m->events.data[e].thread == thread)
			return m->events.data[e].index + 1;
		*ret_other = true;
		return 0;
	}
	for (unsigned i = 0; i < term_arity(t); i++) {
		uint32_t below = last_read(m, operand[i], thread, seen, ret_other);

		last = MAX(last, below);
	}
	return last;
}

static uint32_t decided_at(const struct order_model *m, term_id term, uint32_t thread, bool *other)
{
	struct map seen = { 0 };
	uint32_t last;

	*other = false;
	last = last_read(m, term, thread, &seen, other);
	map_deinit(&seen);
	return last;
}

static int latest_first(const void *a, const void *b)
{
	const struct order_decision *x = a, *y = b;

	if (x->index != y->index)
		return x->index > y->index ? -1 : 1;
	return x->condition > y->condition ? -1 : x->condition < y->condition;
}

void order_decisions(const struct order_model *m, uint32_t thread, struct order_decisions *ret)
{
	*ret = (struct order_decisions){ 0 };
	for (uint32_t i = 0; i < m->conditions.len; i++) {
		bool other;
		uint32_t last = decided_at(m, m->conditions.data[i], thread, &other);

		if (last && !other)
			vec_push(ret, ((struct order_decision){ i, last - 1 }));
	}
	vec_sort(ret, latest_first);
}

/* Behind the cut only what ends a critical section that begins before it is still needed, and what
 * says that the thread has come to its end. */
static void leave_out(struct order_event *e, uint32_t *open)
{
	bool waits = e->kind == ORDER_WAIT;
	uint32_t lock;

	if (order_lock_effect(e, &lock) < 0 && open[lock]) {
		open[lock]--;
		e->kind = waits ? ORDER_UNLOCK : e->kind;
		e->object = lock;
	} else if (!(e->synthetic && e->kind == ORDER_WRITE)) {
		e->kind = ORDER_POINT;
		e->object = ORDER_NONE;
		e->value = TERM_NONE;
	}
	e->mutex = ORDER_NONE;
	e->symbol = ORDER_NONE;
	e->synthetic = true;
}

/* Others depend on what comes behind the cut. */
static bool is_needed(const struct order_model *m, const struct order_thread *t, uint32_t from)
{
	for (uint32_t i = from; i < t->len; i++) {
		uint8_t kind = m->events.data[t->data[i]].kind;

		if (kind == ORDER_FORK || kind == ORDER_EXIT || kind == ORDER_BARRIER_ENTER)
			return true;
	}
	return false;
}

struct order_model *order_model_cut(const struct order_model *m, uint32_t thread,
				    const struct order_decision *at)
{
	const struct order_thread *t = &m->threads.data[thread];
	struct order_model *c;
	uint32_t *open;
	size_t kept = 0;

	if (is_needed(m, t, at->index + 1))
		return NULL;
	c = order_model_copy(m);
	open = xcalloc(m->objects.len + 1, sizeof(*open));
	for (uint32_t i = 0; i < t->len; i++) {
		struct order_event *e = &c->events.data[t->data[i]];
		uint32_t lock;
		int effect = order_lock_effect(e, &lock);

		if (i > at->index)
			leave_out(e, open);
		else if (effect)
			open[lock] += (uint32_t)effect;
	}
	free(open);
	for (uint32_t i = 0; i < m->conditions.len; i++) {
		bool other;
		uint32_t last = decided_at(m, m->conditions.data[i], thread, &other);

		if (i != at->condition && last <= at->index + 1) {
			c->places.data[kept] = m->places.data[i];
			c->conditions.data[kept++] = m->conditions.data[i];
		}
	}
	c->conditions.len = c->places.len = kept;
	c->failure = m->conditions.data[at->condition];
	c->failure_event = t->data[at->index];
	return c;
}
