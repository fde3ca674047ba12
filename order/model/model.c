/* order/model/model.c - building an order model and finding out whether it makes sense. */
#include "order/order.h"

#include "base/err.h"
#include "base/strbuf.h"

#include <inttypes.h>

static const struct {
	const char *name;
	enum order_object_kind object;
} kinds[] = {
#define ORDER_KIND(id, name, object) [ORDER_##id] = { name, ORDER_OBJECT_##object },
#include "order/model/kinds.def"
#undef ORDER_KIND
};

const char *order_kind_name(enum order_kind kind)
{
	return kinds[kind].name;
}

enum order_object_kind order_kind_object(enum order_kind kind)
{
	return kinds[kind].object;
}

struct order_model *order_model_new(void)
{
	struct order_model *m = xcalloc(1, sizeof(*m));

	m->failure = TERM_NONE;
	m->failure_event = ORDER_NONE;
	return m;
}

void order_model_free(struct order_model *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->objects.len; i++)
		free(m->objects.data[i].name);
	for (size_t i = 0; i < m->threads.len; i++) {
		free(m->threads.data[i].name);
		vec_deinit(&m->threads.data[i]);
	}
	vec_deinit(&m->objects);
	vec_deinit(&m->threads);
	vec_deinit(&m->events);
	vec_deinit(&m->symbols);
	vec_deinit(&m->conditions);
	vec_deinit(&m->places);
	terms_deinit(&m->terms);
	free(m);
}

void order_model_freep(struct order_model **m)
{
	order_model_free(*m);
}

uint32_t order_object(struct order_model *m, enum order_object_kind kind, const char *name,
		      unsigned width, uint64_t initial)
{
	if (kind != ORDER_OBJECT_CELL)
		width = 64;
	vec_push(&m->objects, (struct order_object){ .kind = (uint8_t)kind,
						     .width = (uint8_t)width,
						     .initial = initial & term_mask(width),
						     .name = xstrdup(name) });
	return (uint32_t)m->objects.len - 1;
}

uint32_t order_thread(struct order_model *m, const char *name)
{
	vec_push(&m->threads, (struct order_thread){ .name = xstrdup(name) });
	return (uint32_t)m->threads.len - 1;
}

static uint32_t new_symbol(struct order_model *m, unsigned width, uint32_t event, uint64_t hint)
{
	vec_push(&m->symbols, (struct order_symbol){ .width = (uint8_t)width,
						     .event = event,
						     .hint = hint & term_mask(width) });
	return (uint32_t)m->symbols.len - 1;
}

uint32_t order_event(struct order_model *m, uint32_t thread, enum order_kind kind, uint32_t object)
{
	uint32_t id = (uint32_t)m->events.len;
	struct order_thread *t = &m->threads.data[thread];
	struct order_event e = { .kind = (uint8_t)kind,
				 .thread = thread,
				 .index = (uint32_t)t->len,
				 .object = object,
				 .mutex = ORDER_NONE,
				 .symbol = ORDER_NONE,
				 .value = TERM_NONE };

	if (kind == ORDER_READ || kind == ORDER_RMW)
		e.symbol = new_symbol(m, m->objects.data[object].width, id, 0);
	if (kind == ORDER_WRITE || kind == ORDER_RMW)
		e.value = term_const(&m->terms, m->objects.data[object].width, 0);
	vec_push(&m->events, e);
	vec_push(t, id);
	return id;
}

uint32_t order_write(struct order_model *m, uint32_t thread, uint32_t cell, term_id value)
{
	uint32_t e = order_event(m, thread, ORDER_WRITE, cell);

	m->events.data[e].value = value;
	return e;
}

uint32_t order_wait(struct order_model *m, uint32_t thread, enum order_kind kind, uint32_t cond,
		    uint32_t mutex)
{
	uint32_t e = order_event(m, thread, kind, cond);

	m->events.data[e].mutex = mutex;
	return e;
}

term_id order_value(struct order_model *m, uint32_t event)
{
	uint32_t s = m->events.data[event].symbol;

	return term_symbol(&m->terms, m->symbols.data[s].width, s);
}

term_id order_input(struct order_model *m, unsigned width, uint64_t hint)
{
	return term_symbol(&m->terms, width, new_symbol(m, width, ORDER_NONE, hint));
}

void order_condition_at(struct order_model *m, term_id condition, const struct order_place *at)
{
	vec_push(&m->conditions, condition);
	vec_push(&m->places, *at);
}

void order_condition(struct order_model *m, term_id condition)
{
	order_condition_at(m, condition, &(struct order_place){ .thread = ORDER_NONE });
}

void order_failure(struct order_model *m, uint32_t event, term_id condition)
{
	m->failure = condition;
	m->failure_event = event;
}

/* ---- locks held at the end ---- */

