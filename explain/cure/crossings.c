/* explain/cure/crossings.c - two variables that belong together, anywhere in the failing run.
 *
 * Thread A uses P and then Q, thread B uses both nearby; the uses of P went to A first and the uses
 * of Q to B first:
 *
 *	A: x1 on P ............................ x2 on Q
 *	B:             y1 on P ... y2 on Q			(in either order)
 *
 * Neither "A, then B" nor "B, then A" has the same effect. If the two belong together, the block x1
 * to x2 and the block around y1 and y2 should have been atomic. Such pairs are found from their
 * ends: x2, the use of Q by another thread before it, what B does around that, and the nearest use
 * of the same object by A. Most are harmless; observe.c looks for just this pattern in schedules
 * that fail and that pass. The shortest are kept. */
#include "explain/cure/finder.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CROSSINGS = 60, LOOKED_AT = 6000, BESIDE = 16, APART = 1000, DEARER = 4 };

struct crossing {
	uint32_t x1, x2, y1, y2;
};

static bool usable(const struct step *e)
{
	return step_is_memory(e) && !e->pending && e->site && e->kind != PLAIT_EV_FREE;
}

/* The last conflicting use of x2's object by another thread; STEP_NONE. */
static uint32_t used_before(const struct steps *s, uint32_t x2)
{
	for (uint32_t i = x2, n = 0; i-- > 0 && n < APART; n++)
		if (usable(&s->data[i]) && step_conflicts(&s->data[i], &s->data[x2]))
			return i;
	return STEP_NONE;
}

/* A's nearest use, before x2, of what y1 uses, and before y1; STEP_NONE. */
static uint32_t begin_of(const struct steps *s, uint32_t x2, uint32_t y1)
{
	const struct step *last = &s->data[x2];

	for (uint32_t i = x2, seen = 0; i-- > 0 && seen < CURE_NEAR;) {
		if (s->data[i].thread != last->thread)
			continue;
		seen++;
		if (i < y1 && usable(&s->data[i]) && s->data[i].site != last->site &&
		    step_conflicts(&s->data[i], &s->data[y1]))
			return i;
	}
	return STEP_NONE;
}

static void add(struct finder *fd, const struct crossing *x)
{
	const struct step *d = fd->f->data;
	uint32_t first = MIN(x->y1, x->y2), last = MAX(x->y1, x->y2);
	size_t n = fd->out->len;
	struct cure *c;

	if (d[first].site == d[last].site)
		return;
	finder_add_block(fd, x->x1, x->x2, false, x->y1, BUG_MULTI_VARIABLE);
	if (fd->out->len == n)
		return;
	c = &fd->out->data[n];
	c->crossing = true;
	c->other_from = first;
	c->other_to = last;
	finder_other_block(fd, c);
	c->cost = finder_cost(fd, c) * DEARER;
}

/* What B does around y2, one way. */
static void look_around(struct finder *fd, uint32_t x2, uint32_t y2, int way)
{
	const struct step *d = fd->f->data;

	for (uint32_t i = y2 + (uint32_t)way, seen = 0; i < fd->f->len && seen < BESIDE;
	     i += (uint32_t)way) {
		struct crossing x = { .x2 = x2, .y1 = i, .y2 = y2 };

		if (d[i].thread != d[y2].thread)
			continue;
		seen++;
		if (!usable(&d[i]) || d[i].address == d[y2].address)
			continue;
		x.x1 = begin_of(fd->f, x2, i);
		if (x.x1 != STEP_NONE)
			add(fd, &x);
	}
}

static int cheapest_first(const void *a, const void *b)
{
	const struct cure *x = a, *y = b;

	return x->cost < y->cost ? -1 : x->cost > y->cost;
}

void cures_crossing(const struct steps *failing, const struct alternate *alternate,
		    const struct projection *projection, struct cures *ret)
{
	struct finder fd = { failing, &alternate->passing, projection, ret, SIZE_MAX };
	uint32_t len = (uint32_t)failing->len;

	memset(ret, 0, sizeof(*ret));
	for (uint32_t i = len, n = 0; i-- > 0 && n < LOOKED_AT; n++) {
		uint32_t before = usable(&failing->data[i]) ? used_before(failing, i) : STEP_NONE;

		if (before == STEP_NONE)
			continue;
		look_around(&fd, i, before, 1);
		look_around(&fd, i, before, -1);
	}
	vec_sort(ret, cheapest_first);
	ret->len = MIN(ret->len, (size_t)MAX_CROSSINGS);
}
