/* order/model/validate.c - the referee: is this total order a run of the model?
 *
 * One walk over the order with the plain meaning of every event: memory is an array, a mutex has an
 * owner, a semaphore a count. Nothing here knows how the order was found.
 *
 * Condition variables: every wake needs a signal of its own, or a broadcast, between its wait and
 * itself. Which waiter a signal wakes is the implementation's choice, so an order is a run when
 * some choice works; serving the waiter that wakes first is as good as any (earliest deadline
 * first). A signal may always go to a waiter that never woke in the recording, so it may also be
 * lost.
 *
 * A lock attempt that failed (try or timed) needs somebody to hold the lock at that moment. */
#include "order/order.h"

#include "base/strbuf.h"
#include "order/model/eval.h"

struct state {
	const struct order_model *m;
	struct eval ev;
	uint64_t *cell;	       /* data: value; sem: count; barrier: entered; rwlock: readers */
	uint32_t *owner;       /* mutex, rwlock writer; ORDER_NONE */
	uint32_t *depth;       /* of a recursive mutex */
	uint32_t *next;	       /* per thread: index of the next event */
	uint64_t *entered;     /* per thread: its place in the barrier it entered */
	uint32_t *position;    /* by event */
	bool *served;	       /* by event: this wake has its signal */
	VEC(uint32_t) waiting; /* wakes whose wait happened */
	bool prefix;	       /* not all events are there */
	bool *unborn;	       /* per thread: its fork has not happened yet */
	bool *joined;	       /* per thread: somebody has waited for its end */
	struct strbuf *why;
};

static bool no(struct state *s, uint32_t event, const char *what)
{
	if (s->why) {
		order_event_print(s->m, event, s->why);
		strbuf_addf(s->why, ": %s", what);
	}
	return false;
}

static bool acquire(struct state *s, uint32_t id, uint32_t lock)
{
	uint32_t thread = s->m->events.data[id].thread;

	if (s->owner[lock] != ORDER_NONE && s->owner[lock] != thread)
		return no(s, id, "another thread holds the lock");
	s->owner[lock] = thread;
	s->depth[lock]++;
	return true;
}

static bool release(struct state *s, uint32_t id, uint32_t lock)
{
	if (s->owner[lock] != s->m->events.data[id].thread)
		return no(s, id, "does not hold the lock");
	if (!--s->depth[lock])
		s->owner[lock] = ORDER_NONE;
	return true;
}

static bool rwlock_event(struct state *s, uint32_t id)
{
	const struct order_event *e = &s->m->events.data[id];
	uint32_t l = e->object;

	switch (e->kind) {
	case ORDER_RDLOCK:
		if (s->owner[l] != ORDER_NONE)
			return no(s, id, "a writer holds the lock");
		s->cell[l]++;
		return true;
	case ORDER_WRLOCK:
		if (s->owner[l] != ORDER_NONE || s->cell[l])
			return no(s, id, "the lock is held");
		s->owner[l] = e->thread;
		return true;
	case ORDER_RWUNLOCK:
		if (s->owner[l] == e->thread)
			s->owner[l] = ORDER_NONE;
		else if (s->cell[l])
			s->cell[l]--;
		else
			return no(s, id, "does not hold the lock");
		return true;
	case ORDER_RDLOCK_FAILED:
		return s->owner[l] != ORDER_NONE || no(s, id, "no writer holds the lock");
	default: /* ORDER_WRLOCK_FAILED */
		return s->owner[l] != ORDER_NONE || s->cell[l] || no(s, id, "the lock is free");
	}
}

/* The wake that belongs to a wait, ORDER_NONE when it timed out or never came. */
static uint32_t wake_of(const struct order_model *m, const struct order_event *e)
{
	const struct order_thread *t = &m->threads.data[e->thread];

	if (e->index + 1 >= t->len || m->events.data[t->data[e->index + 1]].kind != ORDER_WAKE)
		return ORDER_NONE;
	return t->data[e->index + 1];
}

