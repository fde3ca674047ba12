/* sym/ir/reach.c - see reach.h.
 *
 * Costs of coming back are a least fixed point over the call graph: at first no call comes back; a
 * function whose cost has fallen has its callers looked at again. Inside a function distances are
 * shortest paths, found backwards from their ends. The published algorithm knows goals in the current
 * procedure or its callers only, and gives a goal inside a callee an infinite distance; a stack says
 * through which calls the way goes, so here each call on it leads on to the next stop. */
#include "sym/ir/reach.h"

#include "base/mem.h"
#include "sym/ir/ir.h"

#include <stdlib.h>
#include <string.h>

enum {
	COST_UNKNOWN = 10,   /* of a call of nobody knows what */
	COST_THROW = 1000,   /* of an exception */
	STATEMENT_LINES = 8, /* compilers may name any line of a statement for a call in it */
	LEFT_OUT_MOST = 3,   /* frames in a row that the dump may lack (tail calls) */
	SUCCESSORS_MOST = 1 << 16,
};

/* ---- control flow ---- */

uint32_t op_successors(const struct ir *ir, const struct function *f, uint32_t pc, uint32_t *ret,
		       uint32_t max)
{
	const struct op *o = &f->ops[pc];
	uint32_t n = 0;

	if (o->code == OP_RET || o->code == OP_UNREACHABLE || o->code == OP_UNSUPPORTED ||
	    o->code == OP_RESUME)
		return 0;
	if (o->code == OP_SWITCH) {
		const struct switch_table *t = &ir->tables.data[o->imm];

		for (uint32_t i = 0; i <= t->n && n < max; i++)
			ret[n++] = t->targets[i];
		return n;
	}
	if (o->code == OP_JMP || o->code == OP_MOVJ) {
		ret[n++] = (uint32_t)o->imm;
		return n;
	}
	if (o->code >= OP_BR && o->code <= OP_BRSLEN) {
		ret[n++] = (uint32_t)o->imm;
		if (n < max)
			ret[n++] = (uint32_t)(o->imm >> 32);
		return n;
	}
	if (o->code == OP_CALL && ir->functions.data[o->b]->never && !f->is_model)
		return 0;
	if (pc + 1 < f->nops)
		ret[n++] = pc + 1;
	return n;
}

static bool is_call(const struct op *o)
{
	return o->code == OP_CALL || o->code == OP_CALLI || o->code == OP_BUILTIN;
}

static uint32_t plus(uint32_t a, uint32_t b)
{
	return a == REACH_NEVER || b == REACH_NEVER || a + b < a ? REACH_NEVER : a + b;
}

/* What it costs to get past an operation. */
static uint32_t cost_of(const struct reach *r, const struct op *o)
{
	if (o->code == OP_CALLI)
		return COST_UNKNOWN;
	if (o->code != OP_CALL)
		return 1;
	if (r->ir->functions.data[o->b]->declared_only)
		return COST_UNKNOWN;
	return plus(1, r->costs[o->b].back ? r->costs[o->b].back[0] : REACH_NEVER);
}

/* Edges backwards: who leads to an operation. */
struct back_edges {
	uint32_t *first, *from; /* from[first[pc] .. first[pc + 1]] */
};

static void back_edges_init(const struct ir *ir, const struct function *f, struct back_edges *ret)
{
	uint32_t *next = xcalloc(SUCCESSORS_MOST, sizeof(*next)), n, *at;

	ret->first = xcalloc(f->nops + 2, sizeof(uint32_t));
	for (uint32_t pc = 0; pc < f->nops; pc++) {
		n = op_successors(ir, f, pc, next, SUCCESSORS_MOST);
		for (uint32_t i = 0; i < n; i++)
			ret->first[next[i] + 1]++;
	}
	for (uint32_t pc = 0; pc < f->nops; pc++)
		ret->first[pc + 1] += ret->first[pc];
	ret->from = xcalloc(ret->first[f->nops] + 1, sizeof(uint32_t));
	at = xmemdup(ret->first, (f->nops + 1) * sizeof(*at));
	for (uint32_t pc = 0; pc < f->nops; pc++) {
		n = op_successors(ir, f, pc, next, SUCCESSORS_MOST);
		for (uint32_t i = 0; i < n; i++)
			ret->from[at[next[i]]++] = pc;
	}
	free(at);
	free(next);
}

