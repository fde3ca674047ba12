/* explain/cure/observe.c - is a cure about the cause, or does it only keep the threads apart?
 *
 * Many constraints make a failure go away when enforced, simply because under them the threads run
 * one after the other. What the cause is shows without enforcing anything: it is broken in the
 * schedules that fail and kept in those that pass. So recorded runs are looked at:
 *
 * A block is broken when it overlaps a block of another thread on the same object. It
 * begins with the last event at its first place before the next one at its last place (with the first event, and
 * ends with the last one, if it ends behind a loop); a block that
 * never gets there (a look-up that finds what it looks for) is none, unless the run failed in the
 * middle of it. The objects count only if they are the same in the run that the cure is about.
 *
 * A crossing of two variables is broken by two threads that meet just so: one was the first at its
 * first object, the other at the second. (Blocks that overlap in any other way have the same effect
 * as one after the other.)
 *
 * "a before b" is broken by a b before the first a; of the same object, if both are about one. "b
 * late" is broken when another thread comes to a, or uses the object of b, after b (if b is the first of several
 * changes: one of their objects); a barrier, when it comes to a with an object that b has had. */
#include "explain/cure/observe.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "explain/find/closing.h"

#include <stdlib.h>

enum { UNFINISHED = 60, MAX_BACK = 4096 };

struct block {
	uint32_t thread, begin, end; /* steps */
	uint64_t first, last;	     /* objects of its ends */
};

/* Each block is followed for itself, its copies together: one may begin within another. */
enum { BLOCKS = 2 };

struct open_block {
	bool open;
	uint32_t begin, seen; /* seen: steps of the thread since */
	uint32_t end; /* where it came to its last place the last time, of a loop; 0: not yet */
};

struct observer {
	const struct cure *c;
	const struct steps *run;
	bool same_object;
	struct open_block *open; /* [thread][block] */
	VEC(struct block) closed;
};

static bool at_place(const struct plait_pattern *p, const struct step *e)
{
	return p->site_low <= e->site && e->site <= p->site_high &&
	       (p->thread == PLAIT_ANY || p->thread == e->thread);
}

static bool share_object(const struct block *a, const struct block *b)
{
	return a->first == b->first || a->first == b->last || a->last == b->first ||
	       a->last == b->last;
}

/* A block that begins with a lock is part of a critical section; where it ends may be one of several
 * accesses of a line. Does the section use an object of b? */
static bool section_uses(const struct observer *o, const struct block *section,
			 const struct block *b)
{
	const struct step *lock = &o->run->data[section->begin];

	for (uint32_t i = section->begin + 1, seen = 0;
	     step_is_acquire(lock) && i < o->run->len && seen < UNFINISHED; i++) {
		const struct step *e = &o->run->data[i];

		if (e->thread != section->thread)
			continue;
		seen++;
		if (step_is_release(e) && e->address == lock->address)
			return false;
		if (step_is_memory(e) && (e->address == b->first || e->address == b->last))
			return true;
	}
	return false;
}

/* A block has ended; those that ended before it are known: does it overlap one of them? */
static bool close_block(struct observer *o, const struct block *b)
{
	for (size_t i = o->closed.len, n = 0; i-- > 0 && n < MAX_BACK; n++) {
		const struct block *other = &o->closed.data[i];

		if (other->end < b->begin && !o->c->last)
			break;
		if (other->end >= b->begin && other->begin <= b->end &&
		    other->thread != b->thread &&
		    (!o->same_object || share_object(other, b) || section_uses(o, other, b) ||
		     section_uses(o, b, other)))
			return true;
	}
	vec_push(&o->closed, *b);
	return false;
}

static struct block block_of(const struct observer *o, uint32_t begin, uint32_t end)
{
	const struct step *d = o->run->data;

	return (struct block){ d[end].thread, begin, end, d[begin].address, d[end].address };
}

/* A block that begins and ends in loops: from its first place to the last time at its last one, before its thread
 * synchronises or does something else for long. */
static bool follow_loop(struct observer *o, struct open_block *open, uint32_t i, bool begins,
			bool ends)
{
	bool over = open->open && open->end &&
		    (begins || !step_is_memory(&o->run->data[i]) || i - open->end > UNFINISHED);
	struct block b = block_of(o, open->begin, over ? open->end : i);
	bool broken = over && close_block(o, &b);

	if (over)
		open->open = false;
	if (begins && !open->open)
		*open = (struct open_block){ true, i, 0, 0 };
	else if (open->open && ends)
		open->end = i;
	return broken;
}

