/* synth/align.c - where in the program is the stack of a shipped binary that has no lines?
 *
 * The binary's machine frames have addresses only; unwind tables say where functions begin and end. The program has
 * functions, lines and a call graph. We look for stacks of the program that the machine frames may be: main is known
 * from the entry point; from frame to frame the way leads through calls of the program that the compiler may have
 * inlined, to a call of a function that looks like the next frame's (likeness.h). What surrounds each call helps to
 * tell the ways apart. The result is a list of stacks, the likely ones first; nothing is claimed, because only a run of
 * the shipped binary decides. */
#include "synth/align.h"

#include "base/err.h"
#include "base/log.h"
#include "synth/likeness.h"

#include <string.h>

enum {
	BEAM = 48,	    /* partial stacks that are kept per frame */
	LEAVES = 2000,	    /* and whole ones */
	INLINED_MOST = 6,   /* calls inside calls within one machine frame */
	CALLEES_MOST = 12,  /* functions that a machine function may be */
	WORK_MOST = 200000, /* places looked at per frame */
	PLACES_MOST = 48,   /* of a stack */
};

#define NEARBY_COUNTS 2.0  /* against 1 for the likeness of whole functions */
#define INLINED_COSTS 0.02 /* a call */
#define LACKS_COST    1.0  /* all that is in a function that is said to be inlined */
#define NO_NULL_COSTS 1.0  /* where no null pointer comes to, if one was used */
#define CALLEE_BEHIND 0.6  /* of the best: so much less like it is out */

/* ---- the machine's stack ---- */

struct machine_frame {
	uint64_t function;
	uint64_t at; /* behind the call, or behind the beginning of what failed; 0 = not known */
	const char *name; /* where the binary has symbols; NULL */
	bool restarts;	  /* called by a library: who called that says nothing */
};

enum leaf { LEAF_ACCESS, LEAF_IMPORT, LEAF_POINTER };

struct machine_stack {
	VEC(struct machine_frame) frames; /* the outermost first */
	enum leaf leaf;
	const char *import; /* LEAF_IMPORT; NULL = any */
};

static bool is_frame(const struct study *s, const struct stack_frame *f)
{
	return f->module == stacks_program(s->stacks) && !f->inlined;
}

/* A call led to a function that left by a jump: it has no frame of its own. */
static void add_jumped(const struct landmarks *l, const struct landmark *call, uint64_t next,
		       struct machine_stack *ret)
{
	uint64_t to = call && call->kind == LANDMARK_CALL ? landmarks_function(l, call->target) : 0;

	if (to && to != next)
		vec_push(&ret->frames, ((struct machine_frame){ .function = to }));
}

static void end_stack(const struct landmark *call, const struct stack_frame *inner,
		      struct machine_stack *ret)
{
	ret->leaf = LEAF_IMPORT;
	if (call && call->kind == LANDMARK_IMPORT)
		ret->import = call->text;
	else if (!inner->module || !call)
		ret->leaf = LEAF_POINTER;
}

static void read_stack(const struct study *s, const struct landmarks *l, const struct stack *from,
		       struct machine_stack *ret)
{
	bool in_library = false;

	for (size_t i = from->frames.len; i-- > 0;) {
		const struct stack_frame *f = &from->frames.data[i];
		const struct landmark *call;
		uint64_t function, next = 0;

		if (!is_frame(s, f)) {
			in_library |= ret->frames.len > 0 && f->module;
			continue;
		}
		function = landmarks_function(l, f->offset - (i > 0));
		if (!function || function == l->start)
			continue;
		vec_push(&ret->frames, ((struct machine_frame){ .function = function,
								.at = f->offset + (i == 0),
								.name = f->function,
								.restarts = in_library }));
		in_library = false;
		ret->leaf = LEAF_ACCESS;
		if (!i)
			return;
		call = landmarks_call_before(l, f->offset);
		if (is_frame(s, &from->frames.data[i - 1]))
			next = landmarks_function(l, from->frames.data[i - 1].offset - (i > 1));
		add_jumped(l, call, next, ret);
		end_stack(call, &from->frames.data[i - 1], ret);
	}
}

/* ---- stacks of the program ---- */

struct partial {
	double score;
	struct sym_place places[PLACES_MOST];
	uint32_t n;
	uint32_t root; /* the function that goes on */
};
struct partials VEC_FIELDS(struct partial);

