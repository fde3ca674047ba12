/* order/search/forward.c - forward search: depth first over blocks that can run now without breaking anything.
 *
 * A block is one event, or a whole critical section: most sections of real traces run undisturbed,
 * and where they must not, "fine" blocks stop before accesses that some thread makes without the
 * lock. At each node every thread's next block is tried; a block is a choice when each event in it
 * can happen and each path condition that becomes known holds. A block nobody else can notice (it
 * writes nothing, and what it read is used up by its own conditions) is taken without choice.
 * Otherwise choices are sorted by the damage they do: how many of the next few reads of other
 * threads would like the old value of a cell and dislike the new one, weighted by how often each
 * read was in the way before.
 *
 * Dead end: nobody can run. Blame the steps that last touched what each thread is waiting for, and
 * jump back to the latest of them (conflict-directed backjumping: the blame is inherited when that
 * step runs out of choices too). States seen dead are remembered by hash. All of this is a
 * heuristic for finding solutions: a search that fails proves nothing. Restarts follow the Luby
 * sequence with growing noise. */
#include "order/search/forward.h"
#include "base/log.h"
#include "order/learn/luby.h"

#include "order/search/oracle.h"
#include "order/search/relevance.h"

#include <time.h>

#define LOOKAHEAD 24
#define TABLE	  (1 << 18)
#define FINE	  (UINT32_C(1) << 31)

struct step {
	struct run_mark mark;
	size_t choices; /* first in gate.choices */
	uint32_t nchoices, next;
	uint64_t hash;
	struct VEC_FIELDS(uint32_t) blame; /* earlier steps */
};

struct stale { /* a cell the block at hand writes: what it held before */
	uint32_t stamp;
	uint64_t old;
};

struct forward {
	const struct problem *p;
	const struct facts *f;
	struct run run;
	struct step *steps;
	uint32_t nsteps;
	VEC(uint32_t) choices; /* thread, with FINE */
	float *weight;	       /* per event: how often this read was in the way */
	struct relevance rel;
	struct oracle *oracle;
	size_t split_from;   /* from this length on, blocks may be split */
	uint8_t *quiet;	     /* per event: the block that starts here goes unnoticed */
	uint8_t *was_blamed; /* per cell: its value has been in the way */
	uint8_t *breaks;     /* per event: a fine block ends before it */
	uint64_t *dead;	     /* hashes of dead states */
	struct stale *stale; /* per cell */
	uint32_t stamp;
	uint8_t *blamed; /* per step */
	VEC(uint32_t) blame;
	VEC(uint32_t) best; /* longest start seen */
	float *estimate;    /* per event: its probable place, in events */
	float haste;	    /* how much being early or late counts */
	bool loose;	    /* single events instead of read-modify-writes */
	const uint32_t *guide;
	uint64_t random, nodes, dead_ends;
	uint32_t restarts, current;
	size_t window; /* how far before a wrong outcome blocks may be split */
	float noise;
	double deadline;
	uint32_t failed_event; /* of the last block that did not run */
	enum run_result failed;
};

static uint64_t rnd(struct forward *g)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return g->random;
}

/* ---- what is known before the search ---- */

/* Cells that not every access protects by one lock: there a section may be interrupted. */
static void find_breaks(struct forward *g)
{
	const struct problem *p = g->p;
	uint32_t *lock = xcalloc(p->ncells + 1, sizeof(*lock));
	const uint32_t unseen = NONE, none = NONE - 1;

	for (uint32_t c = 0; c < p->ncells; c++)
		lock[c] = unseen;
	for (uint32_t e = 0; e < p->ne; e++) {
		uint32_t c = p->ev[e].cell;
		bool held = false;
		if (c == NONE || lock[c] == none)
			continue;
		for (uint32_t i = p->held.first[e]; i < p->held.first[e + 1]; i++) {
			uint32_t l = p->sections.data[p->held.item[i]].lock;
			if (lock[c] == unseen)
				lock[c] = l;
			held |= lock[c] == l;
		}
		if (!held)
			lock[c] = none;
	}
	for (uint32_t e = 0; e < p->ne; e++) {
		const struct ev *v = &p->ev[e];
		g->breaks[e] = (v->cell != NONE && lock[v->cell] == none) || v->cond != NONE;
	}
	free(lock);
}

