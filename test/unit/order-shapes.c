/* test/unit/order-shapes.c - the simulator and its programs; see order-shapes.h.
 *
 * Threads are coroutines (ucontext). A program calls rd, wr, lk, ul ...; each may switch threads
 * before it happens. br() takes a branch and records its path condition. Before the run is "armed"
 * (enough accesses), hidden locks that leave no trace keep the programs from failing early. */
#include "order-shapes.h"

#include <stdio.h>
#include <ucontext.h>

#define WIDTH	    32
#define MAX_THREADS 64
#define MAX_LOCKS   16
#define STACK	    (1 << 16)

struct sv { /* a value and the term it came from; TERM_NONE: concrete */
	term_id x;
	int64_t v;
};

enum { FREE, ON_LOCK, ON_JOIN, ON_COND, ON_HIDDEN };

struct coroutine {
	ucontext_t context;
	void (*body)(long);
	long arg;
	char *stack;
	int blocked;
	unsigned on;
	bool done, woken;
	uint32_t thread;
};

struct sim {
	struct order_model *m;
	struct coroutine co[MAX_THREADS];
	unsigned nco, current, nthreads;
	ucontext_t scheduler;
	uint64_t random;
	size_t accesses, target, most;
	bool armed, failed, cured;
	VEC(int64_t) mem; /* by cell number of the program */
	VEC(uint32_t) cells;
	int owner[MAX_LOCKS], hidden[MAX_LOCKS];
	uint32_t lock[MAX_LOCKS], cond[MAX_LOCKS];
	unsigned waiting[MAX_LOCKS][MAX_THREADS], nwaiting[MAX_LOCKS];
};

static struct sim *S; /* the coroutines' world */

static uint64_t rnd(void)
{
	S->random ^= S->random << 13;
	S->random ^= S->random >> 7;
	S->random ^= S->random << 17;
	return S->random;
}

static unsigned rn(unsigned n)
{
	return (unsigned)((rnd() >> 11) % n);
}

static struct terms *ts(void)
{
	return &S->m->terms;
}

/* ---- values ---- */

static struct sv K(int64_t v) {
	return (struct sv){ TERM_NONE, v };
}

static term_id
term_of(struct sv a)
{
	return a.x != TERM_NONE ? a.x : term_const(ts(), WIDTH, (uint64_t)a.v);
}

static struct sv op(enum term_op o, struct sv a, struct sv b)
{
	int64_t v = o == TERM_ADD   ? a.v + b.v
		    : o == TERM_SUB ? a.v - b.v
		    : o == TERM_EQ  ? a.v == b.v
		    : o == TERM_NE  ? a.v != b.v
		    : o == TERM_SLT ? a.v < b.v
				    : a.v <= b.v;

	if (a.x == TERM_NONE && b.x == TERM_NONE)
		return K(v);
	return (struct sv){ term_binary(ts(), o, term_of(a), term_of(b)), v };
}

/* ---- scheduling ---- */

static void pause_on(int blocked, unsigned on)
{
	struct coroutine *c = &S->co[S->current];

	c->blocked = blocked;
	c->on = on;
	swapcontext(&c->context, &S->scheduler);
	c->blocked = FREE;
}

static bool enabled(const struct coroutine *c)
{
	if (c->done)
		return false;
	switch (c->blocked) {
	case ON_LOCK:
		return S->owner[c->on] < 0;
	case ON_JOIN:
		return S->co[c->on].done;
	case ON_COND:
		return c->woken;
	case ON_HIDDEN:
		return S->armed || S->hidden[c->on] < 0;
	default:
		return true;
	}
}

static uint32_t emit(enum order_kind kind, uint32_t object)
{
	if (kind == ORDER_READ || kind == ORDER_WRITE) {
		if (++S->accesses >= S->target)
			S->armed = true;
	}
	return order_event(S->m, S->co[S->current].thread, kind, object);
}

static void trampoline(void)
{
	struct coroutine *c = &S->co[S->current];

	emit(ORDER_START, 0);
	c->body(c->arg);
	emit(ORDER_EXIT, 0);
	c->done = true;
	swapcontext(&c->context, &S->scheduler);
}

