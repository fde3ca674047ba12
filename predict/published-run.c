/* predict/published-run.c - the published search about a program: see published.h.
 *
 * A path that nobody has seen is synthesised: the symbolic machine follows the recording with the
 * thread's own bits up to the flip (sym_detour), and behind it tries both sides of every branch,
 * breadth first, until the thread ends. Every thread's trace runs to its end in every question, as
 * published; orders found are run natively, as everywhere here. */
#define LOG_DOMAIN "predict"
#include "predict/published.h"

#include "base/err.h"
#include "base/log.h"
#include "predict/round.h"
#include "solve/realize.h"
#include "sym/sym.h"

#include <stdlib.h>
#include <string.h>

enum { SYNTHESIS_SECONDS = 5, MOST_SYNTHESES = 200 };

struct published_run {
	struct predict *p;
	size_t base;
	struct published_texts *seen; /* per thread of the base: whole paths */
	struct published search;
	uint64_t synthesised;
};

static const struct base *base_of(const struct published_run *r)
{
	return &r->p->bases.data[r->base];
}

static bool over(void *arg)
{
	return round_is_over(((struct published_run *)arg)->p);
}

static const char *path(void *arg, uint32_t thread)
{
	return strbuf_str(&base_of(arg)->l.paths[thread]);
}

/* ---- paths: found, or made ---- */

static bool begins(const char *path, const char *prefix)
{
	return !strncmp(path, prefix, strlen(prefix));
}

static int by_length(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t lx = strlen(x), ly = strlen(y);

	return lx != ly ? (lx < ly ? -1 : 1) : strcmp(x, y);
}

static void remember(struct published_run *r, uint32_t thread, const char *bits)
{
	struct published_texts *s = &r->seen[thread];

	for (size_t i = 0; i < s->len; i++)
		if (!strcmp(s->data[i], bits))
			return;
	vec_push(s, xstrdup(bits));
}

/* What the threads of the same name did in other runs. */
static void remember_all(struct published_run *r)
{
	const struct order_model *mine = base_of(r)->l.built.m;

	for (uint32_t t = 0; t < mine->threads.len; t++)
		for (size_t b = 0; b < r->p->bases.len; b++) {
			const struct loaded *l = &r->p->bases.data[b].l;

			for (uint32_t u = 0; u < l->built.m->threads.len; u++)
				if (!strcmp(mine->threads.data[t].name,
					    l->built.m->threads.data[u].name))
					remember(r, t, strbuf_str(&l->paths[u]));
		}
}

/* ... and in runs of other commands. */
static struct err *remember_stored(struct published_run *r, uint32_t thread, const char *prefix,
				   size_t n)
{
	const struct predict *p = r->p;
	struct paths_texts found = { 0 };
	struct err *err = NULL;

	if (p->store)
		err = paths_find(p->store, p->key, base_of(r)->l.built.m->threads.data[thread].name,
				 prefix, n, &found);
	for (size_t i = 0; i < found.len && !err; i++)
		remember(r, thread, found.data[i]);
	paths_texts_deinit(&found);
	return err;
}

static struct err *load(struct published_run *r, const struct published_path *paths, size_t n,
			double seconds, struct loaded *ret)
{
	struct sym_detour detours[PUBLISHED_MOST_FLIPS];
	struct load_options o = { .seconds = seconds,
				  .program = r->p->program,
				  .keep = true,
				  .detours = detours,
				  .ndetours = n };
	double start = clock_seconds();
	struct err *err;

	for (size_t i = 0; i < n; i++)
		detours[i] = (struct sym_detour){ paths[i].thread, paths[i].bits };
	err = load_recording(base_of(r)->trace, &o, ret);
	r->p->result->seconds_load += clock_seconds() - start;
	return err;
}

/* Breadth first: a path that is not whole yet has two that are longer. */
static struct err *synthesise(struct published_run *r, uint32_t thread, const char *prefix,
			      size_t n, struct published_texts *ret)
{
	double deadline = clock_seconds() + SYNTHESIS_SECONDS;
	struct published_texts queue = { 0 };
	struct err *err = NULL;

	vec_push(&queue, xstrdup(prefix));
	for (size_t i = 0; i < queue.len && i < MOST_SYNTHESES && ret->len < n && !err &&
			   !over(r) && clock_seconds() < deadline;
	     i++) {
		struct published_path p = { thread, queue.data[i] };
		struct loaded l;

		err = load(r, &p, 1, SYNTHESIS_SECONDS, &l);
		if (err)
			break;
		if (l.open_path) {
			vec_push(&queue, xasprintf("%s0", queue.data[i]));
			vec_push(&queue, xasprintf("%s1", queue.data[i]));
		} else if (!l.unsupported) {
			vec_push(ret, xstrdup(strbuf_str(&l.paths[thread])));
			remember(r, thread, strbuf_str(&l.paths[thread]));
			r->synthesised++;
		}
		loaded_deinit(&l);
	}
	for (size_t i = 0; i < queue.len; i++)
		free(queue.data[i]);
	vec_deinit(&queue);
	return err;
}