static uint32_t block_end(const struct forward *g, uint32_t e, bool fine);
static bool unnoticed(const struct forward *g, uint32_t e, uint32_t end);

struct forward *forward_new(const struct problem *p, const struct facts *f, uint64_t seed)
{
	struct forward *g = xcalloc(1, sizeof(*g));

	g->p = p;
	g->f = f;
	g->random = hash_u64(seed + 88172645463325252u) | 1;
	run_init(&g->run, p);
	g->steps = xcalloc(p->ne + 2, sizeof(*g->steps));
	g->weight = xcalloc(p->ne + 1, sizeof(*g->weight));
	g->quiet = xcalloc(p->ne + 1, 1);
	g->was_blamed = xcalloc(p->ncells + 1, 1);
	g->breaks = xcalloc(p->ne + 1, 1);
	g->dead = xcalloc(TABLE, sizeof(*g->dead));
	g->stale = xcalloc(p->ncells + 1, sizeof(*g->stale));
	g->blamed = xcalloc(p->ne + 2, 1);
	for (uint32_t e = 0; e < p->ne; e++)
		g->weight[e] = 1;
	g->estimate = problem_estimate(p);
	for (uint32_t e = 0; e < p->ne; e++)
		g->estimate[e] *= (float)p->ne;
	relevance_init(&g->rel, p);
	g->run.classes = g->rel.classes;
	g->rel.classes = (struct lists){ 0 };
	g->oracle = oracle_new(p, f, &g->rel);
	g->split_from = SIZE_MAX;
	g->window = 64;
	find_breaks(g);
	for (uint32_t e = 0; e < p->ne; e++)
		g->quiet[e] = unnoticed(g, e, block_end(g, e, false));
	return g;
}

void forward_free(struct forward *g)
{
	if (!g)
		return;
	for (uint32_t i = 0; i < g->p->ne + 2; i++)
		vec_deinit(&g->steps[i].blame);
	run_deinit(&g->run);
	free(g->steps);
	free(g->weight);
	free(g->estimate);
	oracle_free(g->oracle);
	relevance_deinit(&g->rel);
	free(g->quiet);
	free(g->was_blamed);
	free(g->breaks);
	free(g->dead);
	free(g->stale);
	free(g->blamed);
	vec_deinit(&g->choices);
	vec_deinit(&g->blame);
	vec_deinit(&g->best);
	free(g);
}

void forward_set_guide(struct forward *g, const uint32_t *position)
{
	g->guide = position;
}

uint64_t forward_nodes(const struct forward *g)
{
	return g->nodes;
}

uint64_t forward_dead_ends(const struct forward *g)
{
	return g->dead_ends;
}

/* ---- blocks ---- */

/* End (exclusive) of the block that starts with e. */
static uint32_t block_end(const struct forward *g, uint32_t e, bool fine)
{
	const struct problem *p = g->p;
	uint32_t end = e + 1;

	if (p->ev[e].opens == NONE)
		return fine || g->loose ? end : g->rel.whole[e];
	uint32_t close = p->sections.data[p->ev[e].opens].close;
	uint32_t stop = close == NONE ? p->first[p->ev[e].thread + 1] : close + 1;
	if (!fine)
		return stop;
	while (end < stop && !g->breaks[end])
		end++;
	return end;
}

/* Execute the next block of thread t; on failure nothing has happened. */
static bool run_block(struct forward *g, uint32_t t, bool fine)
{
	uint32_t e = run_next(&g->run, t), end = block_end(g, e, fine);
	struct run_mark mark = run_mark(&g->run);

	for (uint32_t x = e; x < end; x++) {
		enum run_result r = run_event(&g->run, x);
		if (r == RUN_OK)
			continue;
		g->failed = r;
		g->failed_event = x;
		run_undo(&g->run, mark);
		return false;
	}
	return true;
}

