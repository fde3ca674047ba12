/* explain/find/projection.c - the differential schedule projection (000 section 4.1.6), extended to runs
 * whose control flow differs.
 *
 * 1. Twins. Each thread's steps of the two runs are aligned by a diff over (kind, site): as long as
 * a thread does the same things, its n-th step is the twin of the n-th.
 * 2. Data flow. A reading step observes its `source`. If twins observe sources that are not twins,
 * the two flows differ: both are kept, with their ends.
 * 3. Order. A conflicting pair of steps in the failing run (each step with the last conflicting
 * step of another thread on the same object) whose twins stand the other way round is kept. Pairs
 * that merely moved along (same data flow around them, e.g. a critical section that came earlier as
 * a whole) are kept only when no data flow differs at all.
 * 4. Control flow. Steps without a twin are kept, the first few of each thread: the rest follows
 * from them.
 *
 * Everything else - in particular the common prefix - is dropped, but for a little history in runs
 * that are short anyway. */
#include "explain/find/projection.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "unplait/abi.h"

#include <stdlib.h>
#include <string.h>

enum { ONLY_HERE_PER_THREAD = 2, MAX_EDITS = 400, SHORT_RUN = 40, MAX_HISTORY = 3 };

/* Positions in the run of one thread's steps. */
struct thread_steps VEC_FIELDS(uint32_t);

static struct thread_steps *split(const struct steps *s, uint32_t nthreads)
{
	struct thread_steps *t = xcalloc(nthreads, sizeof(*t));

	for (uint32_t i = 0; i < s->len; i++)
		vec_push(&t[s->data[i].thread], i);
	return t;
}

static void free_split(struct thread_steps *t, uint32_t nthreads)
{
	for (uint32_t i = 0; i < nthreads; i++)
		vec_deinit(&t[i]);
	free(t);
}

struct pairing {
	const struct steps *a, *b;
	const struct thread_steps *ta, *tb;
	uint32_t *twin_a, *twin_b;
};

static bool alike(const struct pairing *p, size_t i, size_t k)
{
	const struct step *x = &p->a->data[p->ta->data[i]], *y = &p->b->data[p->tb->data[k]];

	return x->kind == y->kind && x->site == y->site;
}

static void pair_up(struct pairing *p, size_t i, size_t k)
{
	p->twin_a[p->ta->data[i]] = p->tb->data[k];
	p->twin_b[p->tb->data[k]] = p->ta->data[i];
}

/* Myers' greedy diff, bounded: what lies beyond MAX_EDITS differences stays without twins. */
static void diff(struct pairing *p, size_t from)
{
	long n = (long)(p->ta->len - from), m = (long)(p->tb->len - from);
	long max = MIN(n + m, MAX_EDITS), found = -1;
	long *v = xcalloc((size_t)(2 * max + 3), sizeof(*v)), *at = v + max + 1;
	long **trace = xcalloc((size_t)max + 1, sizeof(*trace));
	long x = 0, y = 0;

	for (long d = 0; d <= max && found < 0; d++) {
		for (long k = -d; k <= d; k += 2) {
			x = k == -d || (k != d && at[k - 1] < at[k + 1]) ? at[k + 1]
									 : at[k - 1] + 1;
			y = x - k;
			while (x < n && y < m && alike(p, from + (size_t)x, from + (size_t)y))
				x++, y++;
			at[k] = x;
			if (x >= n && y >= m) {
				found = d;
				break;
			}
		}
		trace[d] = xmemdup(v, (size_t)(2 * max + 3) * sizeof(*v));
	}
	for (long d = found; d >= 0 && found >= 0; d--) {
		long *was = d ? trace[d - 1] + max + 1 : NULL, k = x - y;
		long pk = !d ? 0 : k == -d || (k != d && was[k - 1] < was[k + 1]) ? k + 1 : k - 1;
		long px = d ? was[pk] : 0, py = d ? px - pk : 0;

		while (x > px && y > py && x > 0 && y > 0 &&
		       alike(p, from + (size_t)x - 1, from + (size_t)y - 1)) {
			x--, y--;
			pair_up(p, from + (size_t)x, from + (size_t)y);
		}
		x = px;
		y = py;
	}
	for (long d = 0; d <= max; d++)
		free(trace[d]);
	free(trace);
	free(v);
}

