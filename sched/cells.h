/* sched/cells.h - who touched which memory, and which two touches race.
 *
 * For each 8 bytes of memory that were touched a chain of cells remembers the last access of each
 * (thread, site, kind, bytes). A wide access that covers a whole block of memory is remembered once for
 * the block. A new access is compared with those that conflict with it: another
 * thread, common bytes, one of them writes, not both atomic. It races with each one that does not
 * happen before it (sched/happens.h). So a run gives every pair of sites that races in it, and not
 * only the first.
 *
 * Memory comes from the caller, as in happens.h. When there is no more, what is new is not noted, and
 * counted in `lost`. All zero but `happens` and `race` is an empty one. */
#ifndef SCHED_CELLS_H
#define SCHED_CELLS_H

#include "sched/happens.h"

enum cell_flags {
	CELL_WRITE = 1,
	CELL_ATOMIC = 2,
	CELL_FREE = 4, /* the block was freed: a write of all of it */
};

/* One access, as it is remembered. */
struct cell_access {
	uint32_t time; /* 0: a free place */
	uint32_t site;
	uint16_t thread;
	uint8_t bytes; /* a bit for each of the eight */
	uint8_t flags; /* enum cell_flags */
};

enum { CELL_ACCESSES = 4, CELL_CHAIN = 4 };

enum { CELL_GRANULES = 64, CELL_BLOCK = 8 * CELL_GRANULES, CELL_RECENT = 16 };

struct cell {
	struct cell_access access[CELL_ACCESSES];
	uint32_t next; /* in the chain: number, 0 the last */
	uint32_t unused[3];
};

/* CELL_BLOCK bytes of memory. */
struct cell_block {
	uint64_t number;	      /* address / CELL_BLOCK */
	uint32_t wide;		      /* accesses of all of it: number of the first cell, 0 none */
	uint32_t ncells;	      /* granules that have one */
	uint32_t cell[CELL_GRANULES]; /* the same by granule */
};

struct cells {
	struct happens *happens; /* borrowed */
	struct cell *cell;	 /* in order of appearance, from 1 */
	uint32_t n, room;
	struct cell_block *block; /* likewise, from 0 */
	uint32_t nblocks, blocks_room;
	uint32_t *index;     /* a hash table of block numbers + 1 */
	uint32_t index_room; /* power of two, 0 at first */
	uint32_t recent[CELL_RECENT];
	uint64_t lost; /* accesses that were not noted */
	bool brief;    /* rather fast than every pair of sites: see cells.c */
	struct cell_benign {
		uint64_t low, high;
	} *benign; /* memory whose races are meant */
	uint32_t nbenign, benign_room;
	/* Called for each race; `second` has just happened, `first` did before. address: of the 8
	 * bytes that both touch */
	void (*race)(void *context, uint64_t address, const struct cell_access *first,
		     const struct cell_access *second);
	void *context;
};

/* One access of `size` bytes. Its clock must know what it has acquired, and its own release, if it
 * is one, must come after. access->bytes is set here. */
void cells_access(struct cells *c, uint64_t address, uint64_t size, struct cell_access access);
/* New memory: nobody has touched it. False: nobody had. */
bool cells_clear(struct cells *c, uint64_t address, uint64_t size);
/* Races of this memory are meant, until it is new again: they are not reported. */
void cells_benign(struct cells *c, uint64_t address, uint64_t size);
/* The block is freed, which is a write of all of it. */
void cells_free(struct cells *c, uint64_t address, uint64_t size, struct cell_access access);

#endif
