/* sched/cells.c - the shadow memory of race detection; cells.h says what it remembers.
 *
 * FastTrack keeps one write and one read per address, which is enough to see that an address races.
 * We want every pair of sites, because each pair gets its own verdict. So an access replaces only its
 * own predecessor: the last access of the same thread, site and kind. That loses nothing: what
 * happens after the later one happens after the earlier one.
 *
 * An access that repeats its predecessor, with no release by its thread in between, is not looked at:
 * a thread that came in between cannot have been ordered behind the first, and has been reported with it.
 *
 * A chain has at most CELL_CHAIN cells. When it is full, a place is taken from an access that
 * everybody alive knows of (it can never race again), else from one that happens before the new
 * access (FastTrack would have dropped it), else from the oldest, and that is counted. A `brief` one
 * takes the second kind as soon as there are CELL_BRIEF cells: a race of the place is still seen, but
 * perhaps with another site of the same thread.
 *
 * Memory is cut into blocks, found through a hash table, each with the cells of its granules. A copy
 * of many bytes is noted once for each block that it covers, and compared with whatever cells the
 * block has; a single access looks at its granule and at the wide accesses of its block.
 *
 * Everything lies in order of appearance: a short run touches few pages, and a run that begins anew
 * clears what the last one used. */
#include "sched/cells.h"

#include <string.h>

enum { FIRST_CELLS = 256, FIRST_BLOCKS = 16, CELL_BRIEF = 1 };

/* ---- finding blocks and cells ---- */

static void *get(struct cells *c, size_t bytes)
{
	struct happens *h = c->happens;

	return h->full ? NULL : h->get(h->context, bytes);
}

static uint32_t home_of(const struct cells *c, uint64_t number)
{
	return (uint32_t)(number * 0x9e3779b97f4a7c15ull >> 32) & (c->index_room - 1);
}

static void enter(struct cells *c, uint32_t i)
{
	uint32_t h = home_of(c, c->block[i].number);

	while (c->index[h])
		h = (h + 1) & (c->index_room - 1);
	c->index[h] = i + 1;
}

static bool grow_blocks(struct cells *c)
{
	uint32_t room = c->blocks_room ? c->blocks_room * 2 : FIRST_BLOCKS;
	struct cell_block *block = get(c, room * sizeof(*block));
	uint32_t *index = block ? get(c, 2 * room * sizeof(*index)) : NULL;

	if (!index)
		return false;
	if (c->nblocks)
		memcpy(block, c->block, c->nblocks * sizeof(*block));
	c->block = block;
	c->index = index;
	c->blocks_room = room;
	c->index_room = 2 * room;
	for (uint32_t i = 0; i < c->nblocks; i++)
		enter(c, i);
	return true;
}

/* The block with this number, NULL when there is none. Blocks may move when one is added. */
static struct cell_block *find_block(struct cells *c, uint64_t number)
{
	uint32_t *recent = &c->recent[number % CELL_RECENT], h;

	if (*recent < c->nblocks && c->block[*recent].number == number)
		return &c->block[*recent];
	if (!c->index_room)
		return NULL;
	for (h = home_of(c, number); c->index[h]; h = (h + 1) & (c->index_room - 1)) {
		if (c->block[c->index[h] - 1].number == number) {
			*recent = c->index[h] - 1;
			return &c->block[*recent];
		}
	}
	return NULL;
}

static struct cell_block *block_of(struct cells *c, uint64_t number)
{
	struct cell_block *b = find_block(c, number);

	if (b)
		return b;
	if (c->nblocks == c->blocks_room && !grow_blocks(c))
		return NULL;
	b = &c->block[c->nblocks++];
	b->number = number;
	enter(c, c->nblocks - 1);
	return b;
}

/* A new cell, 0 when there is no memory. Cells may move. */
static uint32_t add_cell(struct cells *c)
{
	if (c->n + 1 >= c->room) {
		uint32_t room = c->room ? c->room * 2 : FIRST_CELLS;
		struct cell *cell = get(c, room * sizeof(*cell));

		if (!cell)
			return 0;
		if (c->n)
			memcpy(cell, c->cell, (c->n + 1) * sizeof(*cell));
		c->cell = cell;
		c->room = room;
	}
	return ++c->n;
}

