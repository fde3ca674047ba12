/* sched/cells.c - the shadow memory of race detection; cells.h says what it remembers.
 *
 * FastTrack keeps one write and one read per address, which is enough to see that an address races.
 * We want every pair of sites, because each pair gets its own verdict. So an access replaces only its
 * own predecessor: the last access of the same thread, site and kind. That loses nothing: what
 * happens after the later one happens after the earlier one.
 *
 * An access that repeats its predecessor, with no release by its thread in between, is not looked at:
 * whoever came in between cannot have been ordered behind the first, and has been reported with it.
 *
 * A chain has at most CELL_CHAIN cells. When it is full, a place is taken from an access that
 * everybody alive knows of (it can never race again), else from one that happens before the new
 * access (FastTrack would have dropped it), else from the oldest, and that is counted.
 *
 * Granules are found through a hash table, and cells lie in order of appearance: a short run touches
 * few pages, and a run that begins anew clears what the last one used. */
#include "sched/cells.h"

#include <string.h>

enum {
	FIRST_CELLS = 256,
	WALK_MAX = 4096, /* granules of one range that get cells of their own */
};

/* ---- finding cells ---- */

static uint32_t home_of(const struct cells *c, uint64_t granule)
{
	return (uint32_t)(granule * 0x9e3779b97f4a7c15ull >> 32) & (c->index_room - 1);
}

static void enter(struct cells *c, uint32_t number)
{
	uint32_t h = home_of(c, c->cell[number].granule);

	while (c->index[h])
		h = (h + 1) & (c->index_room - 1);
	c->index[h] = number + 1;
}

/* Cells are moved when there are too many: refer to them by number across this. */
static bool grow(struct cells *c)
{
	struct happens *h = c->happens;
	uint32_t room = c->room ? c->room * 2 : FIRST_CELLS;
	struct cell *cell;
	uint32_t *index;

	if (room > c->most || h->full)
		return false;
	cell = h->get(h->context, room * sizeof(*cell));
	index = cell ? h->get(h->context, 4 * room * sizeof(*index)) : NULL;
	if (!index)
		return false;
	if (c->n)
		memcpy(cell, c->cell, c->n * sizeof(*cell));
	c->cell = cell;
	c->index = index;
	c->room = room;
	c->index_room = 4 * room;
	for (uint32_t i = 0; i < c->n; i++)
		if (!c->cell[i].linked)
			enter(c, i);
	return true;
}

static struct cell *find(const struct cells *c, uint64_t granule)
{
	uint32_t h;

	if (!c->index_room)
		return NULL;
	for (h = home_of(c, granule); c->index[h]; h = (h + 1) & (c->index_room - 1))
		if (c->cell[c->index[h] - 1].granule == granule)
			return &c->cell[c->index[h] - 1];
	return NULL;
}

/* A new cell; `linked`: it belongs to a chain and is not found by itself. */
static struct cell *add(struct cells *c, uint64_t granule, bool linked)
{
	struct cell *cell;

	if (c->n == c->room && !grow(c))
		return NULL;
	cell = &c->cell[c->n++];
	*cell = (struct cell){ .granule = granule, .linked = linked };
	if (!linked)
		enter(c, c->n - 1);
	return cell;
}

/* ---- one granule ---- */

static bool conflict(const struct cell_access *a, const struct cell_access *b)
{
	return a->bytes & b->bytes && (a->flags | b->flags) & CELL_WRITE &&
	       !(a->flags & b->flags & CELL_ATOMIC);
}

static bool is_same(const struct cell_access *a, const struct cell_access *b)
{
	return a->thread == b->thread && a->site == b->site && a->flags == b->flags &&
	       a->bytes == b->bytes;
}

/* How gladly is this place given up? More is better. */
static unsigned worth_dropping(const struct cells *c, const struct cell_access *a,
			       const struct happens_clock *now, uint32_t me)
{
	if (!a->time || a->time <= happens_floor(c->happens, a->thread))
		return 3;
	if (a->thread == me || a->time <= happens_clock_of(now, a->thread))
		return 2;
	return 1;
}