static struct err *find(void *arg, uint32_t thread, const char *prefix, size_t n,
			struct published_texts *ret)
{
	struct published_run *r = arg;
	struct published_texts *seen = &r->seen[thread];
	struct err *err = remember_stored(r, thread, prefix, n);

	vec_sort(seen, by_length);
	for (size_t i = 0; i < seen->len && ret->len < n; i++)
		if (begins(seen->data[i], prefix))
			vec_push(ret, xstrdup(seen->data[i]));
	return err || ret->len ? err : synthesise(r, thread, prefix, n, ret);
}

/* ---- orders ---- */

static struct err *solve(struct published_run *r, const struct order_model *m, enum order_want want,
			 struct order_answer *ret)
{
	struct order_budget budget = { .seconds = MIN(30, MAX(r->p->deadline - clock_seconds(), 1)),
				       .seed = r->p->o.seed };
	struct predict_result *result = r->p->result;
	double start = clock_seconds();
	struct err *err = order_solve(m, want, &budget, ret);

	result->seconds_ask += clock_seconds() - start;
	result->sat += !err && ret->status == ORDER_SAT;
	result->unsat += !err && ret->status == ORDER_UNSAT;
	result->unknown += !err && ret->status == ORDER_UNKNOWN;
	return err;
}

static struct err *branches(void *arg, size_t most, struct published_branches *ret)
{
	struct published_run *r = arg;
	const struct order_model *m = base_of(r)->l.built.m;
	struct order_answer a;
	struct err *err = solve(r, m, ORDER_ANY, &a);

	if (err)
		return err;
	if (a.status == ORDER_SAT)
		published_nearest(m, a.order, a.len, most, ret);
	order_answer_deinit(&a);
	return NULL;
}

/* The flips of a set, for people. */
static void describe(const struct published_run *r, uint32_t set, struct predict_flips *ret)
{
	for (size_t i = 0; i < r->search.branches.len; i++) {
		struct chance c = { .condition = r->search.branches.data[i].condition };

		if (set >> i & 1)
			base_describe(base_of(r), &c, ret);
	}
}

/* Behind the assertion its thread does nothing more. */
static struct err *run_order(struct published_run *r, const struct order_built *built,
			     const struct order_place *at, const struct order_answer *a,
			     uint32_t set, bool *ret)
{
	struct realize_end end = { .last = at->thread, .strategy = PLAIT_STRATEGY_FOLLOW };
	uint32_t *order = xcalloc(a->len + 1, sizeof(*order));
	struct predict_flips flips = { 0 };
	struct realized run;
	struct err *err;
	size_t n = 0;

	for (size_t i = 0; i < a->len; i++) {
		const struct order_event *e = &built->m->events.data[a->order[i]];

		if (e->thread != at->thread || e->index < at->index)
			order[n++] = a->order[i];
	}
	describe(r, set, &flips);
	err = realize(r->p->session, built, order, n, &end, &run);
	r->p->result->proposals++;
	r->p->result->native_runs += run.runs;
	r->p->result->followed += run.followed;
	if (!err && run_failed(&run.run)) {
		err = round_consider(r->p, r->base, &flips, &run.run);
		*ret = r->p->stop;
	}
	realized_deinit(&run);
	flips_deinit(&flips);
	free(order);
	return err;
}

static bool note_unconfirmed(struct published_run *r, uint32_t set)
{
	struct predict_proposal new = { .base = predict_name(r->p, base_of(r)->recording) };

	describe(r, set, &new.flips);
	vec_push(&r->p->result->unconfirmed, new);
	return true;
}

