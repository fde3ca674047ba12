/* order/model/build-cells.h - private to order/build*.c: which bytes are one cell of the model.
 *
 * Accesses of one width to one place share a cell. Where accesses of other widths overlap, the
 * bytes are cut at every edge any of them has, and an access is as many events as it has pieces.
 * Pieces that one thread alone touches, or nobody writes, need no events at all. */
#ifndef ORDER_MODEL_BUILD_CELLS_H
#define ORDER_MODEL_BUILD_CELLS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct byte_range {
	uint64_t address;
	uint32_t bytes;
	uint32_t thread;
	bool writes;
};

struct piece {
	uint64_t address;
	uint32_t bytes;
	uint32_t thread; /* that touched it first */
	bool shared;	 /* others did too */
	bool written;
	bool spoilt;	 /* the builder's: steps that were cut off wrote there */
	uint32_t object; /* the builder's: cell of the model */
	/* the builder's: what was last written to a piece that is not shared, from which bit on */
	uint32_t last, last_low;
};

struct pieces VEC_FIELDS(struct piece);

/* All pieces, by address. Sorts `ranges`. */
void pieces_make(struct byte_range *ranges, size_t n, struct pieces *ret);
/* The first piece of an access; the others follow it. */
struct piece *pieces_find(const struct pieces *p, uint64_t address);

#endif