/* A place for a new access in the chain. The cells may move. */
static struct cell_access *room_in(struct cells *c, uint32_t number,
				   const struct happens_clock *now, uint32_t me)
{
	struct cell_access *best = NULL;
	unsigned value = 0, length = 0;
	struct cell *more;

	for (uint32_t i = number + 1; i; i = c->cell[i - 1].next, length++) {
		struct cell *cell = &c->cell[i - 1];

		for (unsigned k = 0; k < CELL_ACCESSES; k++) {
			unsigned v = worth_dropping(c, &cell->access[k], now, me);

			if (v == 3)
				return &cell->access[k];
			if (v > value || (v == value && cell->access[k].time < best->time)) {
				best = &cell->access[k];
				value = v;
			}
		}
		number = i - 1;
	}
	more = length < CELL_CHAIN ? add(c, c->cell[number].granule, true) : NULL;
	if (!more) {
		c->lost++;
		return best;
	}
	c->cell[number].next = (uint32_t)(more - c->cell) + 1;
	return &more->access[0];
}

static void touch(struct cells *c, struct cell *first, const struct cell_access *a)
{
	const struct happens_clock *now = happens_knows(c->happens, a->thread);
	struct cell_access *mine = NULL;
	uint32_t number = (uint32_t)(first - c->cell);

	for (uint32_t i = number + 1; i; i = c->cell[i - 1].next) {
		struct cell *cell = &c->cell[i - 1];

		for (unsigned k = 0; k < CELL_ACCESSES; k++) {
			struct cell_access *old = &cell->access[k];

			if (!old->time)
				continue;
			if (old->thread == a->thread) {
				if (!is_same(old, a))
					continue;
				if (old->time > happens_clock_of(now, a->thread))
					return;
				mine = old;
			} else if (conflict(old, a) &&
				   old->time > happens_clock_of(now, old->thread)) {
				c->race(c->context, cell->granule, old, a);
			}
		}
	}
	if (!mine)
		mine = room_in(c, number, now, a->thread);
	*mine = *a;
}

/* ---- ranges ---- */

/* The bytes of this granule that [address, address + size) covers. */
static uint8_t bytes_of(uint64_t granule, uint64_t address, uint64_t size)
{
	uint64_t low = granule * 8, from = address > low ? address - low : 0;
	uint64_t to = address + size - low;

	return (uint8_t)((to >= 8 ? 0xffu : (1u << to) - 1) & ~((1u << from) - 1));
}

void cells_access(struct cells *c, uint64_t address, uint64_t size, struct cell_access access)
{
	uint64_t first = address / 8, last;

	if (!size || c->happens->full)
		return;
	last = (address + size - 1) / 8;
	for (uint64_t g = first; g <= last; g++) {
		struct cell *cell = find(c, g);

		if (!cell && g - first < WALK_MAX)
			cell = add(c, g, false);
		if (!cell) {
			c->lost++;
			continue;
		}
		access.bytes = bytes_of(g, address, size);
		touch(c, cell, &access);
	}
}

static void wipe(struct cells *c, struct cell *cell)
{
	for (uint32_t i = (uint32_t)(cell - c->cell) + 1; i; i = c->cell[i - 1].next)
		memset(c->cell[i - 1].access, 0, sizeof(c->cell[i - 1].access));
}

/* Clear, or free, each granule that has a cell: through the index, or, where the range is larger than
 * all there is, through the cells. */
static void each(struct cells *c, uint64_t address, uint64_t size, const struct cell_access *free)
{
	/* no two blocks share a granule: what is behind the last byte belongs to nobody */
	uint64_t first = address / 8, end = (address + size + 7) / 8;
	bool all = end - first > c->n;
	uint32_t n = c->n;

	for (uint64_t i = all ? 0 : first; i < (all ? n : end); i++) {
		struct cell *cell = all ? &c->cell[i] : find(c, i);
		struct cell_access a;

		if (!cell || cell->linked || cell->granule < first || cell->granule >= end)
			continue;
		if (!free) {
			wipe(c, cell);
			continue;
		}
		a = *free;
		a.bytes = bytes_of(cell->granule, address, size);
		touch(c, cell, &a);
	}
}

void cells_clear(struct cells *c, uint64_t address, uint64_t size)
{
	if (size && c->n)
		each(c, address, size, NULL);
}

void cells_free(struct cells *c, uint64_t address, uint64_t size, struct cell_access access)
{
	access.flags = CELL_WRITE | CELL_FREE;
	if (size && c->n && !c->happens->full)
		each(c, address, size, &access);
}