/* What the step at i begins, continues or ends of one block. */
static bool meets_block(struct observer *o, uint32_t i, unsigned block)
{
	const struct step *e = &o->run->data[i];
	struct open_block *open = &o->open[e->thread * BLOCKS + block];
	bool begins = false, ends = false, alone = false;
	struct block b = block_of(o, i, i);

	for (size_t k = 0; k < o->c->nconstraints; k++) {
		const struct plait_constraint *c = &o->c->constraints[k];

		if (o->c->block[k] != block)
			continue;
		begins |= at_place(&c->a, e);
		ends |= at_place(&c->b, e);
		alone |= c->flags & PLAIT_CONSTRAINT_SINGLE;
	}
	open->seen++;
	if (o->c->last && !alone)
		return follow_loop(o, open, i, begins, ends);
	if (alone)
		return begins && close_block(o, &b);
	if (open->open && ends) {
		open->open = false;
		b = block_of(o, open->begin, i);
		return close_block(o, &b);
	}
	if (begins)
		*open = (struct open_block){ true, i, 0, 0 };
	return false;
}

static bool meets_blocks(struct observer *o, uint32_t i)
{
	for (unsigned block = 0; block < BLOCKS; block++)
		if (meets_block(o, i, block))
			return true;
	return false;
}

/* The run failed: what was open then would have ended later. */
static bool unfinished_blocks(struct observer *o)
{
	for (size_t i = 0; i < (size_t)o->run->nthreads * BLOCKS; i++) {
		struct block b;

		if (!o->open[i].open || (o->open[i].seen > UNFINISHED && !o->open[i].end))
			continue;
		b = block_of(o, o->open[i].begin, o->open[i].begin);
		b.end = o->open[i].end ? o->open[i].end : (uint32_t)o->run->len;
		if (close_block(o, &b))
			return true;
	}
	return false;
}

static bool blocks_broken(const struct cure *c, const struct steps *example,
			  const struct steps *run, bool failed)
{
	struct observer o = { .c = c, .run = run };
	const struct step *d = example->data;
	bool broken = false;

	o.same_object = c->intruder != STEP_NONE &&
			(d[c->from].address == d[c->intruder].address ||
			 (!c->to_in_passing && d[c->to].address == d[c->intruder].address));
	o.open = xcalloc((size_t)(run->nthreads + 1) * BLOCKS, sizeof(*o.open));
	for (uint32_t i = 0; i < run->len && !broken; i++)
		broken = !run->data[i].pending && meets_blocks(&o, i);
	if (!broken && (failed || c->last))
		broken = unfinished_blocks(&o);
	free(o.open);
	vec_deinit(&o.closed);
	return broken;
}

/* ---- crossings ---- */

/* Where the four steps of a crossing are in the program. The first block's ends are steps 0 and 1;
 * 2 and 3 are the other's uses of the same objects. */
struct corners {
	const struct cure *c;
	bool other_begins; /* the other block begins with the first one's first object */
};

static bool at_corner(const struct corners *k, unsigned which, const struct step *e)
{
	unsigned block = which / 2;
	bool begin = block ? (which == 2) == k->other_begins : which == 0;

	for (size_t i = 0; i < k->c->nconstraints; i++) {
		const struct plait_constraint *c = &k->c->constraints[i];

		if (k->c->block[i] == block && at_place(begin ? &c->a : &c->b, e))
			return true;
	}
	return false;
}

/* The nearest step of run[at]'s thread at a corner, one way, that meets y (NULL: any); STEP_NONE.
 */
static uint32_t corner_near(const struct corners *k, const struct steps *run, uint32_t at,
			    unsigned which, int way, const struct step *y)
{
	for (uint32_t i = at + (uint32_t)way, seen = 0; i < run->len && seen < UNFINISHED;
	     i += (uint32_t)way) {
		const struct step *e = &run->data[i];

		if (e->thread != run->data[at].thread)
			continue;
		seen++;
		if (!e->pending && at_corner(k, which, e) && (!y || step_conflicts(e, y)))
			return i;
	}
	return STEP_NONE;
}

/* y2 was the first at the second object: was x1 before y1? */
static bool crosses(const struct corners *k, const struct steps *run, uint32_t x2, uint32_t y2)
{
	uint32_t y1 = corner_near(k, run, y2, 2, k->other_begins ? -1 : 1, NULL), x1;

	if (y1 == STEP_NONE)
		return false;
	x1 = corner_near(k, run, x2, 0, -1, &run->data[y1]);
	return x1 != STEP_NONE && x1 < y1;
}

static bool crossing_broken(const struct cure *c, const struct steps *example,
			    const struct steps *run)
{
	const struct corners k = { c, example->data[c->other_from].address ==
					      example->data[c->from].address };

	for (uint32_t x2 = 0; x2 < run->len; x2++) {
		const struct step *e = &run->data[x2];
		uint32_t n = 0;

		if (e->pending || !at_corner(&k, 1, e))
			continue;
		for (uint32_t y2 = x2; y2-- > 0 && n < MAX_BACK; n++)
			if (step_conflicts(&run->data[y2], e) && at_corner(&k, 3, &run->data[y2])) {
				if (crosses(&k, run, x2, y2))
					return true;
				break;
			}
	}
	return false;
}

