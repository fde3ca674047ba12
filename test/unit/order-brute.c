/* test/unit/order-brute.c - the slow and certain way to know which interleavings exist. */
#include "order-brute.h"

static uint64_t rnd(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s >> 11;
}

struct maker {
	struct order_model *m;
	uint64_t random;
	uint32_t cell[3], mutex[2], rwlock, sem, barrier, cond;
	uint32_t reads[64], nreads;
};

static uint32_t pick(struct maker *k, uint32_t n)
{
	return (uint32_t)(rnd(&k->random) % n);
}

static term_id number(struct maker *k, uint64_t v)
{
	return term_const(&k->m->terms, 8, v);
}

/* A value out of what this thread read: a constant, a read plus a constant, or worse. */
static term_id some_value(struct maker *k, uint32_t first)
{
	struct terms *ts = &k->m->terms;

	if (k->nreads == first || pick(k, 3) == 0)
		return number(k, pick(k, 3));
	term_id r = order_value(k->m, k->reads[first + pick(k, k->nreads - first)]);
	term_id q = order_value(k->m, k->reads[first + pick(k, k->nreads - first)]);
	switch (pick(k, 6)) {
	case 0:
		return term_binary(ts, TERM_ADD, r, q);
	case 1:
		return term_ite(ts, term_binary(ts, TERM_EQ, r, number(k, 1)), q, number(k, 2));
	default:
		return term_binary(ts, TERM_ADD, r, number(k, pick(k, 3)));
	}
}

static term_id some_condition(struct maker *k, uint32_t first)
{
	static const enum term_op ops[] = { TERM_EQ, TERM_NE, TERM_SLT, TERM_ULE, TERM_NE };
	enum term_op op = ops[pick(k, 5)];

	return term_binary(&k->m->terms, op, some_value(k, first), some_value(k, first));
}

/* The thread decides something about what it has read so far. */
static void decide(struct maker *k, uint32_t t, uint32_t first)
{
	struct order_place at = { .thread = t,
				  .index = (uint32_t)k->m->threads.data[t].len,
				  .nth = (uint32_t)k->m->conditions.len };

	order_condition_at(k->m, some_condition(k, first), &at);
}

static void access_cell(struct maker *k, uint32_t t, uint32_t first)
{
	uint32_t c = k->cell[pick(k, 3)], e;

	switch (pick(k, 5)) {
	case 0:
	case 1:
		order_write(k->m, t, c, some_value(k, first));
		return;
	case 2:
		e = order_event(k->m, t, ORDER_RMW, c);
		k->reads[k->nreads++] = e;
		k->m->events.data[e].value =
			term_binary(&k->m->terms, TERM_ADD, order_value(k->m, e), number(k, 1));
		break;
	default:
		k->reads[k->nreads++] = order_event(k->m, t, ORDER_READ, c);
	}
	if (pick(k, 3) == 0)
		decide(k, t, first);
}

static void lock_something(struct maker *k, uint32_t t, uint32_t first)
{
	uint32_t l = k->mutex[pick(k, 2)];

	switch (pick(k, 8)) {
	case 0:
		order_event(k->m, t, pick(k, 2) ? ORDER_RDLOCK : ORDER_WRLOCK, k->rwlock);
		access_cell(k, t, first);
		order_event(k->m, t, ORDER_RWUNLOCK, k->rwlock);
		break;
	case 1:
		order_event(k->m, t, ORDER_RDLOCK, k->rwlock);
		access_cell(k, t, first);
		order_event(k->m, t, ORDER_RWUNLOCK, k->rwlock);
		break;
	case 2:
		order_event(k->m, t, pick(k, 2) ? ORDER_LOCK_FAILED : ORDER_WRLOCK_FAILED,
			    0); /* object set below */
		k->m->events.data[k->m->events.len - 1].object =
			k->m->events.data[k->m->events.len - 1].kind == ORDER_LOCK_FAILED
				? l
				: k->rwlock;
		break;
	case 3:
		order_event(k->m, t, ORDER_LOCK, l);
		order_wait(k->m, t, ORDER_WAIT, k->cond, l);
		order_wait(k->m, t, pick(k, 5) ? ORDER_WAKE : ORDER_WAKE_TIMEOUT, k->cond, l);
		order_event(k->m, t, ORDER_UNLOCK, l);
		break;
	default:
		order_event(k->m, t, ORDER_LOCK, l);
		access_cell(k, t, first);
		if (pick(k, 2))
			access_cell(k, t, first);
		if (pick(k, 6))
			order_event(k->m, t, ORDER_UNLOCK, l);
		break;
	}
}

static bool holds_a_lock(const struct order_model *m, uint32_t t)
{
	int held = 0;

	for (size_t i = 0; i < m->threads.data[t].len; i++) {
		uint8_t kind = m->events.data[m->threads.data[t].data[i]].kind;
		held += kind == ORDER_LOCK;
		held -= kind == ORDER_UNLOCK;
	}
	return held > 0;
}

static void make_thread(struct maker *k, uint32_t t, uint32_t most)
{
	uint32_t first = k->nreads;

	while (k->m->threads.data[t].len < most) {
		switch (pick(k, 12)) {
		case 0:
		case 1:
		case 2:
			if (!holds_a_lock(k->m, t)) {
				lock_something(k, t, first);
				break;
			}
			/* fallthrough */
		default:
			access_cell(k, t, first);
			break;
		case 3:
			order_event(k->m, t, pick(k, 4) ? ORDER_SIGNAL : ORDER_BROADCAST, k->cond);
			break;
		case 4:
			order_event(k->m, t,
				    (enum order_kind[]){ ORDER_SEM_POST, ORDER_SEM_WAIT,
							 ORDER_SEM_POST,
							 ORDER_SEM_FAILED }[pick(k, 4)],
				    k->sem);
			break;
		case 5:
			if (pick(k, 3))
				break;
			order_event(k->m, t, ORDER_BARRIER_ENTER, k->barrier);
			order_event(k->m, t, ORDER_BARRIER_LEAVE, k->barrier);
			break;
		}
	}
}

