/* Strategy surw: every order of the interesting operations is equally likely.
 *
 * Small programs without blocking are run some thousand times. Each thread is a string: `i` is
 * an interesting operation, `.` another one, a digit makes that thread. Brute force lists all
 * orders in which the interesting operations can happen; a chi-square test compares. Seeds are
 * fixed, so the test is not a matter of luck. */
#include "sched/strategy.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { THREADS = 5, ORDERS = 4096, LENGTH = 16, SAMPLES = 40 };

struct program {
	const char *thread[THREADS];
};

/* ---- all orders, by brute force ---- */

struct orders {
	char order[ORDERS][LENGTH + 1];
	uint32_t seen[ORDERS];
	size_t n;
};

static size_t find_order(struct orders *o, const char *order)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		if (!strcmp(o->order[i], order))
			return i;
	cr_assert_lt(o->n, ORDERS);
	strncpy(o->order[o->n], order, LENGTH);
	return o->n++;
}

/* at[t]: its next operation; -1: not born. */
static void all_orders(const struct program *p, const int *at, char *order, size_t n,
		       struct orders *o)
{
	bool ended = true;

	for (int t = 0; t < THREADS; t++) {
		int next[THREADS];
		char op = at[t] < 0 || !p->thread[t] ? 0 : p->thread[t][at[t]];
		size_t added = op == 'i';

		if (!op)
			continue;
		ended = false;
		memcpy(next, at, sizeof(next));
		next[t]++;
		if (op >= '0' && op <= '9')
			next[op - '0'] = 0;
		order[n] = (char)('0' + t);
		all_orders(p, next, order, n + added, o);
		if (!added) /* it changes no order: the rest need not come earlier */
			return;
	}
	order[n] = 0;
	if (ended)
		find_order(o, order);
}

/* ---- one run ---- */

static uint32_t weight_of(const struct program *p, int t)
{
	uint32_t n = 0;

	for (const char *op = p->thread[t]; *op; op++)
		n += *op == 'i' ? 1 : *op == '.' ? 0 : weight_of(p, *op - '0');
	return n;
}

struct run {
	const struct program *p;
	struct sched s;
	struct sched_task task[THREADS], *alive[THREADS];
	int at[THREADS];
	size_t nalive;
};

static void give_birth(struct run *r, uint32_t t, struct sched_task *parent)
{
	r->task[t] = (struct sched_task){ .id = t, .parent = parent };
	r->task[t].op.focus = r->p->thread[t][0] == 'i';
	r->alive[r->nalive++] = &r->task[t];
	sched_task_new(&r->s, &r->task[t]);
}

static char execute(struct run *r, struct sched_task *t)
{
	char op = r->p->thread[t->id][r->at[t->id]++];
	char next = r->p->thread[t->id][r->at[t->id]];
	size_t i;

	t->op.focus = next == 'i';
	if (op >= '0' && op <= '9')
		give_birth(r, (uint32_t)(op - '0'), t);
	for (i = 0; !next && i < r->nalive; i++)
		if (r->alive[i] == t) {
			memmove(&r->alive[i], &r->alive[i + 1], (--r->nalive - i) * sizeof(t));
			break;
		}
	return op;
}

static void run_once(const struct program *p, uint32_t strategy, uint64_t seed, char *order)
{
	uint32_t weights[THREADS];
	struct sched_params params = {
		.strategy = strategy, .seed = seed, .weights = weights, .nweights = THREADS
	};
	struct run r = { .p = p };
	struct sched_task *last = NULL;
	uint64_t point = 0;
	size_t n = 0;

	for (int t = 0; t < THREADS; t++)
		weights[t] = p->thread[t] ? weight_of(p, t) : 0;
	sched_init(&r.s, &params);
	give_birth(&r, 0, NULL);
	while (r.nalive) {
		struct sched_view v = { .tasks = r.alive,
					.ntasks = r.nalive,
					.all = r.alive,
					.nall = r.nalive,
					.current = last,
					.current_ready = last != NULL,
					.point = ++point };

		last = sched_pick(&r.s, &v);
		if (execute(&r, last) == 'i')
			order[n++] = (char)('0' + last->id);
		if (!p->thread[last->id][r.at[last->id]])
			last = NULL;
	}
	order[n] = 0;
}

/* ---- the comparison ---- */

/* How far the orders of many runs are from even: 0 is as expected, 1 four standard deviations. */
static double unevenness(const struct program *p, uint32_t strategy)
{
	static struct orders o;
	int at[THREADS] = { 0, -1, -1, -1, -1 };
	char order[64];
	double chi = 0, df;
	size_t all;

	memset(&o, 0, sizeof(o));
	all_orders(p, at, order, 0, &o);
	all = o.n;
	cr_assert_gt(all, 1);
	for (uint64_t seed = 1; seed <= SAMPLES * all; seed++) {
		run_once(p, strategy, seed, order);
		o.seen[find_order(&o, order)]++;
	}
	cr_assert_eq(o.n, all, "an order that cannot be: %s", o.order[all]);
	for (size_t i = 0; i < all; i++)
		chi += pow((double)o.seen[i] - SAMPLES, 2) / SAMPLES;
	df = (double)all - 1;
	return (chi - df) / (4 * sqrt(2 * df));
}

static const struct program programs[] = {
	{ { "12", "i", "iiiii" } },		 /* one order of six has i last */
	{ { "123", "ii", "ii", "ii" } },	 /* 90 orders */
	{ { "1i2i", "iii", "ii" } },		 /* main takes part, and makes a thread between */
	{ { ".1..2.", "..i..i", "i.....i.i" } }, /* with operations that do not matter */
	{ { "1..", "i2i", "i3.i", "ii" } },	 /* a thread makes a thread makes a thread */
	{ { "1i.2i.3", "i.i", "....i", "i.4", "ii" } },
};

Test(surw, every_order_is_equally_likely)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		cr_assert_lt(unevenness(&programs[i], PLAIT_STRATEGY_SURW), 1, "program %zu", i);
}

/* The comparison can fail: a random walk is far from even. */
Test(surw, a_random_walk_is_not_even)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		cr_assert_gt(unevenness(&programs[i], PLAIT_STRATEGY_RANDOM), 2, "program %zu", i);
}
