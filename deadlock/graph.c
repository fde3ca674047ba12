/* deadlock/graph.c - who waits for whom, and the cycles in that.
 *
 * The resource-allocation graph of 001 section 7.1.2, with the locks folded into the edges: thread A
 * points to thread B when the lock A is blocked on is held by B. A blocked thread needs every
 * holder to let go (a writer needs all readers out), so one cycle is enough for a deadlock: no
 * thread on it can move before another one on it does.
 *
 * Why a reported cycle is never false: a thread counts only when its seq was the same in two
 * samples, so all edges existed at one instant; and what the area calls held was held (watch.h).
 * Edges that time out are kept apart: a cycle through one dissolves by itself.
 *
 * Strongly connected components (Tarjan) find the knots; breadth-first search then gives the
 * shortest cycle through the first thread of each, which is what people want to read. */
#include "deadlock/deadlock.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* Does `wish` have to wait for `has`? self: both are the same thread's. */
static bool use_blocks(const struct lock_use *wish, const struct lock_use *has, bool self)
{
	if (wish->object != has->object || has->doubted)
		return false;
	if (has->state == WATCH_WANT)
		/* a reader that queues behind a writer that waits for other readers */
		return !self && wish->kind == WATCH_READ && has->kind == WATCH_WRITE &&
		       wish->flags & WATCH_BEHIND_WRITERS;
	if (has->state != WATCH_HELD)
		return false;
	switch (wish->kind) {
	case WATCH_MUTEX:
	case WATCH_SPIN:
		return has->kind == wish->kind;
	case WATCH_READ: /* the writer itself gets EDEADLK instead of waiting */
		return has->kind == WATCH_WRITE && !self;
	case WATCH_WRITE:
		return has->kind == WATCH_READ || (has->kind == WATCH_WRITE && !self);
	default:
		return false; /* conditions, joins, semaphores have no holder */
	}
}

struct edges VEC_FIELDS(struct wait_edge);

struct graph {
	const struct snapshot *s;
	struct edges edges; /* sorted by thread */
	size_t *first;	    /* edges of thread t: first[t] .. first[t + 1] */
	bool *blocked;	    /* thread t is blocked and did not move */
};

static bool is_timed(const struct snapshot *s, const struct wait_edge *e)
{
	const struct thread_uses *holder = &s->threads[e->holder];

	/* a writer's wish that times out stops blocking the readers behind it */
	return s->threads[e->thread].uses[e->want].flags & WATCH_TIMED ||
	       (holder->uses[e->held].state == WATCH_WANT &&
		holder->uses[e->held].flags & WATCH_TIMED);
}

static void add_edges(struct graph *g, size_t t, const struct lock_use *wish)
{
	const struct snapshot *s = g->s;

	for (size_t h = 0; h < s->nthreads; h++) {
		const struct thread_uses *holder = &s->threads[h];

		if (holder->moving)
			continue;
		for (size_t k = 0; k < holder->nuses; k++) {
			const struct lock_use *has = &holder->uses[k];

			if (has == wish || !use_blocks(wish, has, h == t))
				continue;
			/* only the wish on top is one the thread is blocked in */
			if (has->state == WATCH_WANT && thread_wants(holder) != has)
				continue;
			vec_push(&g->edges, (struct wait_edge){
						    t, (size_t)(wish - s->threads[t].uses), h, k });
			break;
		}
	}
}

static void graph_init(struct graph *g, const struct snapshot *s)
{
	*g = (struct graph){ .s = s };
	g->first = xcalloc(s->nthreads + 1, sizeof(*g->first));
	g->blocked = xcalloc(s->nthreads + 1, sizeof(*g->blocked));
	for (size_t t = 0; t < s->nthreads; t++) {
		const struct lock_use *wish = thread_wants(&s->threads[t]);

		g->first[t] = g->edges.len;
		if (wish && !s->threads[t].moving) {
			g->blocked[t] = true;
			add_edges(g, t, wish);
		}
	}
	g->first[s->nthreads] = g->edges.len;
}

static void graph_deinit(struct graph *g)
{
	vec_deinit(&g->edges);
	free(g->first);
	free(g->blocked);
}

/* ---- knots ---- */

struct tarjan {
	const struct graph *g;
	bool timed; /* use edges that time out, too */
	size_t *index, *low, *knot;
	bool *on_stack;
	VEC(size_t) stack;
	size_t next, nknots;
};

