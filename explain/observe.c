/* explain/observe.c - is a remedy about the cause, or does it only keep the threads apart?
 *
 * Many constraints make a failure go away when enforced, simply because under them the threads run
 * one after the other. What the cause is shows without enforcing anything: it is broken in the
 * schedules that fail and kept in those that pass. So recorded runs are looked at:
 *
 * A block is broken when it overlaps a block of another thread on the same object. It
 * begins with the last event at its first place before the next one at its last place; a block that
 * never gets there (a look-up that finds what it looks for) is none, unless the run failed in the
 * middle of it. The objects count only if they are the same in the run that the cure is about.
 *
 * "a before b" is broken by a b before the first a. "b late" is broken when another thread comes to
 * a, or uses the object of b, after b. */
#include "explain/observe.h"

#include "base/mem.h"
#include "base/vec.h"

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

/* A block has ended; those that ended before it are known: does it overlap one of them? */
static bool close_block(struct observer *o, const struct block *b)
{
	for (size_t i = o->closed.len, n = 0; i-- > 0 && n < MAX_BACK; n++) {
		const struct block *other = &o->closed.data[i];

		if (other->end < b->begin)
			break;
		if (other->thread != b->thread && (!o->same_object || share_object(other, b)))
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
	if (alone)
		return begins && close_block(o, &b);
	if (open->open && ends) {
		open->open = false;
		b = block_of(o, open->begin, i);
		return close_block(o, &b);
	}
	if (begins)
		*open = (struct open_block){ true, i, 0 };
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

		if (!o->open[i].open || o->open[i].seen > UNFINISHED)
			continue;
		b = block_of(o, o->open[i].begin, o->open[i].begin);
		b.end = (uint32_t)o->run->len;
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
	if (!broken && failed)
		broken = unfinished_blocks(&o);
	free(o.open);
	vec_deinit(&o.closed);
	return broken;
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

static bool before_broken(const struct cure *c, const struct steps *run)
{
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
	const struct step *then = NULL;

	for (size_t i = 0; i < run->len; i++) {
		const struct step *e = &run->data[i];

		if (then && e->thread != then->thread &&
		    (is_first(c, e) || step_conflicts(e, then)))
			return true;
		if (is_then(c, e))
			then = e;
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
		return before_broken(c, run);
	case PLAIT_CONSTRAINT_LATE:
		return late_broken(c, run);
	default:
		return blocks_broken(c, example, run, failed);
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