/* Nobody can tell whether this block ran: no choice needed. */
static bool unnoticed(const struct forward *g, uint32_t e, uint32_t end)
{
	const struct problem *p = g->p;

	for (uint32_t x = e; x < end; x++) {
		const struct ev *v = &p->ev[x];
		if (v->cond_part != COND_NOTHING)
			return false;
		if (v->cell == NONE || !g->rel.matters[v->cell])
			continue;
		if (v->value != TERM_NONE || g->rel.last_use[x] >= end)
			return false;
	}
	return p->ev[e].opens == NONE || p->sections.data[p->ev[e].opens].close != NONE;
}

/* How much do the writes since `mark` hurt (or help) what other threads read next? */
static float damage(struct forward *g, uint32_t t, struct run_mark mark)
{
	const struct problem *p = g->p;
	bool writes = false;
	float sum = 0.5f;

	g->stamp++;
	for (size_t i = mark.log; i < g->run.log.len; i++) {
		const struct run_undo *u = &g->run.log.data[i];
		if (u->what != 0 || g->stale[u->index].stamp == g->stamp)
			continue;
		g->stale[u->index] = (struct stale){ g->stamp, u->old };
		writes = true;
	}
	if (!writes)
		return 0;
	for (uint32_t t2 = 0; t2 < p->nt; t2++) {
		uint32_t from = run_next(&g->run, t2);
		if (t2 == t || from == NONE)
			continue;
		uint32_t to = MIN(from + LOOKAHEAD, p->first[t2 + 1]);
		for (uint32_t x = from; x < to; x++) {
			const struct ev *v = &p->ev[x];
			if (v->symbol == NONE || g->stale[v->cell].stamp != g->stamp ||
			    p->unary.first[x] == p->unary.first[x + 1] ||
			    (p->prev_write[x] != NONE && p->prev_write[x] >= from))
				continue;
			bool before = unary_accepts(p, x, g->stale[v->cell].old);
			bool after = unary_accepts(p, x, g->run.mem[v->cell]);
			if (before != after)
				sum += (before ? 1 : -1) * g->weight[x] /
				       (float)(1 + (x - from) / 4);
		}
	}
	return sum;
}

/* A signal that comes too early is lost. Is it wanted now, or soon? */
static float signal_cost(struct forward *g, uint32_t t, uint32_t cond)
{
	const struct problem *p = g->p;
	float soon = 0;

	for (uint32_t t2 = 0; t2 < p->nt; t2++) {
		uint32_t from = run_next(&g->run, t2);
		if (t2 == t || from == NONE)
			continue;
		if (p->ev[from].cond == cond && p->ev[from].cond_part == COND_WAKE) {
			if (!run_signalled(&g->run, from))
				return 0;
			continue;
		}
		uint32_t to = MIN(from + LOOKAHEAD, p->first[t2 + 1]);
		for (uint32_t x = from; x < to; x++)
			if (p->ev[x].cond == cond && p->ev[x].cond_part == COND_WAKE) {
				soon += g->weight[x] / (float)(1 + (x - from) / 8);
				break;
			}
	}
	return soon;
}

/* Has the block since `mark` left a cell in a state that nobody can go on from? */
static bool doomed(struct forward *g, struct run_mark mark, uint32_t *cell)
{
	for (size_t i = mark.log; i < g->run.log.len; i++) {
		const struct run_undo *u = &g->run.log.data[i];
		if (u->what != 0 || g->run.mem[u->index] == u->old)
			continue;
		*cell = u->index;
		if (!oracle_alive(g->oracle, &g->run, u->index))
			return true;
	}
	return false;
}

/* ---- choices ---- */