static void back_edges_deinit(struct back_edges *b)
{
	free(b->first);
	free(b->from);
}

/* `distance` holds the ends; the rest is filled in. One queue, every operation in it at most once. */
static void shortest(const struct reach *r, const struct function *f,
		     const struct back_edges *edges, uint32_t *distance)
{
	uint32_t *queue = xcalloc(f->nops + 1, sizeof(*queue)), head = 0, len = 0;
	bool *queued = xcalloc(f->nops + 1, sizeof(*queued));

	for (uint32_t pc = 0; pc < f->nops; pc++)
		if (distance[pc] != REACH_NEVER) {
			queue[len++] = pc;
			queued[pc] = true;
		}
	while (len) {
		uint32_t pc = queue[head];

		head = (head + 1) % (f->nops + 1);
		len--;
		queued[pc] = false;
		for (uint32_t i = edges->first[pc]; i < edges->first[pc + 1]; i++) {
			uint32_t from = edges->from[i];
			uint32_t way = plus(distance[pc], cost_of(r, &f->ops[from]));

			if (way >= distance[from])
				continue;
			distance[from] = way;
			if (!queued[from]) {
				queue[(head + len++) % (f->nops + 1)] = from;
				queued[from] = true;
			}
		}
	}
	free(queue);
	free(queued);
}

static uint32_t *fresh_distances(const struct function *f)
{
	uint32_t *ret = xcalloc(f->nops + 1, sizeof(*ret));

	memset(ret, 0xff, (f->nops + 1) * sizeof(*ret));
	return ret;
}

/* ---- coming back ---- */

struct callers {
	uint32_t *first, *who;
};

static void callers_init(const struct reach *r, struct callers *ret)
{
	VEC(uint64_t) pairs = { 0 }; /* callee << 32 | caller */
	uint32_t *at;

	for (uint32_t i = 0; i < r->ncosts; i++) {
		const struct function *f = r->ir->functions.data[i];

		for (uint32_t pc = 0; f->lowered && pc < f->nops; pc++)
			if (f->ops[pc].code == OP_CALL)
				vec_push(&pairs, (uint64_t)(uint32_t)f->ops[pc].b << 32 | i);
	}
	ret->first = xcalloc(r->ncosts + 2, sizeof(uint32_t));
	for (size_t i = 0; i < pairs.len; i++)
		ret->first[(pairs.data[i] >> 32) + 1]++;
	for (uint32_t i = 0; i < r->ncosts; i++)
		ret->first[i + 1] += ret->first[i];
	ret->who = xcalloc(pairs.len + 1, sizeof(uint32_t));
	at = xmemdup(ret->first, (r->ncosts + 1) * sizeof(*at));
	for (size_t i = 0; i < pairs.len; i++)
		ret->who[at[pairs.data[i] >> 32]++] = (uint32_t)pairs.data[i];
	free(at);
	vec_deinit(&pairs);
}

/* The way to the end of each call of f; true when that of the whole function has changed. */
static bool come_back(struct reach *r, const struct function *f)
{
	uint32_t *old = r->costs[f->index].back, *now = fresh_distances(f);
	struct back_edges edges;
	bool changed;

	for (uint32_t pc = 0; pc < f->nops; pc++)
		if (f->ops[pc].code == OP_RET)
			now[pc] = 1;
		else if (f->ops[pc].code == OP_RESUME)
			now[pc] = COST_THROW;
	back_edges_init(r->ir, f, &edges);
	shortest(r, f, &edges, now);
	back_edges_deinit(&edges);
	changed = !old || old[0] != now[0];
	free(old);
	r->costs[f->index].back = now;
	return changed;
}

static void come_back_all(struct reach *r)
{
	uint32_t *queue = xcalloc(r->ncosts + 1, sizeof(*queue)), head = 0, len = 0;
	bool *queued = xcalloc(r->ncosts + 1, sizeof(*queued));
	struct callers callers;

	callers_init(r, &callers);
	for (uint32_t i = 0; i < r->ncosts; i++)
		if (r->ir->functions.data[i]->lowered) {
			queue[len++] = i;
			queued[i] = true;
		}
	while (len) {
		uint32_t i = queue[head];

		head = (head + 1) % (r->ncosts + 1);
		len--;
		queued[i] = false;
		if (!come_back(r, r->ir->functions.data[i]))
			continue;
		for (uint32_t k = callers.first[i]; k < callers.first[i + 1]; k++) {
			uint32_t who = callers.who[k];

			if (!queued[who]) {
				queue[(head + len++) % (r->ncosts + 1)] = who;
				queued[who] = true;
			}
		}
	}
	free(callers.first);
	free(callers.who);
	free(queue);
	free(queued);
}