static unsigned spawn(void (*body)(long), long arg)
{
	unsigned i = S->nco++;
	struct coroutine *c = &S->co[i];
	char name[16];

	assert(i < MAX_THREADS);
	snprintf(name, sizeof(name), "%u", i);
	c->body = body;
	c->arg = arg;
	c->thread = order_thread(S->m, name);
	c->stack = xmalloc(STACK);
	getcontext(&c->context);
	c->context.uc_stack.ss_sp = c->stack;
	c->context.uc_stack.ss_size = STACK;
	c->context.uc_link = &S->scheduler;
	makecontext(&c->context, trampoline, 0);
	return i;
}

static bool simulate(void)
{
	unsigned t = 0;

	while (!S->failed) {
		unsigned ready[MAX_THREADS], n = 0;
		bool stay = false;

		for (unsigned i = 0; i < S->nco; i++)
			if (enabled(&S->co[i])) {
				ready[n++] = i;
				stay |= i == t;
			}
		if (!n || S->m->events.len > S->most)
			return false;
		if (!stay || rn(100) < (S->armed ? 60 : 20))
			t = ready[rn(n)];
		S->current = t;
		swapcontext(&S->scheduler, &S->co[t].context);
	}
	return true;
}

/* ---- what programs do ---- */

static unsigned newvar(int64_t initial)
{
	char name[16];

	snprintf(name, sizeof(name), "v%zu", S->mem.len);
	vec_push(&S->cells, order_object(S->m, ORDER_OBJECT_CELL, name, WIDTH, (uint64_t)initial));
	vec_push(&S->mem, initial);
	return (unsigned)S->mem.len - 1;
}

static unsigned newvars(unsigned n, int64_t initial)
{
	unsigned first = newvar(initial);

	while (--n)
		newvar(initial);
	return first;
}

static struct sv rd(unsigned v)
{
	pause_on(FREE, 0);
	return (struct sv){ order_value(S->m, emit(ORDER_READ, S->cells.data[v])), S->mem.data[v] };
}

static void wr(unsigned v, struct sv a)
{
	pause_on(FREE, 0);
	uint32_t e = emit(ORDER_WRITE, S->cells.data[v]);
	S->m->events.data[e].value = term_of(a);
	S->mem.data[v] = a.v;
}

static void lk(unsigned l)
{
	pause_on(ON_LOCK, l);
	S->owner[l] = (int)S->current;
	emit(ORDER_LOCK, S->lock[l]);
}

static void ul(unsigned l)
{
	pause_on(FREE, 0);
	S->owner[l] = -1;
	emit(ORDER_UNLOCK, S->lock[l]);
}

static void cwait(unsigned c, unsigned l)
{
	struct coroutine *me = &S->co[S->current];

	pause_on(FREE, 0);
	S->owner[l] = -1;
	order_wait(S->m, me->thread, ORDER_WAIT, S->cond[c], S->lock[l]);
	me->woken = false;
	S->waiting[c][S->nwaiting[c]++] = S->current;
	pause_on(ON_COND, c);
	pause_on(ON_LOCK, l);
	S->owner[l] = (int)S->current;
	order_wait(S->m, me->thread, ORDER_WAKE, S->cond[c], S->lock[l]);
}

static void csignal(unsigned c)
{
	pause_on(FREE, 0);
	emit(ORDER_SIGNAL, S->cond[c]);
	if (!S->nwaiting[c])
		return;
	unsigned k = rn(S->nwaiting[c]);
	S->co[S->waiting[c][k]].woken = true;
	S->waiting[c][k] = S->waiting[c][--S->nwaiting[c]];
}

static void cbroadcast(unsigned c)
{
	pause_on(FREE, 0);
	emit(ORDER_BROADCAST, S->cond[c]);
	while (S->nwaiting[c])
		S->co[S->waiting[c][--S->nwaiting[c]]].woken = true;
}

static void hlk(unsigned l)
{
	if (S->armed)
		return;
	pause_on(ON_HIDDEN, l);
	if (!S->armed)
		S->hidden[l] = (int)S->current;
}

static void hul(unsigned l)
{
	if (S->hidden[l] == (int)S->current)
		S->hidden[l] = -1;
}

static void idle(unsigned n)
{
	while (n--)
		pause_on(FREE, 0);
}