struct align {
	struct study *s;
	struct likeness like;
	struct machine_stack stack;
	struct partials now, next;
	/* of the frame that is being looked at */
	size_t frame;
	double *callees; /* per function of the program: how much it is like the next frame; < -1: not at all */
	uint32_t *steps; /* calls from here to one of them, at least */
	const struct partial *from;
	struct way way; /* through inlined calls */
	double *lacks; /* per function of the program: what of it the frame's lacks; < 0: not asked yet */
	double inlined; /* the cost of the way */
	unsigned work;
};

static int by_score(const void *a, const void *b)
{
	const struct partial *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return x->n != y->n ? (x->n > y->n ? 1 : -1)
			    : memcmp(x->places, y->places, sizeof(x->places));
}

static void push_partial(struct align *a, double score, struct sym_place at, uint32_t root)
{
	const struct machine_frame *m = &a->stack.frames.data[a->frame];
	struct partial *to;
	double near;

	if (a->from->n + a->way.len + 1 > PLACES_MOST)
		return;
	vec_push(&a->way, at);
	near = m->at ? likeness_nearby(&a->like, m->at, &a->way, 0) : 0;
	to = vec_add(&a->next);
	*to = *a->from;
	for (size_t i = 0; i < a->way.len; i++)
		to->places[to->n++] = a->way.data[i];
	to->root = root;
	to->score += score + NEARBY_COUNTS * near - a->inlined;
	vec_pop(&a->way);
	if (a->next.len > 2 * LEAVES) {
		vec_sort(&a->next, by_score);
		a->next.len = LEAVES;
	}
}

static bool is_on_way(const struct align *a, uint32_t f)
{
	for (size_t i = 0; i < a->way.len; i++)
		if (a->way.data[i].function == f)
			return true;
	return false;
}

static bool is_near_null(const struct align *a)
{
	return a->s->r->goal.near_null;
}

/* An access of f: those that may use a null pointer where one was used, or anywhere. */
static void push_accesses(struct align *a, uint32_t f)
{
	const struct sym_sketch *k = &a->like.program.data[f];

	for (size_t i = 0; is_near_null(a) && i < k->nulls.len; i++)
		push_partial(a, 0, (struct sym_place){ f, k->nulls.data[i] }, f);
	if (k->follows && (!is_near_null(a) || !k->nulls.len))
		push_partial(a, is_near_null(a) ? -NO_NULL_COSTS : 0,
			     (struct sym_place){ f, UINT32_MAX }, f);
}

/* The place of the failure in f: an access, a call of the library, or one through a pointer. */
static void push_leaves(struct align *a, uint32_t f)
{
	const struct sym_sketch *k = &a->like.program.data[f];
	enum sym_mark_kind kind =
		a->stack.leaf == LEAF_POINTER ? SYM_MARK_POINTER : SYM_MARK_IMPORT;

	if (a->stack.leaf == LEAF_ACCESS) {
		push_accesses(a, f);
		return;
	}
	for (size_t i = 0; i < k->marks.len; i++) {
		const struct sym_mark *m = &k->marks.data[i];

		if (m->kind == kind && (kind == SYM_MARK_POINTER || !a->stack.import ||
					same_import(m->text, a->stack.import)))
			push_partial(a, is_near_null(a) && !m->null ? -NO_NULL_COSTS : 0,
				     (struct sym_place){ f, m->pc }, f);
	}
}

static double cost_to_inline(struct align *a, uint32_t f)
{
	if (a->lacks[f] < 0)
		a->lacks[f] = likeness_lacks(&a->like, a->stack.frames.data[a->frame].function, f);
	return INLINED_COSTS + LACKS_COST * a->lacks[f];
}

/* From function f on, which lies in this machine frame. */
static void descend(struct align *a, uint32_t f)
{
	const struct sym_sketch *k = &a->like.program.data[f];
	bool last = a->frame + 1 == a->stack.frames.len;

	if (is_on_way(a, f) || !k->name || ++a->work > WORK_MOST)
		return;
	if (last)
		push_leaves(a, f);
	for (size_t i = 0; i < k->marks.len; i++) {
		const struct sym_mark *m = &k->marks.data[i];

		if (m->kind != SYM_MARK_CALL)
			continue;
		if (!last && a->callees[m->callee] >= -1)
			push_partial(a, a->callees[m->callee], (struct sym_place){ f, m->pc },
				     m->callee);
		if (a->way.len < INLINED_MOST &&
		    (last || a->steps[m->callee] + a->way.len <= INLINED_MOST)) {
			double cost = cost_to_inline(a, m->callee);

			vec_push(&a->way, ((struct sym_place){ f, m->pc }));
			a->inlined += cost;
			descend(a, m->callee);
			a->inlined -= cost;
			vec_pop(&a->way);
		}
	}
	/* a pointer may lead to any of them */
	for (size_t i = 0; !last && i < k->marks.len; i++)
		for (uint32_t g = 0;
		     k->marks.data[i].kind == SYM_MARK_POINTER && g < a->like.program.len; g++)
			if (a->callees[g] >= -1)
				push_partial(a, a->callees[g],
					     (struct sym_place){ f, k->marks.data[i].pc }, g);
}