static void pair_thread(struct pairing *p)
{
	size_t i = 0;

	while (i < p->ta->len && i < p->tb->len && alike(p, i, i)) {
		pair_up(p, i, i);
		i++;
	}
	if (i < p->ta->len && i < p->tb->len)
		diff(p, i);
}

static void find_twins(const struct steps *f, const struct steps *g, struct projection *ret)
{
	uint32_t nthreads = MAX(f->nthreads, g->nthreads);
	struct thread_steps *tf = split(f, nthreads), *tg = split(g, nthreads);

	ret->twin_of_failing = xmalloc(f->len * sizeof(uint32_t));
	ret->twin_of_passing = xmalloc(g->len * sizeof(uint32_t));
	memset(ret->twin_of_failing, 0xff, f->len * sizeof(uint32_t));
	memset(ret->twin_of_passing, 0xff, g->len * sizeof(uint32_t));
	for (uint32_t t = 0; t < nthreads; t++) {
		struct pairing p = {
			f, g, &tf[t], &tg[t], ret->twin_of_failing, ret->twin_of_passing
		};

		pair_thread(&p);
	}
	free_split(tf, nthreads);
	free_split(tg, nthreads);
}

struct builder {
	const struct steps *f, *g;
	struct projection *out;
	VEC(struct projection_flow) flows;
};

static void add_flow(struct builder *b, bool failing, uint32_t to)
{
	const struct steps *run = failing ? b->f : b->g;
	uint8_t *show = failing ? b->out->show_failing : b->out->show_passing;
	uint32_t from = run->data[to].source;

	vec_push(&b->flows, (struct projection_flow){ failing, from, to });
	show[to] |= PROJECT_FLOW;
	if (from != STEP_NONE)
		show[from] |= PROJECT_FLOW;
}

/* Do the twins i (failing) and k (passing) observe different things? */
static bool flow_differs(const struct builder *b, uint32_t i, uint32_t k)
{
	uint32_t a = b->f->data[i].source, c = b->g->data[k].source;

	if (a == STEP_NONE || c == STEP_NONE)
		return a != c;
	return b->out->twin_of_failing[a] != c;
}

/* memory: look at data flow through memory; else through synchronisation objects. */
static void find_flows(struct builder *b, bool memory)
{
	for (uint32_t i = 0; i < b->f->len; i++) {
		uint32_t k = b->out->twin_of_failing[i];
		const struct step *e = &b->f->data[i];

		if (k == STEP_NONE || !step_reads(e) || step_is_memory(e) != memory)
			continue;
		/* a lock taken in another order is no news by itself; its value flow will show */
		if (!flow_differs(b, i, k))
			continue;
		if (memory && e->value == b->g->data[k].value && e->size &&
		    e->kind != PLAIT_EV_ATOMIC_RMW)
			continue; /* another writer, the same value: nothing changed hands */
		add_flow(b, true, i);
		add_flow(b, false, k);
	}
}

/* Steps that only the failing run has (a read of freed memory, an error path) read something too.
 */
static void find_only_here(const struct steps *run, const uint32_t *twin, uint8_t *show)
{
	uint32_t nthreads = run->nthreads;
	uint32_t *seen = xcalloc(nthreads, sizeof(*seen));

	for (uint32_t i = 0; i < run->len; i++) {
		const struct step *e = &run->data[i];

		if (twin[i] != STEP_NONE || !(step_reads(e) || step_writes(e)))
			continue;
		if (seen[e->thread]++ >= ONLY_HERE_PER_THREAD)
			continue;
		show[i] |= PROJECT_ONLY_HERE;
		if (step_is_memory(e) && step_reads(e) && e->source != STEP_NONE &&
		    run->data[e->source].thread != e->thread)
			show[e->source] |= PROJECT_FLOW;
	}
	free(seen);
}