static bool br(struct sv c)
{
	if (c.x != TERM_NONE)
		order_condition(S->m, c.v ? c.x : term_not(ts(), c.x));
	return c.v;
}

static int64_t conc(struct sv a)
{
	if (a.x != TERM_NONE)
		br(op(TERM_EQ, a, K(a.v)));
	return a.v;
}

/* The program fails when c holds. A cured program is stopped where it would, with c still the
 * question. */
static void fails_if(struct sv c)
{
	if (!c.v && !(S->cured && S->armed)) {
		br(c);
		return;
	}
	uint32_t last = (uint32_t)S->m->events.len - 1;
	order_failure(S->m, last, c.x != TERM_NONE ? c.x : term_const(ts(), 1, (uint64_t)c.v));
	S->failed = true;
	pause_on(FREE, 0);
}

static unsigned fork_thread(void (*body)(long), long arg)
{
	pause_on(FREE, 0);
	unsigned me = S->current, t = spawn(body, arg);
	S->current = me;
	emit(ORDER_FORK, S->co[t].thread);
	return t;
}

static void join_thread(unsigned t)
{
	pause_on(ON_JOIN, t);
	emit(ORDER_JOIN, S->co[t].thread);
}

/* ---- crasher: a pointer is checked in one critical section and used in the next ---- */

static unsigned ptr, payload;

static void crasher_updater(long arg)
{
	for (;; (void)arg) {
		idle(S->armed ? 30 : 0);
		hlk(0);
		lk(0);
		wr(ptr, K(0));
		ul(0);
		lk(0);
		wr(ptr, K(1 + rn(3) + 4 * (int64_t)(S->accesses & 1023)));
		ul(0);
		hul(0);
	}
}

static void crasher_reader(long arg)
{
	struct sv sum = K(0);

	for (;; (void)arg) {
		hlk(0);
		lk(0);
		if (br(op(TERM_NE, rd(ptr), K(0)))) {
			if (!S->cured) {
				ul(0);
				lk(0);
			}
			fails_if(op(TERM_EQ, rd(ptr), K(0)));
			rd(ptr);
			sum = op(TERM_ADD, sum, rd(payload));
			br(op(TERM_SLT, sum, K(1000000)));
		}
		ul(0);
		hul(0);
	}
}

static void crasher(long arg)
{
	unsigned t[MAX_THREADS], n = S->nthreads - 1;

	(void)arg;
	ptr = newvar(0);
	payload = newvar(0);
	wr(ptr, K(1));
	wr(payload, K(1));
	for (unsigned i = 0; i < n; i++)
		t[i] = fork_thread(i ? crasher_reader : crasher_updater, i);
	for (unsigned i = 0; i < n; i++)
		join_thread(t[i]);
}

/* ---- pbzip2: producer, consumers, a writer; the queue is torn down while still in use ---- */

enum { QUEUE = 6 };
static unsigned fifo, head, tail, full, empty, done_, cfg, buf, out;
static int64_t blocks;

static void pbzip2_consumer(long arg)
{
	for (;; (void)arg) {
		fails_if(op(TERM_EQ, rd(fifo), K(0)));
		br(op(TERM_SLT, K(0), rd(cfg)));
		lk(0);
		br(op(TERM_NE, rd(fifo), K(0)));
		while (br(op(TERM_NE, rd(empty), K(0)))) {
			if (br(op(TERM_EQ, rd(done_), K(1)))) {
				ul(0);
				return;
			}
			cwait(0, 0);
		}
		struct sv h = rd(head);
		struct sv item = rd(buf + (unsigned)(conc(h) % QUEUE));
		struct sv h1 = op(TERM_ADD, h, K(1));
		wr(head, h1);
		if (br(op(TERM_EQ, h1, rd(tail))))
			wr(empty, K(1));
		wr(full, K(0));
		br(op(TERM_NE, rd(cfg + 1), K(0)));
		ul(0);
		csignal(1);
		br(op(TERM_SLT, K(0), rd(cfg)));
		br(op(TERM_NE, rd(cfg + 1), K(0)));
		br(op(TERM_SLT, rd(cfg + 2), K(1000)));
		unsigned block = (unsigned)(conc(item) - 100);
		lk(1);
		wr(out + block, op(TERM_ADD, item, K(1000)));
		ul(1);
		if (S->armed)
			idle(rn(200));
	}
}

