/* order/model/lower.c - every kind of event as memory, critical sections and signals (see problem.h).
 *
 * A semaphore is a counter that may not be taken below zero, a barrier a counter of arrivals, "the
 * lock was taken" a cell that lock and unlock write. */
#include "order/model/lower.h"

/* Per lock while walking one thread: the open section and how often it was taken. */
struct open_lock {
	uint32_t section, depth;
};

struct lowering {
	struct problem *p;
	const struct order_model *m;
	uint32_t *cell;		/* object -> cell, for data, semaphores, barriers, watched locks */
	struct open_lock *open; /* by object */
	VEC(uint32_t) shared;	/* open shared sections of this thread */
	VEC(uint64_t) width;	/* of new symbols */
	term_id entered;	/* barrier: the place of the thread that entered last */
};

static uint32_t new_cell(struct lowering *lo, unsigned width, uint64_t initial)
{
	struct problem *p = lo->p;
	uint32_t c = p->ncells++;

	p->initial[c] = initial;
	p->cell_width[c] = (uint8_t)width;
	return c;
}

static void make_cells(struct lowering *lo)
{
	const struct order_model *m = lo->m;

	for (uint32_t i = 0; i < m->objects.len; i++) {
		const struct order_object *o = &m->objects.data[i];
		if (o->kind == ORDER_OBJECT_CELL)
			lo->cell[i] = new_cell(lo, o->width, o->initial);
		else if (o->kind == ORDER_OBJECT_SEM)
			lo->cell[i] = new_cell(lo, 64, o->initial);
		else if (o->kind == ORDER_OBJECT_BARRIER)
			lo->cell[i] = new_cell(lo, 64, 0);
	}
	for (size_t i = 0; i < m->events.len; i++) {
		const struct order_event *e = &m->events.data[i];
		bool watched = e->kind == ORDER_LOCK_FAILED || e->kind == ORDER_RDLOCK_FAILED ||
			       e->kind == ORDER_WRLOCK_FAILED;
		if (watched && lo->cell[e->object] == NONE)
			lo->cell[e->object] = new_cell(lo, 64, 0);
	}
}

static term_id hidden_read(struct lowering *lo, struct ev *v, uint32_t event)
{
	struct problem *p = lo->p;

	v->symbol = p->nsymbols++;
	p->reader[v->symbol] = event;
	return term_symbol(&p->terms, 64, v->symbol);
}

static void require(struct lowering *lo, term_id condition)
{
	vec_push(&lo->p->conditions, (struct condition){ .term = condition });
}

static void open_section(struct lowering *lo, struct ev *v, uint32_t event, uint32_t lock,
			 bool shared)
{
	struct problem *p = lo->p;

	v->opens = (uint32_t)p->sections.len;
	vec_push(&p->sections, (struct section){ .open = event,
						 .close = NONE,
						 .thread = v->thread,
						 .lock = lock,
						 .shared = shared });
}

static void watch(struct lowering *lo, struct ev *v, uint32_t lock, uint64_t value)
{
	if (lo->cell[lock] == NONE)
		return;
	v->cell = lo->cell[lock];
	v->value = term_const(&lo->p->terms, 64, value);
}

static void lower_acquire(struct lowering *lo, struct ev *v, uint32_t event, uint32_t lock)
{
	if (lo->open[lock].depth++)
		return; /* recursive: nothing new is excluded */
	open_section(lo, v, event, lock, false);
	lo->open[lock].section = v->opens;
	watch(lo, v, lock, UINT64_MAX);
}

static void lower_release(struct lowering *lo, struct ev *v, uint32_t event, uint32_t lock)
{
	if (--lo->open[lock].depth)
		return;
	v->closes = lo->open[lock].section;
	lo->p->sections.data[v->closes].close = event;
	watch(lo, v, lock, 0);
}