/* A decision about the thread's result: about what it read, from `first` on. */
static void join(struct maker *k, uint32_t child, uint32_t first)
{
	order_event(k->m, 0, ORDER_JOIN, child);
	if (pick(k, 2))
		decide(k, 0, first);
}

/* How many interleavings? (a + b + ...)! / (a! b! ...) */
static double interleavings(const struct order_model *m)
{
	double n = 1, done = 0;

	for (size_t t = 0; t < m->threads.len; t++)
		for (size_t i = 1; i <= m->threads.data[t].len; i++)
			n *= ++done / (double)i;
	return n;
}

static struct order_model *try_model(uint64_t seed)
{
	struct order_model *m = order_model_new();
	struct maker k = { .m = m, .random = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15) };
	uint32_t threads, most, last = 0;

	for (int i = 0; i < 8; i++)
		rnd(&k.random);
	for (int i = 0; i < 3; i++)
		k.cell[i] = order_object(m, ORDER_OBJECT_CELL, "cell", 8, pick(&k, 2));
	for (int i = 0; i < 2; i++)
		k.mutex[i] = order_object(m, ORDER_OBJECT_MUTEX, "mutex", 0, 0);
	k.rwlock = order_object(m, ORDER_OBJECT_RWLOCK, "rwlock", 0, 0);
	k.sem = order_object(m, ORDER_OBJECT_SEM, "sem", 0, pick(&k, 2));
	k.barrier = order_object(m, ORDER_OBJECT_BARRIER, "barrier", 0, 2);
	k.cond = order_object(m, ORDER_OBJECT_COND, "cond", 0, 0);
	threads = 2 + pick(&k, 2);
	most = threads == 2 ? 5 : 3;
	for (uint32_t t = 0; t < threads; t++)
		order_thread(m, (const char *[]){ "0", "1", "2" }[t]);
	if (pick(&k, 3) == 0)
		order_event(m, 0, ORDER_FORK, 1);
	for (uint32_t t = 0; t < threads; t++) {
		last = k.nreads;
		make_thread(&k, t, most);
	}
	if (pick(&k, 4) == 0)
		join(&k, threads - 1, last);
	if (k.nreads)
		order_failure(m, k.reads[k.nreads - 1], some_condition(&k, 0));
	return m;
}

struct order_model *brute_model(uint64_t seed)
{
	for (;; seed += UINT64_C(1) << 32) {
		struct order_model *m = try_model(seed);
		if (interleavings(m) <= 2000)
			return m;
		order_model_free(m);
	}
}

struct enumeration {
	const struct order_model *m;
	bool (*fn)(void *ctx, const uint32_t *order);
	void *ctx;
	uint32_t order[64], next[8], len;
};

static bool enumerate(struct enumeration *x)
{
	if (x->len == x->m->events.len)
		return x->fn(x->ctx, x->order);
	for (uint32_t t = 0; t < x->m->threads.len; t++) {
		const struct order_thread *th = &x->m->threads.data[t];
		if (x->next[t] == th->len)
			continue;
		x->order[x->len++] = th->data[x->next[t]++];
		if (enumerate(x))
			return true;
		x->len--;
		x->next[t]--;
	}
	return false;
}

bool brute_each(const struct order_model *m, bool (*fn)(void *ctx, const uint32_t *order),
		void *ctx)
{
	struct enumeration x = { .m = m, .fn = fn, .ctx = ctx };

	assert(m->events.len <= 64 && m->threads.len <= 8);
	return enumerate(&x);
}

struct wanted {
	const struct order_model *m;
	enum order_want want;
};

static bool has_outcome(void *ctx, const uint32_t *order)
{
	struct wanted *w = ctx;

	return order_validate(w->m, w->want, order, w->m->events.len, NULL, NULL);
}

bool brute_exists(const struct order_model *m, enum order_want want)
{
	struct wanted w = { m, want };

	return brute_each(m, has_outcome, &w);
}

struct prefixes {
	const struct order_model *m;
	bool (*fn)(void *ctx, const uint32_t *order, size_t len);
	void *ctx;
	uint32_t order[64], next[8];
	size_t len;
};

/* Whatever begins with something that is no prefix is none. */
static bool enumerate_prefixes(struct prefixes *x)
{
	if (!order_validate_prefix(x->m, x->order, x->len, NULL, NULL))
		return false;
	if (x->fn(x->ctx, x->order, x->len))
		return true;
	for (uint32_t t = 0; t < x->m->threads.len; t++) {
		const struct order_thread *th = &x->m->threads.data[t];

		if (x->next[t] == th->len)
			continue;
		x->order[x->len++] = th->data[x->next[t]++];
		if (enumerate_prefixes(x))
			return true;
		x->len--;
		x->next[t]--;
	}
	return false;
}

bool brute_each_prefix(const struct order_model *m,
		       bool (*fn)(void *ctx, const uint32_t *order, size_t len), void *ctx)
{
	struct prefixes x = { .m = m, .fn = fn, .ctx = ctx };

	assert(m->events.len <= 64 && m->threads.len <= 8);
	return enumerate_prefixes(&x);
}
