/* Random small programs, run by a simulator with all their schedules, against the model that
 * order/model/build.c makes of one of those runs. */
#include "order/model/build.h"

#include "base/err.h"

#include <criterion/criterion.h>

enum { THREADS = 2, LENGTH = 5, VARS = 3 };
enum op { LOAD, STORE, ADD, SKIP_IF_LESS, LOCKED_ADD, ATOMIC_ADD, OPS };

struct instr {
	uint8_t op, var, k;
};

struct program {
	struct instr code[THREADS][LENGTH];
	uint8_t limit; /* thread 0 fails when its accumulator ends below this */
};

struct machine {
	uint32_t var[VARS];
	int owner; /* of the one lock, -1 */
	struct {
		unsigned pc, phase, branches;
		uint32_t acc;
		uint32_t path; /* one bit per branch */
	} t[THREADS];
};

static uint32_t number(uint64_t *seed, uint32_t below)
{
	*seed = hash_u64(*seed + 1);
	return (uint32_t)(*seed % below);
}

static void make(struct program *p, uint64_t seed)
{
	for (int t = 0; t < THREADS; t++)
		for (int i = 0; i < LENGTH; i++)
			p->code[t][i] = (struct instr){ (uint8_t)number(&seed, OPS),
							(uint8_t)number(&seed, VARS),
							(uint8_t)number(&seed, 4) };
	p->limit = (uint8_t)number(&seed, 6);
}

static bool done(const struct machine *m, int t)
{
	return m->t[t].pc >= LENGTH;
}

/* Who watches a run: what the symbolic machine would tell, or nobody. */
struct watcher {
	struct order_build *b;
	term_id acc[THREADS];
};

static uint64_t place(unsigned var)
{
	return 0x1000 + 8ull * var;
}

static term_id told(struct watcher *w, int t, struct order_step s)
{
	s.held = TERM_NONE;
	return w ? order_build_step(w->b, (uint32_t)t, &s) : TERM_NONE;
}

static void tell_add(struct watcher *w, int t, term_id a, uint32_t k)
{
	struct terms *ts = w ? order_build_terms(w->b) : NULL;

	if (w)
		w->acc[t] = term_binary(ts, TERM_ADD, a, term_const(ts, 32, k));
}

static void tell_branch(struct watcher *w, int t, uint32_t k, bool less)
{
	struct terms *ts;
	term_id c;

	if (!w)
		return;
	ts = order_build_terms(w->b);
	c = term_binary(ts, TERM_ULT, w->acc[t], term_const(ts, 32, k));
	order_build_condition(
		w->b, less ? c : term_not(ts, c),
		&(struct order_taken){ .thread = (uint32_t)t,
				       .position = order_build_position(w->b, (uint32_t)t) });
}

/* One step of a thread that is not done; false: it waits for the lock. */
static bool step(const struct program *p, struct machine *m, int t, struct watcher *w)
{
	const struct instr *i = &p->code[t][m->t[t].pc];
	uint32_t *x = &m->var[i->var];
	bool less = m->t[t].acc < i->k;
	term_id v;

	switch (i->op) {
	case LOAD:
		m->t[t].acc = *x;
		v = told(w, t,
			 (struct order_step){
				 .kind = ORDER_STEP_READ, .address = place(i->var), .bits = 32 });
		if (w)
			w->acc[t] = v;
		break;
	case STORE:
		*x = m->t[t].acc + i->k;
		told(w, t,
		     (struct order_step){
			     .kind = ORDER_STEP_WRITE,
			     .address = place(i->var),
			     .bits = 32,
			     .value = w ? term_binary(order_build_terms(w->b), TERM_ADD, w->acc[t],
						      term_const(order_build_terms(w->b), 32, i->k))
					: TERM_NONE });
		break;
	case ADD:
		m->t[t].acc += i->k;
		tell_add(w, t, w ? w->acc[t] : TERM_NONE, i->k);
		break;
	case SKIP_IF_LESS:
		m->t[t].path |= (uint32_t)less << m->t[t].branches++;
		tell_branch(w, t, i->k, less);
		m->t[t].pc += less;
		break;
	case ATOMIC_ADD:
		m->t[t].acc = *x;
		*x += i->k;
		v = told(w, t,
			 (struct order_step){
				 .kind = ORDER_STEP_RMW, .address = place(i->var), .bits = 32 });
		if (w) {
			struct terms *ts = order_build_terms(w->b);

			w->acc[t] = v;
			order_build_value(w->b, (uint32_t)t,
					  term_binary(ts, TERM_ADD, v, term_const(ts, 32, i->k)));
		}
		break;
	default: /* lock; x = x + k; unlock, in four steps */
		switch (m->t[t].phase++) {
		case 0:
			if (m->owner >= 0) {
				m->t[t].phase = 0;
				return false;
			}
			m->owner = t;
			told(w, t, (struct order_step){ .kind = ORDER_STEP_LOCK, .address = 1 });
			return true;
		case 1:
			m->t[t].acc = *x;
			v = told(w, t,
				 (struct order_step){ .kind = ORDER_STEP_READ,
						      .address = place(i->var),
						      .bits = 32 });
			tell_add(w, t, v, i->k);
			m->t[t].acc += i->k;
			return true;
		case 2:
			*x = m->t[t].acc;
			told(w, t,
			     (struct order_step){ .kind = ORDER_STEP_WRITE,
						  .address = place(i->var),
						  .bits = 32,
						  .value = w ? w->acc[t] : TERM_NONE });
			return true;
		default:
			m->owner = -1;
			m->t[t].phase = 0;
			told(w, t, (struct order_step){ .kind = ORDER_STEP_UNLOCK, .address = 1 });
		}
	}
	m->t[t].pc++;
	return true;
}