int order_lock_effect(const struct order_event *e, uint32_t *lock)
{
	*lock = e->object;
	switch (e->kind) {
	case ORDER_LOCK:
	case ORDER_RDLOCK:
	case ORDER_WRLOCK:
		return 1;
	case ORDER_UNLOCK:
	case ORDER_RWUNLOCK:
		return -1;
	case ORDER_WAIT:
		*lock = e->mutex;
		return -1;
	case ORDER_WAKE:
	case ORDER_WAKE_TIMEOUT:
		*lock = e->mutex;
		return 1;
	default:
		return 0;
	}
}

struct held VEC_FIELDS(uint32_t);

static struct held held_at_end(const struct order_model *m, uint32_t thread)
{
	const struct order_thread *t = &m->threads.data[thread];
	struct held held = { 0 };

	for (size_t i = 0; i < t->len; i++) {
		uint32_t lock;
		int effect = order_lock_effect(&m->events.data[t->data[i]], &lock);
		if (effect > 0)
			vec_push(&held, lock);
		for (size_t k = held.len; effect < 0 && k-- > 0;)
			if (held.data[k] == lock) {
				memmove(&held.data[k], &held.data[k + 1],
					(held.len - k - 1) * sizeof(lock));
				held.len--;
				break;
			}
	}
	return held;
}

bool order_thread_holds(const struct order_model *m, uint32_t thread)
{
	struct held held = held_at_end(m, thread);
	bool any = held.len;

	vec_deinit(&held);
	return any;
}

void order_close_thread(struct order_model *m, uint32_t thread)
{
	struct held held = held_at_end(m, thread);

	while (held.len) {
		uint32_t lock = vec_pop(&held);
		bool rw = m->objects.data[lock].kind == ORDER_OBJECT_RWLOCK;
		uint32_t e = order_event(m, thread, rw ? ORDER_RWUNLOCK : ORDER_UNLOCK, lock);
		m->events.data[e].synthetic = true;
	}
	vec_deinit(&held);
}

#define COPY_VEC(to, from)                                                                         \
	do {                                                                                       \
		(to)->data = (from)->len                                                           \
				     ? xmemdup((from)->data, (from)->len * sizeof(*(from)->data))  \
				     : NULL;                                                       \
		(to)->len = (to)->cap = (from)->len;                                               \
	} while (0)

struct order_model *order_model_copy(const struct order_model *m)
{
	struct order_model *c = order_model_new();

	terms_copy(&c->terms, &m->terms);
	COPY_VEC(&c->objects, &m->objects);
	COPY_VEC(&c->threads, &m->threads);
	COPY_VEC(&c->events, &m->events);
	COPY_VEC(&c->symbols, &m->symbols);
	COPY_VEC(&c->conditions, &m->conditions);
	COPY_VEC(&c->places, &m->places);
	c->failure = m->failure;
	c->failure_event = m->failure_event;
	c->stuck = m->stuck;
	for (size_t i = 0; i < c->objects.len; i++)
		c->objects.data[i].name = xstrdup(c->objects.data[i].name);
	for (size_t i = 0; i < c->threads.len; i++) {
		c->threads.data[i].name = xstrdup(c->threads.data[i].name);
		COPY_VEC(&c->threads.data[i], &m->threads.data[i]);
	}
	return c;
}

struct order_model *order_model_unblocked(const struct order_model *m)
{
	struct order_model *c = order_model_copy(m);

	for (size_t i = 0; i < c->events.len; i++) {
		struct order_event *e = &c->events.data[i];

		if (e->kind == ORDER_LOCK_BLOCKED)
			e->kind = ORDER_LOCK;
		if (e->kind == ORDER_SEM_FAILED && e->aside)
			e->kind = ORDER_SEM_WAIT;
	}
	for (uint32_t t = 0; t < c->threads.len; t++) {
		const struct order_thread *x = &c->threads.data[t];
		struct order_event e = { .kind = ORDER_POINT };

		if (x->len)
			e = c->events.data[x->data[x->len - 1]];
		if (e.kind == ORDER_WAIT)
			order_wait(c, t, ORDER_WAKE, e.object, e.mutex);
		order_close_thread(c, t);
	}
	c->conditions.len -= c->stuck;
	c->places.len = c->conditions.len;
	c->stuck = 0;
	return c;
}

/* ---- well-formedness ---- */

static struct err *bad(const struct order_model *m, uint32_t event, const char *what)
{
	struct strbuf sb = { 0 };
	struct err *err;

	order_event_print(m, event, &sb);
	err = err_new(ERR_ENV, "order model: %s: %s", strbuf_str(&sb), what);
	strbuf_deinit(&sb);
	return err;
}

static struct err *check_event(const struct order_model *m, uint32_t id)
{
	const struct order_event *e = &m->events.data[id];
	enum order_object_kind want = kinds[e->kind].object;
	bool waits =
		e->kind == ORDER_WAIT || e->kind == ORDER_WAKE || e->kind == ORDER_WAKE_TIMEOUT;

