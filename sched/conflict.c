/* sched/conflict.c - see conflict.h. Locks are treated as in Eraser (Savage et al., SOSP 1997):
 * what was held at every access protects the memory. Births and joins are followed exactly. */
#include "sched/conflict.h"

#include <assert.h>
#include <string.h>

/* A lock that finds no place protects nothing: that only makes more conflicts. */
bool life_takes(struct life *l, uint64_t lock)
{
	if (l->nheld == LIFE_HELD)
		return false;
	l->held[l->nheld++] = lock;
	return true;
}

bool life_gives_back(struct life *l, uint64_t lock)
{
	uint32_t i = l->nheld;

	while (i > 0 && l->held[i - 1] != lock)
		i--;
	if (!i)
		return false;
	memmove(&l->held[i - 1], &l->held[i], (l->nheld - i) * sizeof(l->held[0]));
	l->nheld--;
	return true;
}

/* ---- births and joins ---- */

/* Is t the thread `by`, or one that descends from it by a birth after step? */
static bool is_descendant(const struct conflict_access *a, uint32_t t, uint32_t by, uint32_t step)
{
	while (t != by) {
		const struct life *l = &a->lives[t];

		if (!l->parent || l->parent - 1 >= t) /* parents are older */
			return false;
		t = l->parent - 1;
		if (t == by)
			return step <= l->born;
	}
	return true;
}

/* Did what u did at this step come before everything that a->thread does now? */
static bool came_before(const struct conflict_access *a, uint32_t u, uint32_t step)
{
	unsigned hops;

	if (u == a->thread)
		return true;
	if (u >= a->nlives || a->thread >= a->nlives)
		return false;
	for (hops = 0; hops < 8; hops++) {
		if (is_descendant(a, a->thread, u, step))
			return true;
		if (!a->lives[u].joiner)
			return false;
		step = a->lives[u].joined;
		u = a->lives[u].joiner - 1;
	}
	return false;
}

static bool is_open(const struct conflict_access *a, const struct conflict_mark *m)
{
	return m->thread && !came_before(a, m->thread - 1, m->step);
}

/* ---- locks ---- */

static void begin_locks(struct conflict *c, const struct life *l)
{
	uint32_t i;

	c->nlocks = 0;
	for (i = l ? l->nheld : 0; i > 0 && c->nlocks < CONFLICT_LOCKS; i--)
		c->locks[c->nlocks++] = l->held[i - 1];
}

static bool holds(const struct life *l, uint64_t lock)
{
	uint32_t i;

	for (i = 0; l && i < l->nheld; i++)
		if (l->held[i] == lock)
			return true;
	return false;
}

static void keep_locks(struct conflict *c, const struct life *l)
{
	uint32_t i, kept = 0;

	for (i = 0; i < c->nlocks; i++)
		if (holds(l, c->locks[i]))
			c->locks[kept++] = c->locks[i];
	c->nlocks = kept;
}

/* ---- an access ---- */

static void drop_old(struct conflict_mark *m, uint32_t alone)
{
	if (m->step < alone)
		m->thread = 0;
}

static void put_read(struct conflict *c, struct conflict_mark now)
{
	if (c->reads[0].thread != now.thread)
		c->reads[1] = c->reads[0];
	c->reads[0] = now;
}

enum conflict_found conflict_note(struct conflict *c, const struct conflict_access *a)
{
	const struct life *l = a->thread < a->nlives ? &a->lives[a->thread] : NULL;
	struct conflict_mark now = { a->thread + 1, a->step };
	bool write_open, read_open = false, mine;
	size_t i;

	drop_old(&c->write, a->alone);
	write_open = is_open(a, &c->write);
	mine = c->write.thread == now.thread;
	for (i = 0; i < CONFLICT_READS; i++) {
		drop_old(&c->reads[i], a->alone);
		read_open |= is_open(a, &c->reads[i]);
		mine |= c->reads[i].thread == now.thread;
	}
	if (write_open || read_open || mine) {
		keep_locks(c, l);
	} else {
		memset(c, 0, sizeof(*c));
		begin_locks(c, l);
	}
	if (a->writes)
		c->write = now;
	else
		put_read(c, now);
	if (!c->nlocks && (write_open || (a->writes && read_open)))
		return CONFLICT_YES;
	return write_open || read_open || mine ? CONFLICT_NONE : CONFLICT_ANEW;
}