static bool is_first(const struct cure *c, const struct step *e)
{
	for (size_t k = 0; k < c->nconstraints; k++)
		if (at_place(&c->constraints[k].a, e))
			return true;
	return false;
}

static bool is_then(const struct cure *c, const struct step *e)
{
	for (size_t k = 0; k < c->nconstraints; k++)
		if (at_place(&c->constraints[k].b, e))
			return true;
	return false;
}

/* Are both ends of an order uses of one object? Then it is about each object by itself: code that many
 * share (a constructor in a header) is come to for others as well. */
static bool about_one_object(const struct cure *c, const struct steps *example)
{
	const struct step *first, *then;

	if (c->from >= example->len || c->to >= example->len)
		return false;
	first = &example->data[c->from];
	then = &example->data[c->to];
	return step_is_memory(first) && step_is_memory(then) && first->address == then->address &&
	       is_first(c, first) && is_then(c, then);
}

static bool before_broken_by_object(const struct cure *c, const struct steps *run)
{
	_cleanup_(map_deinit) struct map begun = {
		0
	}; /* objects that have been at the first place */

	for (size_t i = 0; i < run->len; i++) {
		const struct step *e = &run->data[i];

		if (is_first(c, e))
			map_put(&begun, e->address, 1);
		else if (is_then(c, e) && !map_find(&begun, e->address))
			return true;
	}
	return false;
}

static bool before_broken(const struct cure *c, const struct steps *example,
			  const struct steps *run)
{
	if (about_one_object(c, example))
		return before_broken_by_object(c, run);
	for (size_t i = 0; i < run->len; i++) {
		if (is_first(c, &run->data[i]))
			return false;
		if (is_then(c, &run->data[i]))
			return true;
	}
	return false;
}

static bool late_broken(const struct cure *c, const struct steps *run)
{
	_cleanup_(
		map_deinit) struct map changed = { 0 }; /* objects, if it is the first of several */
	const struct step *then = NULL;
	bool closing = false;

	for (size_t i = 0; i < run->len; i++) {
		const struct step *e = &run->data[i];
		bool mine = then && e->thread == then->thread;

		if (then && !mine &&
		    (is_first(c, e) || step_conflicts(e, then) || map_find(&changed, e->address)))
			return true;
		if (is_then(c, e)) {
			then = e;
			closing = c->closing;
		} else if (mine && closing) {
			closing = !step_is_bound(e);
			if (step_is_memory(e) && step_writes(e))
				map_put(&changed, e->address, 1);
		}
	}
	return false;
}

/* A barrier: somebody comes to the first place with an object that another has had at the second. */
static bool barrier_broken(const struct cure *c, const struct steps *run)
{
	_cleanup_(
		map_deinit) struct map seen = { 0 }; /* object -> thread + 1 at the second place */

	for (size_t i = 0; i < run->len; i++) {
		const struct step *e = &run->data[i];
		const uint64_t *by = is_first(c, e) ? map_find(&seen, e->address) : NULL;

		if (by && *by != e->thread + 1)
			return true;
		if (!e->pending && is_then(c, e))
			*map_put(&seen, e->address, 0) = e->thread + 1;
	}
	return false;
}

bool cure_observable(const struct cure *c)
{
	return c->kind != BUG_DEADLOCK && c->kind != BUG_LOST_WAKEUP && c->nconstraints;
}

bool cure_broken(const struct cure *c, const struct steps *example, const struct steps *run,
		 bool failed)
{
	switch (c->constraints[0].kind) {
	case PLAIT_CONSTRAINT_BEFORE:
		return before_broken(c, example, run);
	case PLAIT_CONSTRAINT_LATE:
		return c->barrier ? barrier_broken(c, run) : late_broken(c, run);
	default:
		if (c->crossing)
			return crossing_broken(c, example, run);
		return blocks_broken(c, example, run, failed);
	}
}

void cure_roles(const struct cure *c, const struct steps *run, uint64_t *first, uint64_t *then)
{
	for (size_t i = 0; i < run->len && c->kind == BUG_ORDER; i++) {
		const struct step *e = &run->data[i];
		uint64_t thread = e->pending || e->thread >= 64 ? 0 : UINT64_C(1) << e->thread;

		if (thread && is_first(c, e))
			*first |= thread;
		if (thread && is_then(c, e))
			*then |= thread;
	}
}

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

double cure_separation(const struct cure_seen *s)
{
	if (!s->failing || !s->passing)
		return 0;
	return share(s->broken_failing, s->failing) - share(s->broken_passing, s->passing);
}