static bool usable(const struct tarjan *tj, size_t e)
{
	return tj->timed || !is_timed(tj->g->s, &tj->g->edges.data[e]);
}

struct visit {
	size_t thread, edge;
};

static void close_knot(struct tarjan *tj, size_t t)
{
	size_t u;

	do {
		u = vec_pop(&tj->stack);
		tj->on_stack[u] = false;
		tj->knot[u] = tj->nknots;
	} while (u != t);
	tj->nknots++;
}

/* Tarjan without recursion: a chain of waiting threads may be long. */
static void search_from(struct tarjan *tj, size_t root)
{
	VEC(struct visit) path = { 0 };

	vec_push(&path, (struct visit){ root, tj->g->first[root] });
	while (path.len) {
		struct visit *v = vec_last(&path);
		size_t t = v->thread;

		if (!tj->index[t]) {
			tj->index[t] = tj->low[t] = ++tj->next;
			vec_push(&tj->stack, t);
			tj->on_stack[t] = true;
		}
		if (v->edge < tj->g->first[t + 1]) {
			size_t e = v->edge++, u = tj->g->edges.data[e].holder;

			if (!usable(tj, e))
				continue;
			if (!tj->index[u])
				vec_push(&path, (struct visit){ u, tj->g->first[u] });
			else if (tj->on_stack[u])
				tj->low[t] = MIN(tj->low[t], tj->index[u]);
			continue;
		}
		if (tj->low[t] == tj->index[t])
			close_knot(tj, t);
		(void)vec_pop(&path);
		if (path.len) {
			size_t parent = vec_last(&path)->thread;

			tj->low[parent] = MIN(tj->low[parent], tj->low[t]);
		}
	}
	vec_deinit(&path);
}

static void tarjan_run(struct tarjan *tj, const struct graph *g, bool timed)
{
	size_t n = g->s->nthreads + 1;

	*tj = (struct tarjan){ .g = g, .timed = timed };
	tj->index = xcalloc(n, sizeof(size_t));
	tj->low = xcalloc(n, sizeof(size_t));
	tj->knot = xcalloc(n, sizeof(size_t));
	tj->on_stack = xcalloc(n, sizeof(bool));
	for (size_t t = 0; t < g->s->nthreads; t++)
		if (!tj->index[t])
			search_from(tj, t);
}

static void tarjan_deinit(struct tarjan *tj)
{
	free(tj->index);
	free(tj->low);
	free(tj->knot);
	free(tj->on_stack);
	vec_deinit(&tj->stack);
}

/* ---- cycles ---- */

struct cycles VEC_FIELDS(struct wait_cycle);

/* The shortest way from `start` back to itself inside its knot; false when there is none. */
static bool shortest_cycle(const struct tarjan *tj, size_t start, struct wait_cycle *ret)
{
	const struct graph *g = tj->g;
	size_t n = g->s->nthreads, found = SIZE_MAX;
	size_t *via = xcalloc(n, sizeof(*via)); /* edge + 1 that led here */
	VEC(size_t) queue = { 0 };
	VEC(size_t) back = { 0 };

	vec_push(&queue, start);
	for (size_t q = 0; q < queue.len && found == SIZE_MAX; q++) {
		size_t t = queue.data[q];

		for (size_t e = g->first[t]; e < g->first[t + 1] && found == SIZE_MAX; e++) {
			size_t u = g->edges.data[e].holder;

			if (!usable(tj, e) || tj->knot[u] != tj->knot[start])
				continue;
			if (u == start) {
				found = e;
			} else if (!via[u]) {
				via[u] = e + 1;
				vec_push(&queue, u);
			}
		}
	}
	for (size_t e = found; e != SIZE_MAX;) {
		size_t from = g->edges.data[e].thread;

		vec_push(&back, e);
		e = from == start ? SIZE_MAX : via[from] - 1;
	}
	*ret = (struct wait_cycle){ .len = back.len };
	if (back.len) {
		ret->edges = xcalloc(back.len, sizeof(*ret->edges));
		for (size_t i = 0; i < back.len; i++) {
			ret->edges[i] = g->edges.data[back.data[back.len - 1 - i]];
			ret->timed |= is_timed(g->s, &ret->edges[i]);
		}
	}
	free(via);
	vec_deinit(&queue);
	vec_deinit(&back);
	return ret->len > 0;
}