static void insert_choice(struct forward *g, struct step *s, float *score, uint32_t choice, float f)
{
	uint32_t k = s->nchoices++;
	uint32_t *c;

	vec_push(&g->choices, choice);
	c = &g->choices.data[s->choices];
	for (; k > 0 && score[k - 1] > f; k--) {
		score[k] = score[k - 1];
		c[k] = c[k - 1];
	}
	score[k] = f;
	c[k] = choice;
}

static bool splittable(const struct forward *g, uint32_t e)
{
	return block_end(g, e, true) < block_end(g, e, false);
}

static void collect_choices(struct forward *g, struct step *s)
{
	const struct problem *p = g->p;
	float score[2 * p->nt + 2];

	for (uint32_t d = 0; d < p->nt; d++) {
		uint32_t t = (g->current + d) % p->nt, e = run_next(&g->run, t);
		struct run_mark mark = run_mark(&g->run);
		uint32_t cell;
		float f;

		if (e == NONE || !run_block(g, t, false))
			continue;
		if (doomed(g, mark, &cell)) {
			run_undo(&g->run, mark);
			continue;
		}
		f = damage(g, t, mark);
		run_undo(&g->run, mark);
		if (p->ev[e].cond_part == COND_SIGNAL || p->ev[e].cond_part == COND_BROADCAST)
			f += signal_cost(g, t, p->ev[e].cond);
		if (t == g->current)
			f -= 0.1f;
		f += g->haste * g->estimate[e];
		f += (float)(rnd(g) % 1000) * 0.001f * g->noise;
		if (g->guide)
			f = (float)g->guide[e] + (float)(rnd(g) % 1000) * 0.02f * g->noise;
		insert_choice(g, s, score, t, f);
	}
	if (!g->guide && (g->restarts & 15) != 15 && g->run.order.len < g->split_from)
		return;
	for (uint32_t t = 0; t < p->nt; t++) {
		uint32_t e = run_next(&g->run, t);
		float f = 1e20f;

		if (e == NONE || !splittable(g, e))
			continue;
		if (g->guide) { /* does the guide interrupt this section? */
			uint32_t end = block_end(g, e, false) - 1;
			if (g->guide[end] - g->guide[e] != end - e)
				f = (float)g->guide[e] - 0.1f;
		}
		insert_choice(g, s, score, t | FINE, f);
	}
}

/* Take the next choice of a step that can run. */
static bool take(struct forward *g, uint32_t index)
{
	struct step *s = &g->steps[index];

	while (s->next < s->nchoices) {
		uint32_t c = g->choices.data[s->choices + s->next++];
		g->run.step = index;
		if (!run_block(g, c & ~FINE, c & FINE))
			continue;
		g->current = c & ~FINE;
		return true;
	}
	return false;
}

/* ---- dead ends ---- */

static void blame_step(struct forward *g, uint32_t step)
{
	if (step >= g->nsteps || g->blamed[step])
		return;
	g->blamed[step] = 1;
	vec_push(&g->blame, step);
}

static void clear_blame(struct forward *g)
{
	for (size_t i = 0; i < g->blame.len; i++)
		g->blamed[g->blame.data[i]] = 0;
	g->blame.len = 0;
}

struct blame_symbols {
	struct forward *g;
	uint32_t block; /* first event of the block that failed */
};

static void blame_symbol(void *ctx, uint32_t symbol)
{
	struct blame_symbols *b = ctx;
	struct forward *g = b->g;
	uint32_t r = g->p->reader[symbol];

	if (r == NONE)
		return;
	g->was_blamed[g->p->ev[r].cell] = 1;
	if (g->p->ev[r].thread == g->p->ev[b->block].thread && r >= b->block)
		blame_step(g, g->run.touched[g->p->ev[r].cell]);
	else
		blame_step(g, g->run.step_of[r]);
}