/* ---- stops ---- */

static bool is_line(const struct reach *r, uint32_t line, uint32_t depth)
{
	uint32_t want = r->points[depth].line, away = line > want ? line - want : want - line;

	if (r->slack == REACH_NEVER || !want)
		return true;
	return away <= (depth + 1 < r->npoints ? r->slack : 0);
}

static bool is_point(const struct reach *r, uint32_t place, uint32_t depth)
{
	const struct ir_place *p = &r->ir->places.data[place];

	return depth < r->npoints && is_line(r, p->line, depth) &&
	       !strcmp(r->ir->names.text[p->function], r->points[depth].function);
}

/* How many frames of the goal an operation stands for, the outermost of them being number `depth`;
 * 0 = it is not on the goal's stack. */
static uint32_t frames_here(const struct reach *r, const struct function *f, uint32_t pc,
			    uint32_t depth)
{
	uint32_t place = f->src[pc].place, n = 0, i = 0;

	for (uint32_t p = place; p; p = r->ir->places.data[p].outer)
		n++;
	for (uint32_t p = place; p; p = r->ir->places.data[p].outer, i++)
		if (!is_point(r, p, depth + n - 1 - i))
			return 0;
	return n;
}

/* Is the function itself frame number `depth` of the goal? */
static bool is_function(const struct reach *r, const struct function *f, uint32_t depth)
{
	for (uint32_t pc = 0; pc < f->nops && depth < r->npoints; pc++) {
		uint32_t p = f->src[pc].place;

		if (!p)
			continue;
		while (r->ir->places.data[p].outer)
			p = r->ir->places.data[p].outer;
		return !strcmp(r->ir->names.text[r->ir->places.data[p].function],
			       r->points[depth].function);
	}
	return false;
}

static uint32_t stop_get(struct reach *r, const struct function *f, uint32_t depth,
			 unsigned left_out);

/* The stop that a call at pc leads to; REACH_NEVER = none. A pointer may mean every function that the
 * goal has there. */
static uint32_t stop_behind(struct reach *r, const struct op *o, uint32_t depth, unsigned left_out)
{
	const struct function *callee;

	if (o->code == OP_CALL) {
		callee = r->ir->functions.data[o->b];
		return callee->lowered && !callee->is_model ? stop_get(r, callee, depth, left_out)
							    : REACH_NEVER;
	}
	if (o->code != OP_CALLI)
		return REACH_NEVER;
	for (uint32_t i = 0; i < r->ncosts; i++) {
		callee = r->ir->functions.data[i];
		if (callee->lowered && !callee->is_model && is_function(r, callee, depth))
			return stop_get(r, callee, depth, 0);
	}
	return REACH_NEVER;
}

static void find_sites(struct reach *r, const struct function *f, uint32_t stop, unsigned left_out)
{
	uint32_t depth = r->stops.data[stop].depth;
	bool own = is_function(r, f, depth);

	for (uint32_t pc = 0; pc < f->nops; pc++) {
		uint32_t n = own ? frames_here(r, f, pc, depth) : 0, behind = REACH_NEVER;

		if (own && !n)
			continue;
		if (n && depth + n == r->npoints) {
			r->stops.data[stop].here[pc] = 1;
			r->stops.data[stop].distance[pc] = 0;
			r->stops.data[stop].possible = true;
			continue;
		}
		/* a function that the dump has no frame of: its call was made a jump */
		if (is_call(&f->ops[pc]) && (own || (r->tails && left_out < LEFT_OUT_MOST)))
			behind = stop_behind(r, &f->ops[pc], depth + n, own ? 0 : left_out + 1);
		if (behind == REACH_NEVER || !r->stops.data[behind].possible)
			continue;
		r->stops.data[stop].next[pc] = behind + 1;
		r->stops.data[stop].distance[pc] = plus(1, r->stops.data[behind].distance[0]);
		r->stops.data[stop].possible = true;
	}
}