static void start(struct machine *m)
{
	*m = (struct machine){ .owner = -1 };
}

static bool fails(const struct program *p, const struct machine *m)
{
	return m->t[0].acc < p->limit;
}

struct found {
	const struct program *p;
	const struct machine *run; /* whose path counts */
	bool pass, fail;
};

static void enumerate(struct found *f, const struct machine *m)
{
	bool ended = true;

	if (f->pass && f->fail)
		return;
	for (int t = 0; t < THREADS; t++) {
		struct machine next = *m;

		if (done(m, t))
			continue;
		ended = false;
		if (step(f->p, &next, t, NULL))
			enumerate(f, &next);
	}
	if (!ended)
		return;
	for (int t = 0; t < THREADS; t++)
		if (m->t[t].path != f->run->t[t].path || m->t[t].branches != f->run->t[t].branches)
			return;
	*(fails(f->p, m) ? &f->fail : &f->pass) = true;
}

static void watch_a_run(const struct program *p, uint64_t seed, struct machine *m,
			struct order_built *ret)
{
	struct watcher w = { .b = order_build_new() };
	struct terms *ts = order_build_terms(w.b);

	start(m);
	for (int t = 0; t < THREADS; t++) {
		order_build_thread(w.b, t ? "0.1" : "0");
		w.acc[t] = term_const(ts, 32, 0);
	}
	while (!done(m, 0) || !done(m, 1)) {
		int t = (int)number(&seed, THREADS);

		if (!done(m, t))
			step(p, m, t, &w);
	}
	order_build_failure(w.b, 0,
			    term_binary(ts, TERM_ULT, w.acc[0], term_const(ts, 32, p->limit)));
	cr_assert_null(order_build_finish(w.b, NULL, ret));
	order_build_free(w.b);
}

static bool solvable(const struct order_model *m, enum order_want want)
{
	struct order_budget budget = { .seconds = 20 };
	struct order_answer a;

	cr_assert_null(order_solve(m, want, &budget, &a));
	cr_assert_neq(a.status, ORDER_UNKNOWN);
	bool sat = a.status == ORDER_SAT;
	order_answer_deinit(&a);
	return sat;
}

Test(order_build, agrees_with_every_schedule)
{
	size_t both = 0, one = 0;

	for (uint64_t seed = 0; seed < 400; seed++) {
		struct program p;
		struct machine run, first;
		struct order_built built;
		struct found f = { .p = &p, .run = &run };

		make(&p, seed * 7919);
		watch_a_run(&p, seed, &run, &built);
		start(&first);
		enumerate(&f, &first);
		cr_assert_eq(solvable(built.m, ORDER_FAIL), f.fail, "seed %ju", (uintmax_t)seed);
		cr_assert_eq(solvable(built.m, ORDER_PASS), f.pass, "seed %ju", (uintmax_t)seed);
		both += f.fail && f.pass;
		one += f.fail != f.pass;
		order_built_deinit(&built);
	}
	cr_assert_gt(both, 20);
	cr_assert_gt(one, 20);
}