/* The last steps that touched a cell, one per thread. */
static void blame_cell(struct forward *g, uint32_t cell)
{
	const struct problem *p = g->p;

	g->was_blamed[cell] = 1;
	blame_step(g, g->run.touched[cell]);
	for (uint32_t t = 0; t < p->nt; t++) {
		uint32_t i = write_at_or_after(p, cell, p->first[t] + g->run.pos[t]);
		if (i > p->writes.first[cell] && p->writes.item[i - 1] >= p->first[t])
			blame_step(g, g->run.step_of[p->writes.item[i - 1]]);
	}
}

/* Who keeps each thread from running? */
static void blame_all(struct forward *g, bool heavier)
{
	const struct problem *p = g->p;

	for (uint32_t t = 0; t < p->nt; t++) {
		uint32_t e = run_next(&g->run, t);
		if (e == NONE)
			continue;
		struct run_mark mark = run_mark(&g->run);
		g->run.step = g->nsteps;
		if (run_block(g, t, false)) { /* was a choice, or would have been doomed */
			uint32_t cell;
			bool hopeless = doomed(g, mark, &cell);
			run_undo(&g->run, mark);
			if (hopeless)
				blame_cell(g, cell);
			continue;
		}
		switch (g->failed) {
		case RUN_LOCKED:
			blame_step(g, g->run.touched[touch_lock(&g->run, g->run.blamed)]);
			break;
		case RUN_UNSIGNALLED:
			if (heavier)
				g->weight[g->failed_event] += 1;
			blame_step(g, g->run.touched[touch_cond(&g->run, g->run.blamed)]);
			break;
		case RUN_CONDITION: {
			struct blame_symbols b = { g, e };
			if (heavier)
				g->weight[g->failed_event] += 1;
			if (p->conditions.data[g->run.blamed].outcome)
				g->split_from =
					MIN(g->split_from,
					    g->run.order.len - MIN(g->run.order.len, g->window));
			term_each_symbol(&p->terms, p->conditions.data[g->run.blamed].term,
					 blame_symbol, &b);
			break;
		}
		default:
			break;
		}
	}
}

static uint32_t latest_blamed(const struct forward *g)
{
	uint32_t j = NONE;

	for (size_t i = 0; i < g->blame.len; i++)
		if (g->blame.data[i] < g->nsteps && (j == NONE || g->blame.data[i] > j))
			j = g->blame.data[i];
	return j;
}

/* Jump back to a step with a choice left. False: none. */
static bool backjump(struct forward *g, uint64_t limit)
{
	for (;;) {
		uint32_t j = latest_blamed(g);
		if (j == NONE || g->nodes > limit)
			return false;
		struct step *s = &g->steps[j];
		run_undo(&g->run, s->mark);
		g->nsteps = j;
		for (size_t i = 0; i < g->blame.len && s->blame.len < 4096; i++)
			if (g->blame.data[i] < j)
				vec_push(&s->blame, g->blame.data[i]);
		g->choices.len = s->choices + s->nchoices;
		g->nodes++;
		if (take(g, j)) {
			g->nsteps = j + 1;
			return true;
		}
		clear_blame(g);
		for (size_t i = 0; i < s->blame.len; i++)
			blame_step(g, s->blame.data[i]);
		blame_all(g, false);
		g->dead[s->hash & (TABLE - 1)] = s->hash;
	}
}

/* ---- search ---- */

static void keep_best(struct forward *g)
{
	if (g->run.order.len <= g->best.len)
		return;
	g->best.len = 0;
	for (size_t i = 0; i < g->run.order.len; i++)
		vec_push(&g->best, g->run.order.data[i]);
}

/* Run whatever nobody notices. */
static void drain(struct forward *g)
{
	g->run.step = g->nsteps ? g->nsteps - 1 : 0;
	for (bool again = true; again;) {
		again = false;
		for (uint32_t t = 0; t < g->p->nt; t++)
			for (;;) {
				uint32_t e = run_next(&g->run, t);
				if (e == NONE || !g->quiet[e] || !run_block(g, t, false))
					break;
				again = true;
			}
	}
}