/* ---- one chain ---- */

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

/* A place for a new access in the chain that begins with this cell. Cells may move. */
static struct cell_access *room_in(struct cells *c, uint32_t number,
				   const struct happens_clock *now, uint32_t me)
{
	struct cell_access *best = NULL;
	unsigned value = 0, length = 0;
	uint32_t last = number, more;

	for (uint32_t i = number; i; last = i, i = c->cell[i].next, length++) {
		for (unsigned k = 0; k < CELL_ACCESSES; k++) {
			struct cell_access *a = &c->cell[i].access[k];
			unsigned v = worth_dropping(c, a, now, me);

			if (v == 3)
				return a;
			if (v > value || (v == value && a->time < best->time)) {
				best = a;
				value = v;
			}
		}
	}
	if (c->brief && length >= CELL_BRIEF && value == 2)
		return best;
	more = length < CELL_CHAIN ? add_cell(c) : 0;
	if (!more) {
		c->lost++;
		return best;
	}
	c->cell[last].next = more;
	return &c->cell[more].access[0];
}

static void report(struct cells *c, uint64_t address, const struct cell_access *first,
		   const struct cell_access *second)
{
	for (uint32_t i = 0; i < c->nbenign; i++)
		if (address < c->benign[i].high && address + 8 > c->benign[i].low)
			return;
	c->race(c->context, address, first, second);
}

/* Compare an access with a chain. Returns false if it repeats one that is there. *mine: its
 * predecessor, if any. */
static inline bool look(struct cells *c, uint32_t number, uint64_t address,
			const struct cell_access *a, const struct happens_clock *now,
			struct cell_access **mine)
{
	for (uint32_t i = number; i; i = c->cell[i].next) {
		for (unsigned k = 0; k < CELL_ACCESSES; k++) {
			struct cell_access *old = &c->cell[i].access[k];

			if (!old->time)
				continue;
			if (old->thread == a->thread) {
				if (!is_same(old, a))
					continue;
				if (old->time > happens_clock_of(now, a->thread))
					return false;
				*mine = old;
			} else if (conflict(old, a) &&
				   old->time > happens_clock_of(now, old->thread)) {
				report(c, address, old, a);
			}
		}
	}
	return true;
}

/* The same, and note it there. Returns false if there is nothing new. */
static bool touch(struct cells *c, uint32_t number, uint64_t address, const struct cell_access *a,
		  const struct happens_clock *now)
{
	struct cell_access *mine = NULL;

	if (!look(c, number, address, a, now, &mine))
		return false;
	if (!mine)
		mine = room_in(c, number, now, a->thread);
	*mine = *a;
	return true;
}

/* ---- granules and blocks ---- */

/* The bytes of this granule that [address, end) covers. */
static uint8_t bytes_of(uint64_t granule, uint64_t address, uint64_t end)
{
	uint64_t low = granule * 8, from = address > low ? address - low : 0, to = end - low;

	return (uint8_t)((to >= 8 ? 0xffu : (1u << to) - 1) & ~((1u << from) - 1));
}

/* `add`: also where the granule has no cell yet. */
static void touch_granule(struct cells *c, uint64_t granule, const struct cell_access *a, bool add)
{
	const struct happens_clock *now = happens_knows(c->happens, a->thread);
	uint64_t number = granule / CELL_GRANULES;
	struct cell_block *b = add ? block_of(c, number) : find_block(c, number);
	struct cell_access *ignored;
	uint32_t *cell;

	if (!b) {
		c->lost += add;
		return;
	}
	cell = &b->cell[granule % CELL_GRANULES];
	if (!*cell && add) {
		*cell = add_cell(c);
		b->ncells += *cell != 0;
		c->lost += *cell == 0;
	}
	if ((!*cell || touch(c, *cell, granule * 8, a, now)) && b->wide)
		look(c, b->wide, granule * 8, a, now, &ignored);
}