static void pbzip2_writer(long arg)
{
	(void)arg;
	for (unsigned c = 0; c < blocks;) {
		lk(1);
		bool there = br(op(TERM_NE, rd(out + c), K(0)));
		ul(1);
		if (there)
			c++;
		else
			idle(40);
	}
}

static void pbzip2_produce(int64_t b)
{
	br(op(TERM_NE, rd(fifo), K(0)));
	br(op(TERM_SLT, K(0), rd(cfg)));
	br(op(TERM_SLT, rd(cfg + 2), K(1000)));
	lk(0);
	while (br(op(TERM_NE, rd(full), K(0))))
		cwait(1, 0);
	struct sv t = rd(tail);
	wr(buf + (unsigned)(conc(t) % QUEUE), K(100 + b));
	struct sv t1 = op(TERM_ADD, t, K(1));
	wr(tail, t1);
	if (br(op(TERM_EQ, t1, op(TERM_ADD, rd(head), K(QUEUE)))))
		wr(full, K(1));
	wr(empty, K(0));
	ul(0);
	csignal(0);
}

static void pbzip2(long arg)
{
	unsigned n = S->nthreads - 2, t[MAX_THREADS];

	(void)arg;
	blocks = (int64_t)(S->target > 60 ? (S->target - 30) / 25 : 1);
	fifo = newvar(0);
	head = newvar(0);
	tail = newvar(0);
	full = newvar(0);
	empty = newvar(1);
	done_ = newvar(0);
	cfg = newvars(3, 0);
	buf = newvars(QUEUE, 0);
	out = newvars((unsigned)blocks, 0);
	wr(fifo, K(1));
	wr(cfg, K(7));
	wr(cfg + 1, K(3));
	wr(cfg + 2, K(5));
	unsigned o = fork_thread(pbzip2_writer, 0);
	for (unsigned i = 0; i < n; i++)
		t[i] = fork_thread(pbzip2_consumer, i);
	for (int64_t b = 0; b < blocks; b++)
		pbzip2_produce(b);
	lk(0);
	wr(done_, K(1));
	ul(0);
	cbroadcast(0);
	join_thread(o);
	if (S->cured)
		for (unsigned i = 0; i < n; i++)
			join_thread(t[i]);
	wr(fifo, K(0));
}

/* ---- cache4j: get, put and clean on a few objects, no locks at all ---- */

enum { OBJECTS = 6 };
static unsigned val, cnt, used, size, hits, misses, asleep, clk;

static void cache4j_put(unsigned o)
{
	hlk(1);
	if (br(op(TERM_EQ, rd(val + o), K(0)))) {
		struct sv s = rd(size);
		if (br(op(TERM_SLE, K(OBJECTS * 4), s))) {
			hul(1);
			return;
		}
		wr(size, op(TERM_ADD, s, K(1)));
	}
	wr(val + o, K(1 + rn(9)));
	wr(cnt + o, K(0));
	hul(1);
	struct sv c = rd(clk);
	wr(used + o, c);
	wr(clk, op(TERM_ADD, c, K(1)));
}

static void cache4j_get(unsigned o)
{
	hlk(1);
	if (br(op(TERM_NE, rd(val + o), K(0)))) {
		wr(cnt + o, op(TERM_ADD, rd(cnt + o), K(1)));
		wr(used + o, rd(clk));
		wr(hits, op(TERM_ADD, rd(hits), K(1)));
		fails_if(op(TERM_EQ, rd(val + o), K(0)));
	} else {
		wr(misses, op(TERM_ADD, rd(misses), K(1)));
	}
	hul(1);
}

static void cache4j_worker(long arg)
{
	for (;; (void)arg) {
		unsigned o = rn(OBJECTS);
		if (rn(10) < 4)
			cache4j_put(o);
		else
			cache4j_get(o);
	}
}