static uint32_t stop_get(struct reach *r, const struct function *f, uint32_t depth,
			 unsigned left_out)
{
	struct back_edges edges;
	uint32_t stop;

	for (uint32_t i = 0; i < r->stops.len; i++)
		if (r->stops.data[i].function == f->index && r->stops.data[i].depth == depth)
			return i;
	vec_push(&r->stops, (struct reach_stop){ .function = f->index,
						 .depth = depth,
						 .distance = fresh_distances(f),
						 .next = xcalloc(f->nops + 1, sizeof(uint32_t)),
						 .here = xcalloc(f->nops + 1, 1) });
	stop = (uint32_t)r->stops.len - 1;
	find_sites(r, f, stop, left_out);
	if (r->stops.data[stop].possible) {
		back_edges_init(r->ir, f, &edges);
		shortest(r, f, &edges, r->stops.data[stop].distance);
		back_edges_deinit(&edges);
	}
	return stop;
}

/* ---- the whole ---- */

static void clear_stops(struct reach *r)
{
	for (size_t i = 0; i < r->stops.len; i++) {
		free(r->stops.data[i].distance);
		free(r->stops.data[i].next);
		free(r->stops.data[i].here);
	}
	vec_clear(&r->stops);
}

static bool find_stops(struct reach *r)
{
	uint32_t first;

	for (uint32_t i = 0; i < r->ncosts; i++) {
		const struct function *f = r->ir->functions.data[i];

		if (!f->lowered || f->is_model || !is_function(r, f, 0))
			continue;
		first = stop_get(r, f, 0, 0);
		if (r->stops.data[first].possible)
			return true;
		clear_stops(r);
	}
	return false;
}

static bool jumps(const struct ir *ir)
{
	for (size_t i = 0; i < ir->functions.len; i++) {
		const struct function *f = ir->functions.data[i];

		for (uint32_t pc = 0; f->lowered && !f->is_model && pc < f->nops; pc++)
			if (f->ops[pc].code == OP_RESUME || f->ops[pc].code == OP_LANDING ||
			    (f->ops[pc].code == OP_BUILTIN && f->ops[pc].b == BI_LONGJMP))
				return true;
	}
	return false;
}

bool reach_init(struct reach *r, struct ir *ir, const struct sym_point *points, uint32_t n)
{
	static const uint32_t slacks[] = { 0, STATEMENT_LINES, REACH_NEVER };

	*r = (struct reach){ .ir = ir, .points = points, .npoints = n };
	for (size_t i = 0; i < ir->functions.len; i++)
		if (!ir->functions.data[i]->declared_only && !ir->functions.data[i]->lowered)
			ir_lower(ir, ir->functions.data[i]);
	r->ncosts = (uint32_t)ir->functions.len;
	r->costs = xcalloc(r->ncosts + 1, sizeof(*r->costs));
	r->exact = !jumps(ir);
	come_back_all(r);
	if (!n)
		return false;
	/* frames may be missing in the dump, and lines of calls may differ: the strictest view that
	 * the program has counts */
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(slacks); i++) {
		r->tails = i & 1;
		r->slack = slacks[i / 2];
		if (find_stops(r))
			return true;
	}
	return false;
}

void reach_deinit(struct reach *r)
{
	clear_stops(r);
	vec_deinit(&r->stops);
	for (uint32_t i = 0; i < r->ncosts; i++)
		free(r->costs[i].back);
	free(r->costs);
	r->costs = NULL;
	r->ncosts = 0;
}

/* The way back out of a frame: from where it is. */
static uint32_t way_back(const struct reach *r, const struct reach_frame *f)
{
	return f->function < r->ncosts && r->costs[f->function].back
		       ? r->costs[f->function].back[f->pc]
		       : COST_UNKNOWN;
}