/* Is there an order that fails, and does it fail natively? m: built->m with the failure. */
static struct err *ask(struct published_run *r, const struct order_built *built,
		       const struct order_model *m, const struct order_place *at, uint32_t set,
		       bool *ret)
{
	struct order_answer a;
	struct err *err = solve(r, m, ORDER_FAIL, &a);

	if (err)
		return err;
	if (a.status == ORDER_SAT && r->p->session)
		err = run_order(r, built, at, &a, set, ret);
	else if (a.status == ORDER_SAT)
		*ret = note_unconfirmed(r, set);
	order_answer_deinit(&a);
	return err;
}

/* Phi_fail for each assertion, the last first; or a path fails by itself, in whatever order. */
static struct err *ask_all(struct published_run *r, const struct loaded *l, uint32_t set, bool *ret)
{
	const struct order_model *m = l->built.m;
	struct order_place end = { .thread = l->failing, .index = UINT32_MAX };
	struct err *err = NULL;

	if (l->failing != ORDER_NONE)
		return ask(r, &l->built, m, &end, set, ret);
	for (uint32_t c = (uint32_t)m->conditions.len; c-- > 0 && !err && !*ret && !over(r);) {
		_cleanup_(order_model_freep) struct order_model *f = NULL;

		if (!published_is_assertion(m, c))
			continue;
		f = published_failing(m, c);
		err = ask(r, &l->built, f, &m->places.data[c], set, ret);
	}
	return err;
}

static struct err *fails(void *arg, uint32_t set, const struct published_path *paths, size_t n,
			 bool *ret)
{
	struct published_run *r = arg;
	struct loaded l;
	struct err *err = load(r, paths, n, MAX(r->p->deadline - clock_seconds(), 0.1), &l);

	if (err)
		return err;
	if (!l.unsupported && !l.open_path)
		err = ask_all(r, &l, set, ret);
	loaded_deinit(&l);
	return err;
}

/* ---- all of it ---- */

static void tell(struct published_run *r)
{
	struct predict_published *out = &r->p->result->published;

	out->tries += r->search.tries;
	out->synthesised += r->synthesised;
	for (size_t i = 0; i < r->search.sets.len; i++) {
		struct predict_set s = { .tries = r->search.sets.data[i].tries,
					 .fails = r->search.sets.data[i].fails };

		describe(r, r->search.sets.data[i].flips, &s.flips);
		vec_push(&out->sets, s);
	}
}

static struct err *synthesise_from(struct predict *p, size_t base)
{
	struct published_run r = { .p = p, .base = base };
	struct published_source source = { .arg = &r,
					   .branches = branches,
					   .path = path,
					   .find = find,
					   .fails = fails,
					   .over = over };
	size_t nthreads = p->bases.data[base].l.built.m->threads.len;
	struct err *err;

	r.seen = xcalloc(nthreads + 1, sizeof(*r.seen));
	remember_all(&r);
	err = published_search(&source, p->o.flips, p->o.traces, &r.search);
	if (!err)
		tell(&r);
	for (size_t t = 0; t < nthreads; t++) {
		for (size_t i = 0; i < r.seen[t].len; i++)
			free(r.seen[t].data[i]);
		vec_deinit(&r.seen[t]);
	}
	free(r.seen);
	published_deinit(&r.search);
	return err;
}

static size_t bits_of(const struct base *b)
{
	size_t n = 0;

	for (size_t t = 0; t < b->l.ntrails; t++)
		n += b->l.paths[t].len;
	return n;
}

/* The run with the fewest branches that has not been tried yet. */
static size_t next_base(const struct predict *p, const bool *done)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < p->bases.len; i++)
		if (!done[i] && (best == SIZE_MAX ||
				 bits_of(&p->bases.data[i]) < bits_of(&p->bases.data[best])))
			best = i;
	return best;
}

struct err *published_run(struct predict *p)
{
	bool *done = xcalloc(p->bases.len + 1, sizeof(*done)), fails = false;
	struct err *err = NULL;
	size_t b;

	for (size_t i = 0; i < p->bases.len && !err && !fails && !round_is_over(p); i++) {
		struct published_run r = { .p = p, .base = i };

		err = ask_all(&r, &p->bases.data[i].l, 0, &fails);
		p->result->published.schedules++;
	}
	p->result->published.by_schedule = fails;
	while (!err && !fails && !round_is_over(p) && (b = next_base(p, done)) != SIZE_MAX) {
		done[b] = true;
		err = synthesise_from(p, b);
		fails = p->result->published.sets.len &&
			vec_last(&p->result->published.sets)->fails;
	}
	free(done);
	return err;
}