static void cache4j_cleaner(long arg)
{
	for (;; (void)arg) {
		wr(asleep, K(1));
		idle(20);
		wr(asleep, K(0));
		unsigned o = rn(OBJECTS);
		hlk(1);
		if (br(op(TERM_NE, rd(val + o), K(0)))) {
			struct sv l = rd(used + o);
			if (br(op(TERM_SLT, l, rd(clk)))) {
				struct sv s = rd(size);
				wr(val + o, K(0));
				wr(size, op(TERM_SUB, s, K(1)));
			}
		}
		hul(1);
	}
}

static void cache4j(long arg)
{
	unsigned t[MAX_THREADS], n = S->nthreads - 1;

	(void)arg;
	val = newvars(OBJECTS, 0);
	cnt = newvars(OBJECTS, 0);
	used = newvars(OBJECTS, 0);
	size = newvar(0);
	hits = newvar(0);
	misses = newvar(0);
	asleep = newvar(0);
	clk = newvar(1);
	for (unsigned i = 0; i < n; i++)
		t[i] = fork_thread(i + 1 < n ? cache4j_worker : cache4j_cleaner, i);
	for (unsigned i = 0; i < n; i++)
		join_thread(t[i]);
}

/* ---- bufwriter: writers append under a lock, now and then without it; a checker compares ---- */

enum { LINES = 10, CHARS = 40 };
static unsigned at, count, line, lines;

static void bufwriter_append(unsigned it, long who)
{
	struct sv p = rd(at);

	if (!br(op(TERM_SLT, p, rd(lines))))
		return;
	for (unsigned j = 0; j < 3; j++)
		br(op(TERM_SLE, K(0), rd(line + (it * 5 + j * 11) % CHARS)));
	unsigned c = line + (it * 7 + (unsigned)who) % CHARS;
	wr(c, op(TERM_ADD, rd(c), K(who + 1)));
	wr(at, op(TERM_ADD, p, K(1)));
	wr(count, op(TERM_ADD, rd(count), K(1)));
}

static void bufwriter_writer(long who)
{
	for (unsigned it = 0;; it++) {
		bool careless = rn(12) == 0;
		hlk(2);
		if (!careless) {
			lk(0);
			bufwriter_append(it, who);
			ul(0);
		} else {
			struct sv p = rd(at);
			if (br(op(TERM_SLT, p, K(LINES)))) {
				wr(at, op(TERM_ADD, p, K(1)));
				wr(count, op(TERM_ADD, rd(count), K(1)));
			}
		}
		hul(2);
	}
}

static void bufwriter_checker(long arg)
{
	for (;; (void)arg) {
		hlk(2);
		lk(0);
		struct sv p = rd(at), c = rd(count);
		ul(0);
		hul(2);
		fails_if(op(TERM_NE, p, c));
		hlk(2);
		lk(0);
		if (br(op(TERM_SLE, K(LINES), rd(at)))) {
			wr(at, K(0));
			wr(count, K(0));
		}
		ul(0);
		hul(2);
		idle(30);
	}
}

static void bufwriter(long arg)
{
	unsigned t[MAX_THREADS], n = S->nthreads - 1;

	(void)arg;
	at = newvar(0);
	count = newvar(0);
	line = newvars(CHARS, 0);
	lines = newvar(LINES);
	for (unsigned i = 0; i < n; i++)
		t[i] = fork_thread(i + 1 < n ? bufwriter_writer : bufwriter_checker, i);
	for (unsigned i = 0; i < n; i++)
		join_thread(t[i]);
}

/* ---- counter: locked counters, and one hot unlocked one whose exact total is asked for ---- */

enum { COUNTERS = 4 };
static unsigned counters;

static void counter_worker(long arg)
{
	size_t quota = S->target / (2 * (S->nthreads - 1));

	(void)arg;
	for (size_t i = 0; i < quota; i++) {
		unsigned k = rn(COUNTERS);
		if (rn(4)) {
			lk(k);
			struct sv r = rd(counters + k);
			wr(counters + k, br(op(TERM_SLT, r, K(5))) ? op(TERM_ADD, r, K(1)) : K(0));
			ul(k);
		} else {
			wr(counters + COUNTERS, op(TERM_ADD, rd(counters + COUNTERS), K(1)));
		}
	}
}