uint32_t reach_distance(const struct reach *r, const struct reach_frame *frames, uint32_t n,
			bool *at)
{
	uint32_t best = REACH_NEVER, stop = REACH_NEVER, last = 0, out = 0;

	*at = false;
	/* the frames that are on the goal's stack, from the outermost in: the best way begins in one
	 * of them, after all frames inside it have returned; so count these from the inside */
	for (uint32_t i = 0; i < n; i++) {
		if (stop == REACH_NEVER) {
			if (i && last)
				break;
			if (frames[i].function != r->stops.data[0].function)
				continue;
			stop = 0;
			last = 1;
		}
		out = 0;
		for (uint32_t k = i + 1; k < n; k++)
			out = plus(out, way_back(r, &frames[k]));
		best = MIN(best, plus(out, r->stops.data[stop].distance[frames[i].pc]));
		if (i + 1 == n)
			*at = r->stops.data[stop].here[frames[i].pc];
		else if (!frames[i].pc || !r->stops.data[stop].next[frames[i].pc - 1] ||
			 r->stops.data[r->stops.data[stop].next[frames[i].pc - 1] - 1].function !=
				 frames[i + 1].function) {
			/* the goal itself may be a call of a library, whose frames are models */
			*at = frames[i].pc && r->stops.data[stop].here[frames[i].pc - 1];
			break;
		} else {
			stop = r->stops.data[stop].next[frames[i].pc - 1] - 1;
		}
	}
	if (!last) { /* before the goal's first function: it is still to be called */
		best = 0;
		for (uint32_t i = 0; i < n; i++)
			best = plus(best, way_back(r, &frames[i]));
		best = plus(best == REACH_NEVER ? COST_THROW : best, r->stops.data[0].distance[0]);
	}
	if (*at)
		best = 0;
	return best;
}

/* ---- ways to some operations ---- */

/* Distances inside f once more: its calls may lead there now. True when the way from its beginning has
 * changed. */
static bool look_again(const struct reach *r, const struct function *f, struct reach_ways *w)
{
	uint32_t *now = w->distance[f->index] ? w->distance[f->index] : fresh_distances(f);
	uint32_t before = now[0];
	struct back_edges edges;
	bool any = false;

	for (uint32_t pc = 0; pc < f->nops; pc++) {
		const struct op *o = &f->ops[pc];

		if (o->code == OP_CALL && w->distance[o->b])
			now[pc] = MIN(now[pc], plus(1, w->distance[o->b][0]));
		any |= now[pc] != REACH_NEVER;
	}
	if (any) {
		back_edges_init(r->ir, f, &edges);
		shortest(r, f, &edges, now);
		back_edges_deinit(&edges);
		w->distance[f->index] = now;
	} else if (!w->distance[f->index]) {
		free(now);
	}
	return any && now[0] != before;
}

void reach_ways_init(struct reach_ways *w, const struct reach *r, const struct reach_place *to,
		     size_t n)
{
	VEC(uint32_t) queue = { 0 };
	struct callers callers;
	size_t own; /* functions with places of their own: they may begin with one */

	*w = (struct reach_ways){ xcalloc(r->ncosts + 1, sizeof(uint32_t *)), r->ncosts };
	callers_init(r, &callers);
	for (size_t i = 0; i < n; i++) {
		const struct function *f = r->ir->functions.data[to[i].function];

		if (!w->distance[f->index]) {
			w->distance[f->index] = fresh_distances(f);
			vec_push(&queue, f->index);
		}
		w->distance[f->index][to[i].pc] = 0;
	}
	own = queue.len;
	for (size_t i = 0; i < queue.len; i++) {
		uint32_t f = queue.data[i];

		if (!look_again(r, r->ir->functions.data[f], w) && i >= own)
			continue;
		for (uint32_t k = callers.first[f]; k < callers.first[f + 1]; k++)
			vec_push(&queue, callers.who[k]);
	}
	free(callers.first);
	free(callers.who);
	vec_deinit(&queue);
}

void reach_ways_deinit(struct reach_ways *w)
{
	for (uint32_t i = 0; i < w->nfunctions; i++)
		free(w->distance[i]);
	free(w->distance);
	*w = (struct reach_ways){ 0 };
}

uint32_t reach_ways_distance(const struct reach_ways *w, const struct reach *r,
			     const struct reach_frame *frames, uint32_t n)
{
	uint32_t best = REACH_NEVER, out = 0;

	for (uint32_t i = n; i-- > 0 && out < best;) {
		const uint32_t *d =
			frames[i].function < w->nfunctions ? w->distance[frames[i].function] : NULL;

		if (d)
			best = MIN(best, plus(out, d[frames[i].pc]));
		out = plus(out, way_back(r, &frames[i]));
	}
	return best;
}