/* A whole block. */
static void touch_block(struct cells *c, uint64_t number, struct cell_access a, bool add)
{
	const struct happens_clock *now = happens_knows(c->happens, a.thread);
	struct cell_block *b = add ? block_of(c, number) : find_block(c, number);
	struct cell_access *ignored;

	if (!b) {
		c->lost += add;
		return;
	}
	a.bytes = 0xff;
	if (!b->wide)
		b->wide = add_cell(c);
	if (b->wide && !touch(c, b->wide, number * CELL_BLOCK, &a, now))
		return;
	for (uint32_t i = 0, left = b->ncells; left && i < CELL_GRANULES; i++) {
		if (!b->cell[i])
			continue;
		look(c, b->cell[i], number * CELL_BLOCK + 8 * i, &a, now, &ignored);
		left--;
	}
}

static void touch_range(struct cells *c, uint64_t address, uint64_t end, struct cell_access *a,
			bool add)
{
	while (address < end) {
		uint64_t granule = address / 8;

		if (address % CELL_BLOCK == 0 && end - address >= CELL_BLOCK) {
			touch_block(c, address / CELL_BLOCK, *a, add);
			address += CELL_BLOCK;
			continue;
		}
		a->bytes = bytes_of(granule, address, end);
		touch_granule(c, granule, a, add);
		address = granule * 8 + 8;
	}
}

void cells_access(struct cells *c, uint64_t address, uint64_t size, struct cell_access access)
{
	if (size && !c->happens->full && address + size > address)
		touch_range(c, address, address + size, &access, true);
}

/* ---- blocks of memory that come and go ---- */

static void wipe_chain(struct cells *c, uint32_t number)
{
	for (uint32_t i = number; i; i = c->cell[i].next)
		memset(c->cell[i].access, 0, sizeof(c->cell[i].access));
}

/* Forget the granules of b from first to the one before end. What is wide there was of the old
 * memory, as a whole. */
static bool wipe(struct cells *c, struct cell_block *b, uint64_t first, uint64_t end)
{
	uint64_t low = b->number * CELL_GRANULES;
	bool any = b->wide != 0;

	wipe_chain(c, b->wide);
	for (uint32_t i = 0, left = b->ncells; left && i < CELL_GRANULES; i++) {
		if (!b->cell[i])
			continue;
		left--;
		if (low + i < first || low + i >= end)
			continue;
		wipe_chain(c, b->cell[i]);
		any = true;
	}
	return any;
}

bool cells_clear(struct cells *c, uint64_t address, uint64_t size)
{
	/* no two blocks of the heap share a granule: what is behind the last byte is nobody's */
	uint64_t first = address / 8, end = (address + size + 7) / 8;
	uint64_t low = first / CELL_GRANULES, high = (end + CELL_GRANULES - 1) / CELL_GRANULES;
	bool any = false;

	for (uint32_t i = 0; i < c->nbenign; i++)
		if (c->benign[i].low >= address && c->benign[i].high <= address + size)
			c->benign[i] = c->benign[--c->nbenign];
	if (!size || !c->nblocks || end <= first)
		return false;
	if (high - low > c->nblocks) {
		for (uint32_t i = 0; i < c->nblocks; i++)
			if (c->block[i].number >= low && c->block[i].number < high)
				any |= wipe(c, &c->block[i], first, end);
		return any;
	}
	for (; low < high; low++) {
		struct cell_block *b = find_block(c, low);

		any |= b && wipe(c, b, first, end);
	}
	return any;
}

void cells_benign(struct cells *c, uint64_t address, uint64_t size)
{
	if (c->nbenign == c->benign_room) {
		uint32_t room = c->benign_room ? 2 * c->benign_room : 16;
		struct cell_benign *benign = get(c, room * sizeof(*benign));

		if (!benign)
			return;
		if (c->nbenign)
			memcpy(benign, c->benign, c->nbenign * sizeof(*benign));
		c->benign = benign;
		c->benign_room = room;
	}
	c->benign[c->nbenign++] = (struct cell_benign){ address, address + size };
}

void cells_free(struct cells *c, uint64_t address, uint64_t size, struct cell_access access)
{
	access.flags = CELL_WRITE | CELL_FREE;
	if (size && c->nblocks && !c->happens->full && address + size > address)
		touch_range(c, address, address + size, &access, false);
}