	if (want == ORDER_OBJECT_THREAD) {
		if (e->object >= m->threads.len || e->object == e->thread)
			return bad(m, id, "names no other thread");
	} else if (want != ORDER_OBJECT_NONE) {
		if (e->object >= m->objects.len || m->objects.data[e->object].kind != want)
			return bad(m, id, "the object is of another kind");
	}
	if (waits &&
	    (e->mutex >= m->objects.len || m->objects.data[e->mutex].kind != ORDER_OBJECT_MUTEX))
		return bad(m, id, "waits without a mutex");
	if (e->value != TERM_NONE &&
	    term_get(&m->terms, e->value)->width != m->objects.data[e->object].width)
		return bad(m, id, "writes a value of another width");
	if (e->kind == ORDER_LOCK_BLOCKED && e->index + 1 != m->threads.data[e->thread].len)
		return bad(m, id, "something follows a blocked lock");
	return NULL;
}

/* Every unlock has its lock; a wake follows its wait. */
static struct err *check_thread(const struct order_model *m, uint32_t thread, uint32_t *held)
{
	const struct order_thread *t = &m->threads.data[thread];
	struct err *err = NULL;

	for (size_t i = 0; i < t->len && !err; i++) {
		const struct order_event *e = &m->events.data[t->data[i]];
		const struct order_event *before = i ? &m->events.data[t->data[i - 1]] : NULL;
		uint32_t lock;
		int effect = order_lock_effect(e, &lock);

		if (effect < 0 && !held[lock])
			err = bad(m, t->data[i], "releases a lock the thread does not hold");
		else if ((e->kind == ORDER_WAKE || e->kind == ORDER_WAKE_TIMEOUT) &&
			 !(before && before->kind == ORDER_WAIT && before->object == e->object &&
			   before->mutex == e->mutex))
			err = bad(m, t->data[i], "wakes without a wait right before it");
		else if (e->kind == ORDER_BARRIER_LEAVE &&
			 !(before && before->kind == ORDER_BARRIER_ENTER &&
			   before->object == e->object))
			err = bad(m, t->data[i], "leaves a barrier it did not just enter");
		else if (effect)
			held[lock] += (uint32_t)effect;
	}
	for (size_t i = 0; i < t->len; i++) {
		uint32_t lock;
		if (order_lock_effect(&m->events.data[t->data[i]], &lock))
			held[lock] = 0;
	}
	return err;
}

struct err *order_model_check(const struct order_model *m)
{
	struct err *err = NULL;

	for (uint32_t i = 0; i < m->events.len && !err; i++)
		err = check_event(m, i);
	if (err)
		return err;
	uint32_t *held = xcalloc(m->objects.len + 1, sizeof(*held));
	for (uint32_t t = 0; t < m->threads.len && !err; t++)
		err = check_thread(m, t, held);
	free(held);
	for (size_t i = 0; i < m->conditions.len && !err; i++)
		if (m->conditions.data[i] >= m->terms.len ||
		    term_get(&m->terms, m->conditions.data[i])->width != 1)
			err = err_new(ERR_ENV, "order model: condition %zu is not one bit wide", i);
	if (!err && m->failure != TERM_NONE && term_get(&m->terms, m->failure)->width != 1)
		err = err_new(ERR_ENV, "order model: the failure condition is not one bit wide");
	return err;
}

void order_event_print(const struct order_model *m, uint32_t event, struct strbuf *out)
{
	const struct order_event *e = &m->events.data[event];
	enum order_object_kind kind = kinds[e->kind].object;

	strbuf_addf(out, "T%s #%" PRIu32 " %s", m->threads.data[e->thread].name, e->index,
		    kinds[e->kind].name);
	if (kind == ORDER_OBJECT_THREAD && e->object < m->threads.len)
		strbuf_addf(out, " T%s", m->threads.data[e->object].name);
	else if (kind != ORDER_OBJECT_NONE && e->object < m->objects.len)
		strbuf_addf(out, " %s", m->objects.data[e->object].name);
	if (e->synthetic)
		strbuf_adds(out, " (synthetic)");
}

size_t order_count_switches(const struct order_model *m, const uint32_t *order, size_t len)
{
	size_t n = 0;

	for (size_t i = 1; i < len; i++)
		n += m->events.data[order[i]].thread != m->events.data[order[i - 1]].thread;
	return n;
}

void order_answer_deinit(struct order_answer *a)
{
	free(a->order);
	free(a->values);
	*a = (struct order_answer){ 0 };
}

void order_core_deinit(struct order_core *core)
{
	vec_deinit(&core->edges);
	*core = (struct order_core){ 0 };
}

void order_alternates_deinit(struct order_alternates *a)
{
	for (size_t i = 0; i < a->found.len; i++)
		free(a->found.data[i].order);
	vec_deinit(&a->found);
}