/* ---- which functions ---- */

static bool has_name(const struct sym_sketch *k, const char *name)
{
	size_t n = strcspn(name, ".(");

	return !strncmp(k->name, name, n) && !k->name[n];
}

static int by_likeness(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? 1 : a > b ? -1 : 0;
}

/* How much each function of the program is like that of a frame. Those that are far behind the best are out. */
static void find_callees(struct align *a, size_t frame)
{
	const struct machine_frame *m = &a->stack.frames.data[frame];
	VEC(double) sorted = { 0 };
	double least;
	bool known = m->function == a->like.binary->main;

	for (uint32_t f = 0; f < a->like.program.len; f++) {
		const struct sym_sketch *k = &a->like.program.data[f];

		a->callees[f] = -2;
		if (!k->name || (known && strcmp(k->name, "main") != 0))
			continue;
		a->callees[f] =
			m->name && has_name(k, m->name) ? 2 : likeness_of(&a->like, m->function, f);
		vec_push(&sorted, a->callees[f]);
	}
	vec_sort(&sorted, by_likeness);
	least = sorted.len > CALLEES_MOST ? sorted.data[CALLEES_MOST - 1] : -1;
	for (uint32_t f = 0; sorted.len && f < a->like.program.len; f++)
		if (a->callees[f] < least || a->callees[f] < sorted.data[0] - CALLEE_BEHIND)
			a->callees[f] = -2;
	vec_deinit(&sorted);
}

/* How many calls it takes from each function to one of the callees. */
static void find_steps(struct align *a)
{
	bool changed = true;

	for (uint32_t f = 0; f < a->like.program.len; f++)
		a->steps[f] = INLINED_MOST + 1;
	for (unsigned round = 0; changed && round <= INLINED_MOST; round++) {
		changed = false;
		for (uint32_t f = 0; f < a->like.program.len; f++) {
			const struct sym_sketch *k = &a->like.program.data[f];

			for (size_t i = 0; i < k->marks.len; i++) {
				const struct sym_mark *m = &k->marks.data[i];
				uint32_t n = INLINED_MOST + 1;

				if (m->kind == SYM_MARK_POINTER)
					n = 1;
				else if (m->kind == SYM_MARK_CALL)
					n = a->callees[m->callee] >= -1 ? 1
									: a->steps[m->callee] + 1;
				if (n < a->steps[f]) {
					a->steps[f] = n;
					changed = true;
				}
			}
		}
	}
}

static void restart(struct align *a, struct partials *to)
{
	vec_clear(to);
	for (uint32_t f = 0; f < a->like.program.len; f++)
		if (a->callees[f] >= -1) {
			struct partial *p = vec_add(to);

			p->root = f;
			p->score = a->callees[f];
		}
}

static void align_frames(struct align *a)
{
	for (a->frame = 0; a->frame < a->stack.frames.len; a->frame++) {
		bool last = a->frame + 1 == a->stack.frames.len;

		if (!a->frame || a->stack.frames.data[a->frame].restarts) {
			find_callees(a, a->frame);
			restart(a, &a->now);
		}
		if (!last) {
			find_callees(a, a->frame + 1);
			if (a->stack.frames.data[a->frame + 1].restarts)
				continue;
			find_steps(a);
		}
		vec_clear(&a->next);
		for (uint32_t f = 0; f < a->like.program.len; f++)
			a->lacks[f] = -1;
		for (size_t i = 0; i < a->now.len; i++) {
			a->inlined = 0;
			a->from = &a->now.data[i];
			a->work = 0;
			descend(a, a->from->root);
		}
		vec_sort(&a->next, by_score);
		a->next.len = MIN(a->next.len, (size_t)(last ? LEAVES : BEAM));
		vec_clear(&a->now);
		for (size_t i = 0; i < a->next.len; i++)
			vec_push(&a->now, a->next.data[i]);
	}
}