/* The last conflicting step of another thread before each step, per object. */
static void find_reordered(struct builder *b, bool all)
{
	struct map last = { 0 }; /* (address, reads or writes) -> step + 1 */
	const struct steps *f = b->f;
	const uint32_t *twin = b->out->twin_of_failing;

	for (uint32_t i = 0; i < f->len; i++) {
		const struct step *e = &f->data[i];

		if (!step_reads(e) && !step_writes(e))
			continue;
		for (int w = 0; w < 2; w++) {
			uint64_t before = map_get_or(&last, e->address * 2 + (uint64_t)w, 0);
			uint32_t j = (uint32_t)before - 1;

			if (!before || !step_conflicts(&f->data[j], e) || twin[i] == STEP_NONE ||
			    twin[j] == STEP_NONE || twin[j] < twin[i])
				continue;
			if (!all &&
			    !((b->out->show_failing[i] | b->out->show_failing[j]) & PROJECT_FLOW))
				continue;
			b->out->show_failing[i] |= PROJECT_REORDERED;
			b->out->show_failing[j] |= PROJECT_REORDERED;
			b->out->show_passing[twin[i]] |= PROJECT_REORDERED;
			b->out->show_passing[twin[j]] |= PROJECT_REORDERED;
		}
		*map_put(&last, e->address * 2 + step_writes(e), 0) = i + 1;
	}
	map_deinit(&last);
}

/* What one run shows, the other shows too where it has it. */
static void mirror(struct builder *b)
{
	for (uint32_t i = 0; i < b->f->len; i++) {
		uint32_t k = b->out->twin_of_failing[i];

		if (k == STEP_NONE)
			continue;
		if (b->out->show_failing[i] && !b->out->show_passing[k])
			b->out->show_passing[k] |= PROJECT_FLOW;
		if (b->out->show_passing[k] && !b->out->show_failing[i])
			b->out->show_failing[i] |= PROJECT_FLOW;
	}
}

/* In a short run there is room for how it came to this: the last few values that the failing
 * thread, or one it has them from, got from another thread. */
static void show_history(struct builder *b)
{
	bool *matters;
	uint32_t shown = 0;

	if (b->f->len > SHORT_RUN)
		return;
	matters = xcalloc(b->f->nthreads, sizeof(*matters));
	for (uint32_t i = (uint32_t)b->f->len; i-- > 0 && shown < MAX_HISTORY;) {
		const struct step *e = &b->f->data[i];

		matters[e->thread] |= b->out->show_failing[i] != 0;
		if (!matters[e->thread] || !step_is_memory(e) || !step_reads(e) ||
		    e->source == STEP_NONE || b->f->data[e->source].thread == e->thread)
			continue;
		matters[b->f->data[e->source].thread] = true;
		if (b->out->show_failing[i])
			continue;
		shown++;
		b->out->show_failing[i] |= PROJECT_HISTORY;
		b->out->show_failing[e->source] |= PROJECT_HISTORY;
	}
	free(matters);
}

/* What the failing thread read last is what it judged by; what it did last, if it read nothing. */
static void mark_failure(struct builder *b, uint32_t failed)
{
	uint32_t last = STEP_NONE, from;

	for (uint32_t i = (uint32_t)b->f->len; i-- > 0 && failed != STEP_NONE;) {
		const struct step *e = &b->f->data[i];

		if (e->thread != failed)
			continue;
		if (last == STEP_NONE || (step_is_memory(e) && step_reads(e)))
			last = i;
		if (step_is_memory(e) && step_reads(e))
			break;
	}
	if (last == STEP_NONE)
		return;
	b->out->show_failing[last] |= PROJECT_FAILURE;
	from = b->f->data[last].source;
	if (step_is_memory(&b->f->data[last]) && from != STEP_NONE &&
	    b->f->data[from].thread != failed)
		b->out->show_failing[from] |= PROJECT_FLOW; /* ... and who wrote it */
}

void projection_make(const struct steps *failing, const struct steps *passing, uint32_t failed,
		     struct projection *ret)
{
	struct builder b = { .f = failing, .g = passing, .out = ret };

	memset(ret, 0, sizeof(*ret));
	find_twins(failing, passing, ret);
	ret->show_failing = xcalloc(failing->len, 1);
	ret->show_passing = xcalloc(passing->len, 1);
	find_flows(&b, true);
	find_only_here(failing, ret->twin_of_failing, ret->show_failing);
	if (!b.flows.len)
		find_flows(&b, false);
	find_reordered(&b, !b.flows.len);
	show_history(&b);
	mirror(&b);
	mark_failure(&b, failed);
	ret->flows = b.flows.data;
	ret->nflows = b.flows.len;
}

void projection_deinit(struct projection *p)
{
	free(p->twin_of_failing);
	free(p->twin_of_passing);
	free(p->show_failing);
	free(p->show_passing);
	free(p->flows);
	memset(p, 0, sizeof(*p));
}