static bool covers(const struct cycles *cycles, size_t thread)
{
	for (size_t i = 0; i < cycles->len; i++)
		for (size_t k = 0; k < cycles->data[i].len; k++)
			if (cycles->data[i].edges[k].thread == thread)
				return true;
	return false;
}

static void find_cycles(const struct graph *g, bool timed, struct cycles *cycles)
{
	struct tarjan tj;
	bool *done;

	tarjan_run(&tj, g, timed);
	done = xcalloc(tj.nknots + 1, sizeof(*done));
	for (size_t t = 0; t < g->s->nthreads; t++) {
		struct wait_cycle cycle;

		if (done[tj.knot[t]] || !shortest_cycle(&tj, t, &cycle))
			continue;
		done[tj.knot[t]] = true;
		/* in the second pass, what the first one found is found again */
		if (timed && (!cycle.timed || covers(cycles, t)))
			free(cycle.edges);
		else
			vec_push(cycles, cycle);
	}
	free(done);
	tarjan_deinit(&tj);
}

/* ---- stuck: nobody moves ---- */

static bool all_wait(const struct graph *g)
{
	size_t live = 0;

	for (size_t t = 0; t < g->s->nthreads; t++) {
		const struct thread_uses *u = &g->s->threads[t];
		const struct lock_use *wish = thread_wants(u);

		if (u->state == WATCH_EXITED || u->state == WATCH_GHOST)
			continue;
		if (u->state != WATCH_LIVE || !g->blocked[t] || !wish ||
		    wish->flags & (WATCH_TIMED | WATCH_SHARED) || wish->kind == WATCH_SPIN)
			return false;
		live++;
	}
	return live > 0 && g->s->unwatched == 0 && g->s->lost_threads == 0;
}

/* ---- potential inversions, from the history ----
 *
 * Two threads nested the same two locks in opposite orders. Not when a third lock was held around
 * both nestings, which keeps one thread out while the other is inside; and not when one thread did
 * both, which cannot meet itself. Whether the two threads could ever run at the same time is not
 * known. */

static int reversed(const struct lock_order *a, const struct lock_order *b)
{
	return a->outer == b->inner && a->inner == b->outer && a->outer != a->inner;
}

static bool share_gate(const struct lock_order *a, const struct lock_order *b)
{
	for (unsigned i = 0; i < a->ngates; i++)
		for (unsigned k = 0; k < b->ngates; k++)
			if (a->gates[i] == b->gates[k])
				return true;
	return false;
}

static void find_inversions(const struct snapshot *s, struct deadlock *ret)
{
	VEC(struct inversion) found = { 0 };
	struct map seen = { 0 };

	for (size_t i = 0; i < s->nthreads; i++) {
		for (size_t a = 0; a < s->threads[i].norders; a++) {
			const struct lock_order *x = &s->threads[i].orders[a];

			for (size_t j = i + 1; j < s->nthreads; j++) {
				for (size_t b = 0; b < s->threads[j].norders; b++) {
					const struct lock_order *y = &s->threads[j].orders[b];
					uint64_t key = hash_u64(MIN(x->outer, x->inner)) ^
						       MAX(x->outer, x->inner);

					if (!reversed(x, y) || share_gate(x, y) ||
					    map_find(&seen, key))
						continue;
					map_put(&seen, key, 1);
					vec_push(&found, (struct inversion){ { i, j }, { x, y } });
				}
			}
		}
	}
	map_deinit(&seen);
	ret->inversions = found.data;
	ret->ninversions = found.len;
}

/* ---- the whole ---- */

void deadlock_find(const struct snapshot *s, struct deadlock *ret)
{
	struct graph g;
	struct cycles cycles = { 0 };

	*ret = (struct deadlock){ 0 };
	graph_init(&g, s);
	find_cycles(&g, false, &cycles);
	ret->ndeadlocks = cycles.len;
	find_cycles(&g, true, &cycles);
	ret->cycles = cycles.data;
	ret->ncycles = cycles.len;
	ret->stuck = ret->ndeadlocks == 0 && all_wait(&g);
	find_inversions(s, ret);
	graph_deinit(&g);
}

void deadlock_deinit(struct deadlock *d)
{
	for (size_t i = 0; i < d->ncycles; i++)
		free(d->cycles[i].edges);
	free(d->cycles);
	free(d->inversions);
	*d = (struct deadlock){ 0 };
}