static void count_reader(struct lowering *lo, struct ev *v, uint32_t event, uint32_t lock, int by)
{
	if (lo->cell[lock] == NONE)
		return;
	v->cell = lo->cell[lock];
	term_id now = hidden_read(lo, v, event);
	v->value = term_binary(&lo->p->terms, TERM_ADD, now,
			       term_const(&lo->p->terms, 64, (uint64_t)(int64_t)by));
}

static void lower_rwunlock(struct lowering *lo, struct ev *v, uint32_t event, uint32_t lock)
{
	struct problem *p = lo->p;

	if (lo->open[lock].depth) {
		lower_release(lo, v, event, lock);
		return;
	}
	for (size_t i = lo->shared.len; i-- > 0;) {
		uint32_t s = lo->shared.data[i];
		if (p->sections.data[s].lock != lock)
			continue;
		p->sections.data[s].close = event;
		v->closes = s;
		memmove(&lo->shared.data[i], &lo->shared.data[i + 1],
			(lo->shared.len - i - 1) * sizeof(s));
		lo->shared.len--;
		count_reader(lo, v, event, lock, -1);
		return;
	}
}

static void lower_locks(struct lowering *lo, const struct order_event *e, struct ev *v, uint32_t id)
{
	struct terms *ts = &lo->p->terms;

	switch (e->kind) {
	case ORDER_LOCK:
	case ORDER_WRLOCK:
		lower_acquire(lo, v, id, e->object);
		break;
	case ORDER_UNLOCK:
		lower_release(lo, v, id, e->object);
		break;
	case ORDER_RDLOCK:
		open_section(lo, v, id, e->object, true);
		vec_push(&lo->shared, v->opens);
		count_reader(lo, v, id, e->object, 1);
		break;
	case ORDER_RWUNLOCK:
		lower_rwunlock(lo, v, id, e->object);
		break;
	case ORDER_LOCK_FAILED:
	case ORDER_WRLOCK_FAILED:
		v->cell = lo->cell[e->object];
		require(lo,
			term_binary(ts, TERM_NE, hidden_read(lo, v, id), term_const(ts, 64, 0)));
		break;
	case ORDER_RDLOCK_FAILED:
		v->cell = lo->cell[e->object];
		require(lo,
			term_binary(ts, TERM_SLT, hidden_read(lo, v, id), term_const(ts, 64, 0)));
		break;
	default:
		break;
	}
}

static void lower_counters(struct lowering *lo, const struct order_event *e, struct ev *v,
			   uint32_t id)
{
	struct terms *ts = &lo->p->terms;
	term_id one = term_const(ts, 64, 1), zero = term_const(ts, 64, 0), now, n;

	v->cell = lo->cell[e->object];
	now = hidden_read(lo, v, id);
	switch (e->kind) {
	case ORDER_SEM_POST:
		v->value = term_binary(ts, TERM_ADD, now, one);
		break;
	case ORDER_SEM_WAIT:
		require(lo, term_binary(ts, TERM_NE, now, zero));
		v->value = term_binary(ts, TERM_SUB, now, one);
		break;
	case ORDER_SEM_FAILED:
		require(lo, term_binary(ts, TERM_EQ, now, zero));
		break;
	case ORDER_BARRIER_ENTER:
		v->value = term_binary(ts, TERM_ADD, now, one);
		lo->entered = now;
		break;
	default: /* ORDER_BARRIER_LEAVE: arrivals >= (place / n + 1) * n */
		n = term_const(ts, 64, lo->m->objects.data[e->object].initial);
		require(lo, term_binary(ts, TERM_ULE,
					term_binary(ts, TERM_MUL,
						    term_binary(ts, TERM_ADD,
								term_binary(ts, TERM_UDIV,
									    lo->entered, n),
								one),
						    n),
					now));
		break;
	}
}

