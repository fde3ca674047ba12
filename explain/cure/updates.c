/* explain/cure/updates.c - every change of one object.
 *
 * An object that is changed in several places, each time by a read and a write (a count that goes up here
 * and down there): any two of these updates can meet, and which of them do differs from schedule to
 * schedule. A block around two of them mends one face; what should be one step is each of them. */
#include "explain/cure/finder.h"

#include "base/map.h"

enum { FAR = 8, MAX_UPDATES = 6, MAX_OBJECTS = 4, BROADER = 2 };

/* Places that update an object: site of the read, site of the write. */
struct update {
	uint32_t read, write; /* steps */
};
struct updates VEC_FIELDS(struct update);

/* The write with which its thread answers this read; STEP_NONE. */
static uint32_t answer_of(const struct steps *s, uint32_t read)
{
	const struct step *r = &s->data[read];

	if (r->kind != PLAIT_EV_READ || r->pending || !r->site)
		return STEP_NONE;
	for (uint32_t k = read + 1; k < s->len; k++) {
		const struct step *e = &s->data[k];

		if (e->thread != r->thread)
			continue;
		if (e->pending || e->index > r->index + FAR || step_is_acquire(e) ||
		    step_is_release(e))
			return STEP_NONE;
		if (e->address == r->address)
			return e->kind == PLAIT_EV_WRITE && e->site ? k : STEP_NONE;
	}
	return STEP_NONE;
}

static bool is_known(const struct steps *s, const struct updates *all, const struct update *u)
{
	for (size_t i = 0; i < all->len; i++)
		if (s->data[all->data[i].read].site == s->data[u->read].site &&
		    s->data[all->data[i].write].site == s->data[u->write].site)
			return true;
	return false;
}

static void find_updates(const struct steps *s, uint64_t address, struct updates *ret)
{
	for (uint32_t i = 0; i < s->len && ret->len < MAX_UPDATES; i++) {
		struct update u = { i, STEP_NONE };

		if (s->data[i].address == address)
			u.write = answer_of(s, i);
		if (u.write != STEP_NONE && !is_known(s, ret, &u))
			vec_push(ret, u);
	}
}

/* Another thread's write between the two; STEP_NONE. */
static uint32_t lost_between(const struct steps *s, const struct update *u)
{
	for (uint32_t k = u->read + 1; k < u->write; k++)
		if (s->data[k].thread != s->data[u->read].thread && !s->data[k].pending &&
		    s->data[k].address == s->data[u->read].address &&
		    s->data[k].kind == PLAIT_EV_WRITE)
			return k;
	return STEP_NONE;
}

/* The broken one is the block that is told. */
static void add_updates(struct finder *fd, const struct update *broken, uint32_t intruder)
{
	const struct step *d = fd->f->data;
	struct updates all = { 0 };
	struct cure c = { .kind = BUG_ATOMICITY,
			  .other_from = STEP_NONE,
			  .from = broken->read,
			  .to = broken->write,
			  .intruder = intruder,
			  .updates = true,
			  .nconstraints = 1 };

	c.constraints[0] = finder_block(&d[broken->read], &d[broken->write]);
	find_updates(fd->f, d[broken->read].address, &all);
	for (size_t i = 0; i < all.len; i++) {
		const struct update *u = &all.data[i];

		if (d[u->read].site == d[broken->read].site &&
		    d[u->write].site == d[broken->write].site)
			continue;
		if (c.nconstraints == 1) { /* one of the others is told */
			c.other_from = u->read;
			c.other_to = u->write;
		}
		c.block[c.nconstraints] = 1;
		c.constraints[c.nconstraints++] = finder_block(&d[u->read], &d[u->write]);
	}
	c.cost = finder_cost(fd, &c) * BROADER;
	if (c.nconstraints > 1)
		vec_push(fd->out, c);
	vec_deinit(&all);
}

void cures_updates(const struct steps *failing, const struct alternate *alternate,
		   const struct projection *projection, struct cures *ret)
{
	struct finder fd = { failing, &alternate->passing, projection, ret, MAX_OBJECTS };
	struct map objects = { 0 };

	*ret = (struct cures){ 0 };
	for (uint32_t i = (uint32_t)failing->len; i-- > 0 && ret->len < MAX_OBJECTS;) {
		struct update u = { i, answer_of(failing, i) };
		uint32_t intruder = u.write == STEP_NONE ? STEP_NONE : lost_between(failing, &u);

		if (intruder == STEP_NONE || map_find(&objects, failing->data[i].address))
			continue;
		map_put(&objects, failing->data[i].address, 1);
		add_updates(&fd, &u, intruder);
	}
	map_deinit(&objects);
}
