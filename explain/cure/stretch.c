/* explain/cure/stretch.c - the whole of what a thread does between two synchronisations.
 *
 * Shorter blocks may each mend one face of a failure: a table that two threads build at once crashes
 * here or there. What should be one is then all of it, from the first access that others can disturb
 * to the last. The failing run may end before that; the passing run shows where it is. Such a block is
 * long, so it is tried only when nothing shorter is good enough (advise.c). */
#include "explain/cure/finder.h"

#include "base/map.h"
#include "explain/find/closing.h"
#include "unplait/effects.h"

enum { FARTHEST = 200 }; /* steps of a thread: longer stretches say little */

/* What several threads use, and somebody writes: address -> its first thread + 1, and these. One run may
 * have ended before anybody came: both are looked at. */
enum { BY_OTHERS = 1 << 30, WRITTEN = 1 << 29 };

static void look_at(const struct steps *s, struct map *ret)
{
	for (uint32_t i = 0; i < s->len; i++) {
		const struct step *e = &s->data[i];
		uint64_t *known;

		if (e->pending || !step_is_memory(e))
			continue;
		known = map_put(ret, e->address, e->thread + 1u);
		if ((*known & (WRITTEN - 1)) != e->thread + 1u)
			*known |= BY_OTHERS;
		if (step_writes(e))
			*known |= WRITTEN;
	}
}

static bool is_shared(const struct map *uses, const struct step *e)
{
	const uint64_t *known = map_find(uses, e->address);

	return known && (*known & BY_OTHERS) && (*known & WRITTEN);
}

/* The farthest access to something shared, one way, before the thread synchronises. cut: the run ended
 * before that. */
static uint32_t end_of(const struct map *uses, const struct steps *s, uint32_t at, int way,
		       bool *cut)
{
	uint32_t found = at;

	*cut = true;
	for (uint32_t k = at + (uint32_t)way, seen = 0; k < s->len && seen < FARTHEST;
	     k += (uint32_t)way) {
		const struct step *e = &s->data[k];

		if (e->thread != s->data[at].thread || e->pending)
			continue;
		seen++;
		*cut = seen < FARTHEST && !step_is_bound(e) && e->kind != PLAIT_EV_EXIT;
		if (!*cut)
			break;
		if (step_is_memory(e) && e->site && e->kind != PLAIT_EV_FREE && is_shared(uses, e))
			found = k;
	}
	return found;
}

struct stretch {
	uint32_t from, to;
	bool to_in_passing;
};

static bool stretch_around(const struct finder *fd, const struct map *uses, uint32_t at,
			   struct stretch *ret)
{
	uint32_t twin;
	bool cut;

	if (!step_is_memory(&fd->f->data[at]) || fd->f->data[at].pending)
		return false;
	ret->from = end_of(uses, fd->f, at, -1, &cut);
	ret->to = end_of(uses, fd->f, at, 1, &cut);
	ret->to_in_passing = false;
	twin = fd->p->twin_of_failing[ret->from];
	if (cut && twin != STEP_NONE) {
		ret->to = end_of(uses, fd->g, twin, 1, &cut);
		ret->to_in_passing = true;
	}
	return fd->f->data[ret->from].site;
}

static const struct step *last_of(const struct finder *fd, const struct stretch *s)
{
	return s->to_in_passing ? &fd->g->data[s->to] : &fd->f->data[s->to];
}

/* Up to the thread's last write of what it begins with: a flag that is checked first and set last. */
static void end_at_write(const struct finder *fd, struct stretch *s)
{
	const struct steps *run = s->to_in_passing ? fd->g : fd->f;
	uint32_t from = s->to_in_passing ? fd->p->twin_of_failing[s->from] : s->from;

	for (uint32_t k = s->to; k > from; k--)
		if (run->data[k].thread == run->data[from].thread &&
		    run->data[k].address == run->data[from].address &&
		    step_is_memory(&run->data[k]) && step_writes(&run->data[k]) &&
		    run->data[k].site) {
			s->to = k;
			return;
		}
}

/* Does its thread come to the place where it ends several times? */
static bool ends_in_loop(const struct finder *fd, const struct stretch *s)
{
	const struct steps *run = s->to_in_passing ? fd->g : fd->f;
	const struct step *last = last_of(fd, s);
	uint32_t n = 0;

	for (uint32_t k = 0; k <= s->to; k++)
		n += run->data[k].thread == last->thread && run->data[k].site == last->site;
	return n > 1;
}

/* Both threads' stretches at once; one constraint if they begin at one place: with two ends, the
 * engine would stop at the nearer one. */
static void add_stretch(struct finder *fd, const struct stretch *a, const struct stretch *b,
			uint32_t intruder)
{
	const struct step *d = fd->f->data;
	struct cure c = { .kind = d[a->from].address == last_of(fd, a)->address
					  ? BUG_ATOMICITY
					  : BUG_MULTI_VARIABLE,
			  .from = a->from,
			  .to = a->to,
			  .to_in_passing = a->to_in_passing,
			  .intruder = intruder,
			  .other_from = STEP_NONE,
			  .stretch = true,
			  .nconstraints = 1 };

	if (d[a->from].site == last_of(fd, a)->site)
		return;
	c.constraints[0] = finder_block(&d[a->from], last_of(fd, a));
	c.last = ends_in_loop(fd, a);
	if (c.last)
		c.constraints[0].flags = PLAIT_CONSTRAINT_LAST;
	if (d[b->from].site != d[a->from].site) {
		c.other_from = b->from;
		c.other_to = b->to;
		c.other_to_in_passing = b->to_in_passing;
		c.constraints[1] = finder_block(&d[b->from], last_of(fd, b));
		if (d[b->from].site == last_of(fd, b)->site)
			c.constraints[1].flags = PLAIT_CONSTRAINT_SINGLE;
		else if (c.last)
			c.constraints[1].flags = PLAIT_CONSTRAINT_LAST;
		c.block[1] = 1;
		c.nconstraints = 2;
	}
	c.cost = finder_cost(fd, &c);
	vec_push(fd->out, c);
}

static void add_stretches(struct finder *fd, const struct map *uses, uint32_t mine,
			  uint32_t intruder)
{
	struct stretch a, b, shorter;

	if (!stretch_around(fd, uses, mine, &a) || !stretch_around(fd, uses, intruder, &b))
		return;
	add_stretch(fd, &a, &b, intruder);
	shorter = a;
	end_at_write(fd, &shorter);
	end_at_write(fd, &b);
	if (shorter.to != a.to)
		add_stretch(fd, &shorter, &b, intruder);
}

void cures_stretch(const struct steps *failing, const struct alternate *alternate,
		   const struct projection *projection, struct cures *ret)
{
	struct finder fd = { failing, &alternate->passing, projection, ret, 2 };
	uint32_t x = alternate->pair.first, y = alternate->pair.second;
	struct map uses = { 0 };

	*ret = (struct cures){ 0 };
	if (!alternate->found || x >= failing->len || y >= failing->len)
		return;
	look_at(failing, &uses);
	look_at(&alternate->passing, &uses);
	add_stretches(&fd, &uses, x, y);
	add_stretches(&fd, &uses, y, x);
	map_deinit(&uses);
}