static void serve(struct state *s, uint32_t cond, bool all)
{
	size_t best = SIZE_MAX, kept = 0;

	for (size_t i = 0; i < s->waiting.len; i++) {
		uint32_t w = s->waiting.data[i];
		if (s->m->events.data[w].object == cond &&
		    (best == SIZE_MAX || s->position[w] < s->position[s->waiting.data[best]]))
			best = i;
	}
	for (size_t i = 0; i < s->waiting.len; i++) {
		uint32_t w = s->waiting.data[i];
		if (i == best || (all && s->m->events.data[w].object == cond))
			s->served[w] = true;
		else
			s->waiting.data[kept++] = w;
	}
	s->waiting.len = kept;
}

static bool cond_event(struct state *s, uint32_t id)
{
	const struct order_event *e = &s->m->events.data[id];

	switch (e->kind) {
	case ORDER_WAIT: {
		uint32_t wake = wake_of(s->m, e);
		if (wake != ORDER_NONE)
			vec_push(&s->waiting, wake);
		return release(s, id, e->mutex);
	}
	case ORDER_WAKE:
		if (!s->served[id])
			return no(s, id, "nobody signalled");
		return acquire(s, id, e->mutex);
	case ORDER_WAKE_TIMEOUT:
		return acquire(s, id, e->mutex);
	default:
		serve(s, e->object, e->kind == ORDER_BROADCAST);
		return true;
	}
}

static bool memory_event(struct state *s, uint32_t id)
{
	const struct order_event *e = &s->m->events.data[id];

	if (e->symbol != ORDER_NONE)
		eval_set(&s->ev, e->symbol, s->cell[e->object]);
	if (e->value != TERM_NONE && !eval_get(&s->ev, e->value, &s->cell[e->object]))
		return no(s, id, "writes something that was not read yet");
	return true;
}

static bool semaphore_event(struct state *s, uint32_t id)
{
	const struct order_event *e = &s->m->events.data[id];
	uint64_t *count = &s->cell[e->object];

	switch (e->kind) {
	case ORDER_SEM_POST:
		++*count;
		return true;
	case ORDER_SEM_WAIT:
		return (*count)-- > 0 || no(s, id, "the semaphore is zero");
	default: /* ORDER_SEM_FAILED */
		return !*count || no(s, id, "the semaphore is not zero");
	}
}

/* A prefix has no synthetic events: a thread that holds a lock at its end holds it for ever. */
static bool has_ended(const struct state *s, uint32_t thread)
{
	const struct order_thread *t = &s->m->threads.data[thread];

	return s->next[thread] == t->len ||
	       (s->prefix && s->m->events.data[t->data[s->next[thread]]].synthetic);
}

static bool thread_event(struct state *s, uint32_t id)
{
	const struct order_event *e = &s->m->events.data[id];

	if (e->kind == ORDER_JOIN && !has_ended(s, e->object))
		return no(s, id, "the thread has not ended");
	if (e->kind == ORDER_JOIN)
		s->joined[e->object] = true;
	if (e->kind == ORDER_FORK)
		s->unborn[e->object] = false;
	return true;
}

static bool step(struct state *s, uint32_t id)
{
	const struct order_event *e = &s->m->events.data[id];
	uint64_t n;

	switch (order_kind_object((enum order_kind)e->kind)) {
	case ORDER_OBJECT_CELL:
		return memory_event(s, id);
	case ORDER_OBJECT_MUTEX:
		if (e->kind == ORDER_LOCK)
			return acquire(s, id, e->object);
		if (e->kind == ORDER_UNLOCK)
			return release(s, id, e->object);
		return e->kind == ORDER_LOCK_BLOCKED || s->owner[e->object] != ORDER_NONE ||
		       no(s, id, "the lock is free");
	case ORDER_OBJECT_RWLOCK:
		return rwlock_event(s, id);
	case ORDER_OBJECT_SEM:
		return semaphore_event(s, id);
	case ORDER_OBJECT_BARRIER:
		n = s->m->objects.data[e->object].initial;
		if (e->kind == ORDER_BARRIER_ENTER) {
			s->entered[e->thread] = s->cell[e->object]++;
			return true;
		}
		return s->cell[e->object] >= (s->entered[e->thread] / n + 1) * n ||
		       no(s, id, "the others have not arrived");
	case ORDER_OBJECT_COND:
		return cond_event(s, id);
	case ORDER_OBJECT_THREAD:
		return thread_event(s, id);
	case ORDER_OBJECT_NONE:
		break;
	}
	return true;
}

