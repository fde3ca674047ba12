/* sym/explore/standing.c - see standing.h. */
#include "sym/explore/standing.h"

#include "base/log.h"

#include <string.h>

enum { STORED_MOST = 8, NEEDS_WITH_STORED = 32 };

uint32_t thread_frames(const struct thread *t, uint32_t pc, struct reach_frame *frames)
{
	uint32_t n = 0;

	for (const struct frame *f = t->top; f && n < FRAMES_MOST; f = f->caller, n++)
		frames[FRAMES_MOST - 1 - n] = (struct reach_frame){ f->f->index, n ? f->pc : pc };
	return n;
}

/* ---- cells ---- */

/* The local variable that the operation at pc of a function made, in one of the calls that are on. */
static const struct object *find_local(const struct state *s, uint32_t function, uint32_t pc)
{
	for (uint32_t i = 0; i < s->nthreads; i++)
		for (const struct frame *f = s->threads[i].top; f; f = f->caller) {
			if (f->f->index != function)
				continue;
			for (uint32_t id = f->allocas; id;) {
				const struct object *o = memory_find(&s->memory, id);

				if (!o || (o->function == function && o->pc == pc))
					return o;
				id = o->below;
			}
		}
	return NULL;
}

/* How far the cell is from what is wanted; WANT_FAR when there is none. */
static uint32_t cell_gap(const struct intermediate *x, const struct state *s,
			 const struct need *need, struct cell c)
{
	const struct alias_object *a = &x->needs.aliases.objects.data[c.object];
	const struct object *o = NULL;
	uint64_t v = 0;

	if (c.offset == CELL_ANYWHERE)
		return WANT_FAR;
	if (a->kind == ALIAS_GLOBAL)
		o = memory_find(&s->memory, a->pc + 1);
	else if (a->kind == ALIAS_STACK)
		o = find_local(s, a->function, a->pc);
	if (!o || o->freed || (uint64_t)c.offset + need->bytes > o->size)
		return WANT_FAR;
	for (uint32_t i = 0; o->sym && i < need->bytes; i++)
		if (o->sym[c.offset + i])
			return 0;
	memcpy(&v, o->bytes + c.offset, need->bytes);
	return want_gap(&need->want, v);
}

struct standing state_standing(const struct intermediate *x, const struct reach *r,
			       const struct state *s, uint32_t pc, uint32_t *toward)
{
	struct reach_frame room[FRAMES_MOST];
	const struct thread *t = &s->threads[s->current];
	uint32_t n = t->top ? thread_frames(t, pc, room) : 0;
	const struct reach_frame *frames = room + FRAMES_MOST - n;
	struct standing ret = { 0 };

	for (size_t i = 0; i < x->needs.all.len; i++) {
		const struct need *need = &x->needs.all.data[i];
		uint32_t best = WANT_FAR;

		for (size_t k = 0; k < need->cells.len && best; k++)
			best = MIN(best, cell_gap(x, s, need, need->cells.data[k]));
		toward[i] = best ? reach_ways_distance(&x->ways.data[i], r, frames, n) : 0;
		if (!best ||
		    need->local) /* a local one may be met by chance, in a call that leads elsewhere */
			continue;
		ret.unmet++;
		ret.gap += best;
		ret.late += toward[i] == REACH_NEVER ||
			    (x->ahead.data[i].words && best < WANT_FAR &&
			     (best - 1) / need->step > ahead_count(&x->ahead.data[i], frames, n));
	}
	return ret;
}

bool state_lacks(const struct intermediate *x, const struct state *s)
{
	for (size_t i = 0; i < x->needs.all.len; i++) {
		const struct need *need = &x->needs.all.data[i];
		bool global = need->cells.len && !need->stored, met = false;

		for (size_t k = 0; k < need->cells.len && global && !met; k++) {
			struct cell c = need->cells.data[k];

			global = c.offset != CELL_ANYWHERE &&
				 x->needs.aliases.objects.data[c.object].kind == ALIAS_GLOBAL;
			met = !cell_gap(x, s, need, c);
		}
		if (global && !met)
			return true;
	}
	return false;
}

uint32_t state_toward(const struct intermediate *x, const struct reach *r, const struct state *s,
		      uint32_t pc, size_t i)
{
	struct reach_frame frames[FRAMES_MOST];
	uint32_t n;

	if (!s->threads[s->current].top)
		return REACH_NEVER;
	n = thread_frames(&s->threads[s->current], pc, frames);
	return reach_ways_distance(&x->ways.data[i], r, frames + FRAMES_MOST - n, n);
}

/* ---- the whole ---- */

static void log_needs(const struct needs *n)
{
	for (size_t i = 0; i < n->all.len; i++) {
		const struct need *need = &n->all.data[i];
		char where[160] = "";

		ir_where(n->ir, n->ir->functions.data[need->writers.data[0].function],
			 need->writers.data[0].pc, where, sizeof(where));
		log_verbose("need %zu: %u %sbytes, %s %s%llu%s; %zu writers, the first at %s", i,
			    need->bytes, need->local ? "local " : "",
			    op_name((enum opcode)need->want.code), need->want.swapped ? "of " : "",
			    (unsigned long long)need->want.constant,
			    need->want.holds ? "" : " does not hold", need->writers.len, where);
	}
}

void intermediate_init(struct intermediate *x, struct ir *ir, const struct reach *r,
		       const struct sym_goal *goal)
{
	*x = (struct intermediate){ 0 };
	needs_init(&x->needs, ir);
	if (r->stops.len)
		needs_of_goal(&x->needs, r, goal->near_null);
	else
		needs_of_all(&x->needs);
	for (const struct sym_goal *g = goal->next; g; g = g->next) {
		struct reach other;

		if (reach_init(&other, ir, g->points, g->n))
			needs_of_goal(&x->needs, &other, false);
		reach_deinit(&other);
	}
	for (uint32_t i = 0;
	     i < goal->nstored && x->needs.all.len < NEEDS_WITH_STORED && x->stored < STORED_MOST;
	     i++)
		x->stored += needs_of_stored(&x->needs, &goal->stored[i]);
	for (size_t i = 0; i < x->needs.all.len; i++) {
		const struct need *need = &x->needs.all.data[i];

		struct ahead ahead = { 0 };

		reach_ways_init(vec_add(&x->ways), r, need->writers.data, need->writers.len);
		if (need->step)
			ahead_init(&ahead, r, need->writers.data, need->writers.len);
		if (ahead.loops)
			ahead_deinit(&ahead);
		vec_push(&x->ahead, ahead);
	}
	log_needs(&x->needs);
}

void intermediate_deinit(struct intermediate *x)
{
	for (size_t i = 0; i < x->ways.len; i++)
		reach_ways_deinit(&x->ways.data[i]);
	for (size_t i = 0; i < x->ahead.len; i++)
		ahead_deinit(&x->ahead.data[i]);
	vec_deinit(&x->ahead);
	vec_deinit(&x->ways);
	needs_deinit(&x->needs);
}