static void lower_cond(struct lowering *lo, const struct order_event *e, struct ev *v, uint32_t id)
{
	v->cond = e->object;
	switch (e->kind) {
	case ORDER_WAIT:
		v->cond_part = COND_WAIT;
		lower_release(lo, v, id, e->mutex);
		break;
	case ORDER_WAKE:
		v->cond_part = COND_WAKE;
		lower_acquire(lo, v, id, e->mutex);
		break;
	case ORDER_WAKE_TIMEOUT:
		v->cond = NONE;
		lower_acquire(lo, v, id, e->mutex);
		break;
	default:
		v->cond_part = e->kind == ORDER_SIGNAL ? COND_SIGNAL : COND_BROADCAST;
		break;
	}
}

static void lower_event(struct lowering *lo, uint32_t model, uint32_t id)
{
	struct problem *p = lo->p;
	const struct order_event *e = &lo->m->events.data[model];
	struct ev *v = &p->ev[id];
	uint32_t child = e->object;

	*v = (struct ev){ .thread = e->thread,
			  .index = e->index,
			  .model = model,
			  .cell = NONE,
			  .symbol = NONE,
			  .value = TERM_NONE,
			  .opens = NONE,
			  .closes = NONE,
			  .cond = NONE };
	switch (order_kind_object((enum order_kind)e->kind)) {
	case ORDER_OBJECT_CELL:
		v->cell = lo->cell[e->object];
		v->symbol = e->symbol;
		v->value = e->value;
		if (v->symbol != NONE)
			p->reader[v->symbol] = id;
		break;
	case ORDER_OBJECT_MUTEX:
	case ORDER_OBJECT_RWLOCK:
		lower_locks(lo, e, v, id);
		break;
	case ORDER_OBJECT_SEM:
	case ORDER_OBJECT_BARRIER:
		lower_counters(lo, e, v, id);
		break;
	case ORDER_OBJECT_COND:
		lower_cond(lo, e, v, id);
		break;
	case ORDER_OBJECT_THREAD:
		if (p->first[child] == p->first[child + 1])
			break;
		if (e->kind == ORDER_FORK)
			vec_push(&p->edges, (struct edge){ id, p->first[child] });
		else
			vec_push(&p->edges, (struct edge){ p->first[child + 1] - 1, id });
		break;
	case ORDER_OBJECT_NONE:
		break;
	}
}

static void lower_events(struct lowering *lo)
{
	struct problem *p = lo->p;
	const struct order_model *m = lo->m;

	for (uint32_t t = 0; t < p->nt; t++)
		p->first[t + 1] = p->first[t] + (uint32_t)m->threads.data[t].len;
	for (uint32_t t = 0; t < p->nt; t++) {
		lo->shared.len = 0;
		for (size_t i = 0; i < m->objects.len; i++)
			lo->open[i] = (struct open_lock){ NONE, 0 };
		for (uint32_t i = 0; i < m->threads.data[t].len; i++) {
			uint32_t model = m->threads.data[t].data[i];
			p->of_model[model] = p->first[t] + i;
			lower_event(lo, model, p->first[t] + i);
		}
	}
}

static void take_conditions(struct lowering *lo, enum order_want want)
{
	struct problem *p = lo->p;
	const struct order_model *m = lo->m;
	term_id failure = m->failure;

	for (size_t i = 0; i < m->conditions.len; i++)
		require(lo, m->conditions.data[i]);
	if (want == ORDER_ANY)
		return;
	if (failure == TERM_NONE)
		failure = term_const(&p->terms, 1, 1);
	if (want == ORDER_PASS)
		failure = term_not(&p->terms, failure);
	require(lo, failure);
	vec_last(&p->conditions)->outcome = true;
}

void lower_model(struct problem *p, enum order_want want)
{
	struct lowering lo = { .p = p, .m = p->m };
	size_t no = p->m->objects.len;

	lo.cell = xcalloc(no + 1, sizeof(*lo.cell));
	lo.open = xcalloc(no + 1, sizeof(*lo.open));
	for (size_t i = 0; i < no; i++)
		lo.cell[i] = NONE;
	make_cells(&lo);
	lower_events(&lo);
	p->nlocks = (uint32_t)no;
	take_conditions(&lo, want);
	free(lo.cell);
	free(lo.open);
	vec_deinit(&lo.shared);
}