static bool conditions(struct state *s, enum order_want want)
{
	const struct order_model *m = s->m;
	uint64_t v;

	for (size_t i = 0; i < m->conditions.len; i++) {
		const struct order_place *p = &m->places.data[i];

		if (s->prefix && p->thread != ORDER_NONE && s->next[p->thread] <= p->index &&
		    !s->joined[p->thread])
			continue; /* it has not decided yet */
		if (!eval_get(&s->ev, m->conditions.data[i], &v) || !v) {
			if (s->why)
				strbuf_addf(s->why, "path condition %zu does not hold", i);
			return false;
		}
	}
	if (want == ORDER_ANY)
		return true;
	bool fails = true;
	if (m->failure != TERM_NONE)
		fails = eval_get(&s->ev, m->failure, &v) && v;
	if (fails == (want == ORDER_FAIL))
		return true;
	if (s->why)
		strbuf_adds(s->why, fails ? "the run fails" : "the run does not fail");
	return false;
}

static bool walk(struct state *s, const uint32_t *order, size_t len)
{
	const struct order_model *m = s->m;

	if (len != m->events.len && !s->prefix) {
		if (s->why)
			strbuf_addf(s->why, "%zu events instead of %zu", len, m->events.len);
		return false;
	}
	for (size_t i = 0; i < m->events.len; i++) {
		s->position[i] = UINT32_MAX;
		if (m->events.data[i].kind == ORDER_FORK)
			s->unborn[m->events.data[i].object] = true;
	}
	for (size_t i = 0; i < len; i++)
		s->position[order[i]] = (uint32_t)i;
	for (size_t i = 0; i < len; i++) {
		const struct order_event *e = &m->events.data[order[i]];
		if (e->index != s->next[e->thread])
			return no(s, order[i], "out of program order");
		if (s->unborn[e->thread])
			return no(s, order[i], "the thread ran before it was created");
		if (!step(s, order[i]))
			return false;
		s->next[e->thread]++;
	}
	return true;
}

static bool validate(const struct order_model *m, enum order_want want, bool prefix,
		     const uint32_t *order, size_t len, uint64_t *values, struct strbuf *why)
{
	struct state s = { .m = m, .prefix = prefix, .why = why };
	size_t no = m->objects.len + 1, ne = m->events.len + 1, nt = m->threads.len + 1;
	bool ok;

	s.cell = xcalloc(no, sizeof(*s.cell));
	s.owner = xcalloc(no, sizeof(*s.owner));
	s.depth = xcalloc(no, sizeof(*s.depth));
	s.next = xcalloc(nt, sizeof(*s.next));
	s.entered = xcalloc(nt, sizeof(*s.entered));
	s.unborn = xcalloc(nt, sizeof(*s.unborn));
	s.joined = xcalloc(nt, sizeof(*s.joined));
	s.position = xcalloc(ne, sizeof(*s.position));
	s.served = xcalloc(ne, sizeof(*s.served));
	eval_init(&s.ev, &m->terms, m->symbols.len);
	for (size_t i = 0; i < m->objects.len; i++) {
		uint8_t kind = m->objects.data[i].kind;
		s.owner[i] = ORDER_NONE;
		if (kind == ORDER_OBJECT_CELL || kind == ORDER_OBJECT_SEM)
			s.cell[i] = m->objects.data[i].initial;
	}
	for (uint32_t i = 0; i < m->symbols.len; i++)
		if (m->symbols.data[i].event == ORDER_NONE)
			eval_set(&s.ev, i, values ? values[i] : m->symbols.data[i].hint);
	ok = walk(&s, order, len) && conditions(&s, want);
	if (ok && values)
		memcpy(values, s.ev.symbol, m->symbols.len * sizeof(*values));
	free(s.cell);
	free(s.owner);
	free(s.depth);
	free(s.next);
	free(s.entered);
	free(s.unborn);
	free(s.joined);
	free(s.position);
	free(s.served);
	vec_deinit(&s.waiting);
	eval_deinit(&s.ev);
	return ok;
}

bool order_validate(const struct order_model *m, enum order_want want, const uint32_t *order,
		    size_t len, uint64_t *values, struct strbuf *why)
{
	return validate(m, want, false, order, len, values, why);
}

bool order_validate_prefix(const struct order_model *m, const uint32_t *order, size_t len,
			   uint64_t *values, struct strbuf *why)
{
	return validate(m, ORDER_ANY, true, order, len, values, why);
}