/* ---- the result ---- */

static void add_points(struct align *a, const struct partial *p, struct alignment *to)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct sym_point points[16];
		uint32_t n;

		if (p->places[i].pc == UINT32_MAX) {
			vec_push(&to->points,
				 ((struct sym_point){
					 a->like.program.data[p->places[i].function].name, 0 }));
			continue;
		}
		n = sym_points_at(a->s->program, p->places[i], points, ARRAY_SIZE(points));
		for (uint32_t k = 0; k < n; k++)
			vec_push(&to->points, points[k]);
	}
}

/* Apart from the line of the failure. */
static bool same_stack(const struct alignment *a, const struct alignment *b)
{
	size_t n = a->points.len;

	for (size_t i = 0; i < MIN(n, b->points.len); i++)
		if ((i + 1 < n && a->points.data[i].line != b->points.data[i].line) ||
		    strcmp(a->points.data[i].function, b->points.data[i].function) != 0)
			return false;
	return n == b->points.len;
}

/* Of one stack the likeliest line of the failure is kept, and once more any line. */
static bool is_news(const struct alignments *all, struct alignment *a)
{
	struct sym_point *last = a->points.len ? &a->points.data[a->points.len - 1] : NULL;
	unsigned known = 0;
	bool same_line = false;

	for (size_t i = 0; i < all->len; i++)
		if (same_stack(&all->data[i], a)) {
			unsigned line = all->data[i].points.data[a->points.len - 1].line;

			known++;
			same_line |= !line || line == last->line;
		}
	if (known == 1 && !same_line)
		last->line = 0;
	return last && known < 2 && !same_line;
}

static void keep_alignments(struct align *a, size_t most, struct alignments *ret)
{
	for (size_t i = 0; i < a->now.len && ret->len < most; i++) {
		struct alignment next = { .score = a->now.data[i].score };

		add_points(a, &a->now.data[i], &next);
		if (is_news(ret, &next))
			vec_push(ret, next);
		else
			vec_deinit(&next.points);
	}
}

static void log_alignments(const struct machine_stack *from, const struct alignments *all)
{
	for (size_t i = 0; i < from->frames.len; i++)
		log_verbose("synth: machine frame %zu: function %#llx, at %#llx%s", i,
			    (unsigned long long)from->frames.data[i].function,
			    (unsigned long long)from->frames.data[i].at,
			    from->frames.data[i].restarts ? ", called by a library" : "");
	for (size_t i = 0; i < all->len; i++)
		for (size_t k = 0; k < all->data[i].points.len; k++)
			log_verbose("synth: stack %zu (%.2f): %s:%u", i, all->data[i].score,
				    all->data[i].points.data[k].function,
				    all->data[i].points.data[k].line);
}

static size_t thread_of(const struct study *s, uint32_t tid)
{
	for (size_t i = 0; i < s->dump.threads.len; i++)
		if ((uint32_t)s->dump.threads.data[i].tid == tid)
			return i;
	return 0;
}

struct err *align_stack(struct study *s, size_t g, size_t most, struct alignments *ret)
{
	struct landmarks marks;
	struct err *err = landmarks_open(stacks_program(s->stacks), &marks);
	struct align a = { .s = s };

	if (err) {
		landmarks_close(&marks);
		return err;
	}
	likeness_init(&a.like, &marks, s->program);
	a.callees = xcalloc(a.like.program.len + 1, sizeof(*a.callees));
	a.lacks = xcalloc(a.like.program.len + 1, sizeof(*a.lacks));
	a.steps = xcalloc(a.like.program.len + 1, sizeof(*a.steps));
	read_stack(s, &marks, stacks_get(s->stacks, thread_of(s, s->r->goal.stacks.data[g].tid)),
		   &a.stack);
	align_frames(&a);
	keep_alignments(&a, most, ret);
	log_alignments(&a.stack, ret);
	vec_deinit(&a.stack.frames);
	vec_deinit(&a.now);
	vec_deinit(&a.next);
	vec_deinit(&a.way);
	free(a.callees);
	free(a.steps);
	free(a.lacks);
	likeness_deinit(&a.like);
	landmarks_close(&marks);
	return NULL;
}

void alignments_deinit(struct alignments *all)
{
	for (size_t i = 0; i < all->len; i++)
		vec_deinit(&all->data[i].points);
	vec_deinit(all);
}