/* A word written whole by one thread, byte-wise by another, read whole: the pieces add up. */
Test(order_build, widths_meet)
{
	struct order_build *b = order_build_new();
	struct terms *ts = order_build_terms(b);
	uint32_t t0 = order_build_thread(b, "0"), t1 = order_build_thread(b, "0.1");
	struct order_built built;
	term_id v;

	order_build_step(b, t0,
			 &(struct order_step){ .kind = ORDER_STEP_WRITE,
					       .address = 64,
					       .bits = 32,
					       .value = term_const(ts, 32, 0x11223344) });
	order_build_step(b, t1,
			 &(struct order_step){ .kind = ORDER_STEP_WRITE,
					       .address = 65,
					       .bits = 8,
					       .value = term_const(ts, 8, 0xaa) });
	v = order_build_step(
		b, t0,
		&(struct order_step){
			.kind = ORDER_STEP_READ, .address = 64, .bits = 32, .held = TERM_NONE });
	order_build_failure(b, t0, term_binary(ts, TERM_EQ, v, term_const(ts, 32, 0x1122aa44)));
	cr_assert_null(order_build_finish(b, NULL, &built));
	order_build_free(b);
	/* only the byte in the middle is shared: two writes and a read of it */
	cr_assert_eq(built.m->events.len, 3);
	cr_assert(solvable(built.m, ORDER_FAIL));
	cr_assert(solvable(built.m, ORDER_PASS));
	order_built_deinit(&built);
}

/* ---- memory that is given back ---- */

static void one(struct order_build *b, uint32_t thread, enum order_step_kind kind, uint64_t address,
		uint32_t other)
{
	order_build_step(b, thread,
			 &(struct order_step){ .kind = kind,
					       .address = address,
					       .bits = 32,
					       .other = other,
					       .value = TERM_NONE,
					       .held = TERM_NONE });
}

/* Who frees what another thread uses has an event for it, and so has every use; nobody else. */
Test(order_build, freed)
{
	struct order_build *b = order_build_new();
	uint32_t owner = order_build_thread(b, "0"), user = order_build_thread(b, "0.1");
	static const uint8_t kinds[] = { ORDER_USE, ORDER_LOCK, ORDER_UNLOCK };
	struct order_built built;

	one(b, owner, ORDER_STEP_FORK, 0, user);
	one(b, owner, ORDER_STEP_READ, 0x1000, 0);  /* of the block: its own use */
	one(b, owner, ORDER_STEP_FREE, 0x1000, 16); /* used by the other */
	one(b, owner, ORDER_STEP_FREE, 0x2000, 16); /* by nobody */
	one(b, owner, ORDER_STEP_FREE, 0x100c, 0);  /* a lock inside it that is destroyed */
	one(b, user, ORDER_STEP_START, 0, 0);
	one(b, user, ORDER_STEP_READ, 0x1008, 0); /* nobody writes there: it would leave no event */
	one(b, user, ORDER_STEP_READ, 0x1010, 0); /* behind its end */
	one(b, user, ORDER_STEP_LOCK, 0x100c, 0);
	one(b, user, ORDER_STEP_UNLOCK, 0x100c, 0);
	cr_assert_null(order_build_finish(b, NULL, &built));

	cr_assert_eq(built.m->threads.data[owner].len, 3); /* fork, free, destroy */
	cr_assert_eq(built.m->threads.data[user].len, 4);  /* start, use, lock, unlock */
	cr_assert_eq(built.uses.len, 3);
	for (size_t i = 0; i < built.uses.len; i++) {
		const struct order_event *gone = &built.m->events.data[built.uses.data[i].free];
		const struct order_event *use = &built.m->events.data[built.uses.data[i].use];

		cr_assert_eq(gone->kind, ORDER_FREE);
		cr_assert_eq(gone->thread, owner);
		cr_assert_eq(built.step[built.uses.data[i].free], i ? 4 : 2); /* locks: destroyed */
		cr_assert_eq(use->kind, kinds[i]);
	}
	order_built_deinit(&built);
	order_build_free(b);
}
