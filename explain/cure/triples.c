/* explain/cure/triples.c - broken blocks anywhere in the failing run.
 *
 * The decisive orders of cure.c lie around the difference to one passing run; that run may pass by
 * luck, or differ elsewhere too. Here every object is looked at: wherever a thread's two accesses
 * to it have another's in between that cannot be put before or after both, the two may have been
 * meant to be one (AVIO's unserialisable interleavings). The block is tried as it is, up to the
 * thread's next write of the object, and from its access before. Likewise two acquisitions of one
 * lock with another thread's in between. Where the run failed before the thread came to its second
 * access, the passing run shows it.
 *
 * There are many of them, most harmless; which one is the cause is for observe.c to tell. They are
 * dearer than those near the difference. */
#include "explain/cure/finder.h"

#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TRIPLES = 120, MAX_BEYOND = 24, MAX_ACCESSES = 4096, MAX_OBJECTS = 20000, DEARER = 4 };

struct uses VEC_FIELDS(uint32_t); /* steps on one object, in order */
struct objects VEC_FIELDS(struct uses);

static void collect(const struct steps *s, struct objects *ret)
{
	_cleanup_(map_deinit) struct map index = { 0 };

	for (uint32_t i = 0; i < s->len; i++) {
		const struct step *e = &s->data[i];
		uint64_t *at;

		if (e->pending || !e->site || e->kind == PLAIT_EV_FREE ||
		    !(step_is_memory(e) || step_is_acquire(e)))
			continue;
		if (ret->len >= MAX_OBJECTS && !map_find(&index, e->address))
			continue;
		at = map_put(&index, e->address, ret->len);
		if (*at == ret->len)
			vec_push(ret, (struct uses){ 0 });
		if (ret->data[*at].len < MAX_ACCESSES)
			vec_push(&ret->data[*at], i);
	}
}

/* The same thread's use of the object before or after number k, within reach; STEP_NONE. */
static uint32_t own(const struct finder *fd, const struct uses *u, size_t k, int way, bool write)
{
	const struct step *e = &fd->f->data[u->data[k]];

	for (size_t i = k + (size_t)way; i < u->len; i += (size_t)way) {
		const struct step *o = &fd->f->data[u->data[i]];

		if (o->thread != e->thread)
			continue;
		if (o->index > e->index + CURE_NEAR || o->index + CURE_NEAR < e->index)
			break;
		if (!write || (step_writes(o) && o->site != e->site))
			return (uint32_t)i;
	}
	return STEP_NONE;
}

static void add(struct finder *fd, const struct uses *u, size_t from, size_t to, size_t between)
{
	if (fd->f->data[u->data[from]].site != fd->f->data[u->data[to]].site ||
	    !step_is_memory(&fd->f->data[u->data[from]]))
		finder_add_block(fd, u->data[from], u->data[to], false, u->data[between],
				 BUG_ATOMICITY);
}

/* The failing run did not live to see the next use; the passing one shows it. */
static void look_beyond(struct finder *fd, const struct uses *u, size_t k)
{
	const struct step *e = &fd->f->data[u->data[k]], *x;
	uint32_t twin = fd->p->twin_of_failing[u->data[k]], before = own(fd, u, k, -1, false);
	size_t between = k + 1;

	while (between < u->len && !step_conflicts(&fd->f->data[u->data[between]], e))
		between++;
	if (twin == STEP_NONE || between == u->len || !step_is_memory(e))
		return;
	x = &fd->f->data[u->data[between]];
	for (uint32_t i = twin + 1, seen = 0; i < fd->g->len && seen < CURE_NEAR; i++) {
		const struct step *o = &fd->g->data[i];

		if (o->thread != e->thread)
			continue;
		seen++;
		if (o->address != fd->g->data[twin].address || o->kind == PLAIT_EV_FREE)
			continue;
		if (o->site == e->site || !finder_unserializable(e, x, o))
			return;
		finder_add_block(fd, u->data[k], i, true, u->data[between], BUG_ATOMICITY);
		if (before != STEP_NONE && fd->f->data[u->data[before]].site != o->site)
			finder_add_block(fd, u->data[before], i, true, u->data[between],
					 BUG_ATOMICITY);
		return;
	}
}

/* Number k of the uses and the thread's next one: what came between? */
static void look_at(struct finder *fd, const struct uses *u, size_t k)
{
	const struct step *d = fd->f->data;
	uint32_t next = own(fd, u, k, 1, false), last, before;

	if (next == STEP_NONE) {
		look_beyond(fd, u, k);
		return;
	}
	for (size_t i = k + 1; i < next; i++) {
		if (step_is_memory(&d[u->data[i]]) != step_is_memory(&d[u->data[k]]) ||
		    !finder_unserializable(&d[u->data[k]], &d[u->data[i]], &d[u->data[next]]))
			continue;
		add(fd, u, k, next, i);
		if (!step_is_memory(&d[u->data[k]]))
			return;
		last = own(fd, u, next, 1, true);
		before = own(fd, u, k, -1, false);
		if (last != STEP_NONE)
			add(fd, u, k, last, i);
		if (before != STEP_NONE)
			add(fd, u, before, next, i);
		if (last != STEP_NONE && before != STEP_NONE)
			add(fd, u, before, last, i);
		return;
	}
}

/* The last use of the object by each thread. */
static void look_at_last(struct finder *fd, const struct uses *u, size_t k)
{
	if (own(fd, u, k, 1, false) == STEP_NONE)
		look_beyond(fd, u, k);
}

static void look_everywhere(struct finder *fd,
			    void (*look)(struct finder *, const struct uses *, size_t))
{
	struct objects objects = { 0 };

	memset(fd->out, 0, sizeof(*fd->out));
	collect(fd->f, &objects);
	for (size_t i = 0; i < objects.len && fd->out->len < fd->most; i++)
		for (size_t k = objects.data[i].len; k-- > 0 && fd->out->len < fd->most;)
			look(fd, &objects.data[i], k);
	for (size_t i = 0; i < fd->out->len; i++)
		fd->out->data[i].cost = finder_cost(fd, &fd->out->data[i]) * DEARER;
	for (size_t i = 0; i < objects.len; i++)
		vec_deinit(&objects.data[i]);
	vec_deinit(&objects);
}

void cures_anywhere(const struct steps *failing, const struct alternate *alternate,
		    const struct projection *projection, struct cures *ret)
{
	struct finder fd = { failing, &alternate->passing, projection, ret, MAX_TRIPLES };

	look_everywhere(&fd, look_at);
}

void cures_beyond(const struct steps *failing, const struct alternate *alternate,
		  const struct projection *projection, struct cures *ret)
{
	struct finder fd = { failing, &alternate->passing, projection, ret, MAX_BEYOND };

	look_everywhere(&fd, look_at_last);
}