static void counter(long arg)
{
	unsigned t[MAX_THREADS], n = S->nthreads - 1;

	(void)arg;
	counters = newvars(COUNTERS + 1, 0);
	for (unsigned i = 0; i < n; i++)
		t[i] = fork_thread(counter_worker, i);
	for (unsigned i = 0; i < n; i++)
		join_thread(t[i]);
	struct sv r = rd(counters + COUNTERS);
	S->armed = true;
	fails_if(op(TERM_EQ, r, K(r.v)));
}

/* ---- a counter that is always locked: the sum is certain ---- */

static void locked_worker(long arg)
{
	size_t quota = S->target / (2 * (S->nthreads - 1));

	(void)arg;
	for (size_t i = 0; i < quota; i++) {
		lk(0);
		wr(counters, op(TERM_ADD, rd(counters), K(1)));
		ul(0);
	}
}

static void locked_counter(long arg)
{
	unsigned t[MAX_THREADS], n = S->nthreads - 1;

	(void)arg;
	counters = newvar(0);
	for (unsigned i = 0; i < n; i++)
		t[i] = fork_thread(locked_worker, i);
	for (unsigned i = 0; i < n; i++)
		join_thread(t[i]);
	struct sv r = rd(counters);
	S->armed = true;
	fails_if(op(TERM_NE, r, K(r.v)));
}

/* ---- all together ---- */

static const struct shape {
	const char *name;
	void (*body)(long);
	unsigned threads;
	bool cured;
} shapes[] = {
	{ "pbzip2", pbzip2, 9, false },	     { "crasher", crasher, 6, false },
	{ "cache4j", cache4j, 4, false },    { "bufwriter", bufwriter, 5, false },
	{ "counter", counter, 5, false },    { "cured-crasher", crasher, 6, true },
	{ "cured-pbzip2", pbzip2, 9, true }, { "locked-counter", locked_counter, 5, true },
};

const char *const shape_names[] = { "pbzip2", "crasher", "cache4j", "bufwriter", "counter", NULL };
const char *const cured_names[] = { "cured-crasher", "cured-pbzip2", "locked-counter", NULL };

static void setup(const struct shape *shape, size_t accesses, uint64_t seed, unsigned threads)
{
	S->nthreads = threads ? threads : shape->threads;
	S->target = shape->body == pbzip2 && !shape->cured ? accesses * 8 / 10 : accesses;
	S->most = accesses * 8 + 20000;
	S->cured = shape->cured;
	S->random = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15) + 12345;
	for (unsigned i = 0; i < 10; i++)
		rnd();
	for (unsigned i = 0; i < MAX_LOCKS; i++) {
		char name[16];
		snprintf(name, sizeof(name), "m%u", i);
		S->lock[i] = order_object(S->m, ORDER_OBJECT_MUTEX, name, 0, 0);
		snprintf(name, sizeof(name), "c%u", i);
		S->cond[i] = order_object(S->m, ORDER_OBJECT_COND, name, 0, 0);
		S->owner[i] = S->hidden[i] = -1;
	}
}

static struct order_model *run_shape(const struct shape *shape, size_t accesses, uint64_t seed,
				     unsigned threads)
{
	struct order_model *m;

	S = xcalloc(1, sizeof(*S));
	m = S->m = order_model_new();
	setup(shape, accesses, seed, threads);
	spawn(shape->body, 0);
	if (simulate()) {
		order_close_thread(m, m->events.data[m->failure_event].thread);
	} else {
		order_model_free(m);
		m = NULL;
	}
	for (unsigned i = 0; i < S->nco; i++)
		free(S->co[i].stack);
	vec_deinit(&S->mem);
	vec_deinit(&S->cells);
	free(S);
	S = NULL;
	return m;
}

struct order_model *shape_make(const char *name, size_t accesses, uint64_t seed, unsigned threads)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		for (unsigned k = 0; k < 20 && !strcmp(shapes[i].name, name); k++) {
			struct order_model *m =
				run_shape(&shapes[i], accesses, seed + 1000 * k, threads);
			if (m)
				return m;
		}
	return NULL;
}

size_t shape_accesses(const struct order_model *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->events.len; i++)
		n += m->events.data[i].kind == ORDER_READ || m->events.data[i].kind == ORDER_WRITE;
	return n;
}