static bool search_once(struct forward *g, uint64_t limit)
{
	run_reset(&g->run);
	memcpy(g->run.hashed, g->was_blamed, g->p->ncells);
	g->nsteps = 0;
	g->choices.len = 0;
	g->current = 0;
	memset(g->dead, 0, TABLE * sizeof(*g->dead));
	while (g->run.order.len < g->p->ne) {
		struct step *s = &g->steps[g->nsteps];

		if (++g->nodes > limit ||
		    ((g->nodes & 255) == 0 && clock_seconds() > g->deadline)) {
			keep_best(g);
			return false;
		}
		if (!g->guide)
			drain(g);
		if (g->run.order.len == g->p->ne)
			break;
		s->mark = run_mark(&g->run);
		s->choices = g->choices.len;
		s->nchoices = s->next = 0;
		s->hash = hash_u64(g->run.hash + 12345) | 1;
		s->blame.len = 0;
		bool seen = g->dead[s->hash & (TABLE - 1)] == s->hash;
		if (!seen)
			collect_choices(g, s);
		if (take(g, g->nsteps)) {
			g->nsteps++;
			continue;
		}
		g->dead_ends++;
		keep_best(g);
		clear_blame(g);
		if (seen && g->nsteps)
			blame_step(g, g->nsteps - 1);
		else
			blame_all(g, true);
		g->dead[s->hash & (TABLE - 1)] = s->hash;
		if (!backjump(g, limit))
			return false;
	}
	keep_best(g);
	return true;
}

/* Every restart has a temper of its own. */
static void vary(struct forward *g)
{
	static const float haste[] = { 0, 0, 0.02f, 0, 0.1f };

	g->noise = g->restarts ? 0.1f + 0.4f * (float)(g->restarts % 5) : 0;
	g->haste = haste[g->restarts % 5];
	g->loose = g->restarts % 4 == 3;
}

bool forward_search(struct forward *g, double deadline)
{
	g->deadline = deadline;
	do {
		uint64_t limit = g->nodes + luby(g->restarts + 1) * (g->p->ne + 1000u);
		vary(g);
		if (search_once(g, limit))
			return true;
		g->restarts++;
		g->window *= 2;
		g->split_from = SIZE_MAX;
	} while (clock_seconds() < deadline);
	return false;
}

/* Any thread whose next event can happen at all; 1: conditions may break, 2: locks too. */
static void force_one(struct forward *g)
{
	const struct problem *p = g->p;

	for (g->run.force = 1; g->run.force <= 2; g->run.force++) {
		uint32_t start = (uint32_t)(rnd(g) % p->nt);
		for (uint32_t d = 0; d < p->nt; d++) {
			uint32_t t = (start + d) % p->nt, e = run_next(&g->run, t);
			if (e != NONE && run_event(&g->run, e) == RUN_OK) {
				g->run.force = 0;
				g->current = t;
				return;
			}
		}
	}
	BUG("the order edges form a cycle");
}

const uint32_t *forward_order(struct forward *g)
{
	const struct problem *p = g->p;

	run_reset(&g->run);
	g->run.force = 2;
	for (size_t i = 0; i < g->best.len; i++) {
		enum run_result r = run_event(&g->run, g->best.data[i]);
		assert(r == RUN_OK);
		(void)r;
	}
	g->run.force = 0;
	while (g->run.order.len < p->ne) {
		uint32_t best = NONE;
		float least = 1e30f;
		for (uint32_t d = 0; d < p->nt; d++) {
			uint32_t t = (g->current + d) % p->nt;
			struct run_mark mark = run_mark(&g->run);
			if (run_next(&g->run, t) == NONE || !run_block(g, t, false))
				continue;
			float f = damage(g, t, mark) - (t == g->current ? 0.1f : 0);
			run_undo(&g->run, mark);
			if (f < least) {
				least = f;
				best = t;
			}
		}
		if (best == NONE) {
			force_one(g);
			continue;
		}
		run_block(g, best, false);
		g->current = best;
	}
	return g->run.order.data;
}
